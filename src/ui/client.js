// What a script adds to the dashboard's pages. Each of them works without it.

const all = (selector, root = document) => root.querySelectorAll(selector);
const number = (value) => value.toLocaleString("en");

/** Shows what only a script can work, and tells times as this computer's owner knows them. */
function enhance(root) {
  for (const element of all("[data-scripted]", root)) element.hidden = false;
  for (const time of all("time[datetime]", root)) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const local = at.toLocaleString(undefined, { dateStyle: "long", timeStyle: "long" });
    time.title = time.title ? `${local}\n${time.title}` : local;
  }
  for (const input of all("[data-zone]", root)) tellZones(input);
}

async function copy(button) {
  const block = button.closest("[data-code]");
  const isCopied = await copyText(block.querySelector("code"));
  const word = isCopied ? "Copied" : "Selected: press Ctrl+C";
  const label = (button.dataset.label ??= button.textContent);
  block.querySelector("[role=status]").textContent = button.textContent = word;
  setTimeout(() => (button.textContent = label), 2_000);
}

async function copyText(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    // Plain http:// has no clipboard, but can still copy what is selected.
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}

async function testKey(button) {
  const output = button.parentElement.querySelector("[role=status]");
  const value = document.querySelector("[data-secret=value]")?.textContent;
  button.disabled = true;
  output.textContent = "Testing…";
  output.className = "muted";
  try {
    const headers = { authorization: `Bearer ${value}` };
    const answer = await fetch("/api/v1/key", { headers, credentials: "omit" });
    const body = await answer.json();
    output.className = answer.ok ? "tone-success" : "tone-danger";
    output.textContent = answer.ok
      ? `Works: ${number(body.rate_limit)} requests a minute, ${number(body.remaining)} left`
      : (body.detail ?? body.title);
  } catch {
    output.className = "tone-danger";
    output.textContent = "The server could not be reached. Try again in a moment.";
  }
  button.disabled = false;
}

function applyPreset(link, event) {
  const form = link.closest("form") ?? document.querySelector("main form[method=post]");
  if (!form) return;
  event.preventDefault();
  const values = JSON.parse(link.dataset.preset);
  for (const field of form.elements) {
    if (!Object.hasOwn(values, field.name)) continue;
    const wanted = [values[field.name]].flat();
    if (field.type === "checkbox" || field.type === "radio") {
      field.checked = wanted.includes(field.value);
    } else if (!isWritten(field)) {
      field.value = wanted[0] ?? "";
    }
  }
  for (const other of all("[data-preset]")) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Whether somebody wrote what stands in it: a preset replaces another's text, and nobody's own. */
function isWritten({ type, name, value }) {
  if (type !== "textarea" || value.trim() === "") return false;
  return ![...all("[data-preset]")].some(
    ({ dataset }) => JSON.parse(dataset.preset)[name] === value,
  );
}

/** Lists the hints of the boxes that are checked. */
function summarise() {
  for (const list of all("[data-summary]")) {
    const boxes = [...all("input:checked")].filter(({ name }) => name === list.dataset.summary);
    const lines = boxes.map(
      ({ id, value }) => document.getElementById(`${id}-hint`)?.textContent ?? value,
    );
    if (lines.length === 0) lines.push(list.dataset.empty);
    list.replaceChildren();
    for (const line of lines) {
      list.append(document.createElement("li"));
      list.lastChild.textContent = line;
    }
  }
}

const ZONED = {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
};

/** Tells a moment that is typed in UTC by other clocks: the page's, and this computer's. */
function tellZones(input) {
  const note = document.getElementById(`${input.id}-zones`);
  const at = new Date(`${input.value}Z`);
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = new Set([input.dataset.zone, own === "UTC" ? "" : own].filter(Boolean));
  note.textContent = Number.isNaN(at.getTime())
    ? ""
    : [...zones].flatMap((zone) => zoneTime(at, zone)).join(" · ");
}

/** Nothing for a zone that this browser does not know. */
function zoneTime(at, timeZone) {
  try {
    return `${timeZone}: ${new Intl.DateTimeFormat("en-GB", { ...ZONED, timeZone }).format(at)}`;
  } catch {
    return [];
  }
}

/** Proposes a slug for what is typed as the name, until a slug is typed. */
function proposeSlug({ target }) {
  const slug = target.form?.querySelector("[data-slug-of]");
  if (target === slug) slug.dataset.typed = slug.value;
  if (target.name !== slug?.dataset.slugOf || (slug.dataset.typed ?? slug.defaultValue)) return;
  const plain = target.value.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "");
  slug.value = plain
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/^-+|-+$/g, "");
}

/** Takes a file back that is larger than the server would take, and says so. */
function weigh({ target }) {
  if (!target.dataset.maxBytes) return;
  const isTooLarge = target.files[0]?.size > Number(target.dataset.maxBytes);
  if (isTooLarge) target.value = "";
  target.nextElementSibling.hidden = !isTooLarge;
}

function sendOnce(event) {
  // What opens another tab leaves this page to go on with.
  if (event.defaultPrevented || event.submitter?.formTarget === "_blank") return;
  const { elements } = event.target;
  // Once the form has been read: a disabled button's value is not sent.
  setTimeout(setDisabled, 0, elements, true);
  // A server that never answered must not take the button away for good.
  setTimeout(setDisabled, 10_000, elements, false);
}

function setDisabled(elements, isSent) {
  for (const element of elements) if (element.type === "submit") element.disabled = isSent;
}

async function openDialog(link, event) {
  event.preventDefault();
  if (link.ariaBusy) return;
  link.ariaBusy = "true";
  const body = await fetchDialogBody(link.href);
  link.ariaBusy = null;
  if (!body) {
    location.assign(link.href);
    return;
  }
  for (const form of all("form:not([action])", body)) form.action = link.href;
  renameIds(body);
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", body.querySelector("h1").id);
  dialog.append(document.adoptNode(body), closeButton());
  dialog.addEventListener("close", () => {
    dialog.remove();
    link.focus();
  });
  document.body.append(dialog);
  enhance(dialog);
  dialog.showModal();
  // The heading rather than a button: nothing is done by a key that was meant for something else.
  (dialog.querySelector("[autofocus]") ?? dialog.querySelector("h1"))?.focus();
}

/** Nothing where the page has no such part, or another page came: then it is shown as a page. */
async function fetchDialogBody(url) {
  try {
    const answer = await fetch(url, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) return null;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return page.querySelector("[data-dialog-body]");
  } catch {
    return null;
  }
}

/** What lies over a page has ids that the page does not have: its fields may be called the same. */
function renameIds(body) {
  for (const element of all("*", body)) {
    for (const name of ["id", "for", "aria-describedby"]) {
      const ids = element.getAttribute(name);
      if (ids) element.setAttribute(name, ids.replace(/[^ ]+/g, "dialog-$&"));
    }
  }
}

function closeButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "dialog-close";
  button.dataset.dialogClose = "";
  button.ariaLabel = "Close";
  button.textContent = "×";
  return button;
}

function closeDialog(element, event) {
  const dialog = element.closest("dialog");
  if (!dialog) return;
  event.preventDefault();
  dialog.close();
}

function walkDays(event) {
  const day = event.target.closest?.("[data-day]");
  const days = day ? [...all("[data-day]", day.parentElement)] : [];
  const index = days.indexOf(day);
  const keys = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: days.length - 1 };
  const next = days[keys[event.key]];
  if (!next) return;
  event.preventDefault();
  day.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** Says below the bars what the day in question was like. */
function tellDay(event) {
  const bars = event.target.closest?.(".day-bars");
  const note = bars?.querySelector("[data-day-note]");
  if (!note) return;
  const usual = (note.dataset.usual ??= note.textContent);
  const day = /over|in$/.test(event.type) && event.target.closest("[data-day]");
  note.textContent = day ? day.querySelector("title").textContent : usual;
}

const CLICKS = {
  "[data-copy]": copy,
  "[data-test-key]": testKey,
  "[data-dialog-close]": closeDialog,
  "[data-dialog]": openDialog,
  "[data-preset]": applyPreset,
};

document.addEventListener("click", (event) => {
  const { altKey, ctrlKey, metaKey, shiftKey } = event;
  if (event.defaultPrevented || altKey || ctrlKey || metaKey || shiftKey) return;
  for (const [selector, act] of Object.entries(CLICKS)) {
    const element = event.target.closest(selector);
    if (element) act(element, event);
  }
});
document.addEventListener("submit", sendOnce);
document.addEventListener("input", proposeSlug);
document.addEventListener("change", summarise);
document.addEventListener("change", weigh);
document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-zone]")) tellZones(target);
});
document.addEventListener("keydown", walkDays);
for (const type of ["pointerover", "pointerout", "focusin", "focusout"]) {
  document.addEventListener(type, tellDay);
}

// A secret is on the page once: leaving takes it away, and coming back asks the server again.
addEventListener("pagehide", () => {
  for (const secret of all("[data-secret]")) secret.textContent = "";
});
addEventListener("pageshow", ({ persisted }) => {
  setDisabled(all("button"), false);
  if (persisted && document.querySelector("[data-secret]")) {
    // Not reload(), which would send the form again whose answer this page is.
    location.replace(location.pathname + location.search);
  }
});

enhance(document);
summarise();
