// Adds convenience to the dashboard, which works without it.

const all = (selector, root = document) => root.querySelectorAll(selector);

function enhance(root) {
  enhanceBlock(root);
  for (const input of all("[data-zone]", root)) showZones(input);
}

/** Shows the elements that need a script, and fills in what only the browser knows. */
function enhanceBlock(root) {
  for (const element of all("[data-scripted]", root)) element.hidden = false;
  for (const button of all("[data-shortcuts]", root)) nameSwitch(button);
  for (const count of all("[data-counted]", root)) showCount(count, count.dataset.counted);
  for (const element of all("[data-browser-zone]", root)) offerZone(element);
}

async function copy(button) {
  const block = button.closest("[data-code]");
  const isCopied = await copyText(block.querySelector("code"));
  const word = isCopied ? "Copied" : "Selected: press Ctrl+C";
  const shown = button.querySelector("[data-copy-label]");
  const label = (button.dataset.label ??= shown.textContent);
  block.querySelector("[role=status]").textContent = shown.textContent = word;
  setTimeout(() => (shown.textContent = label), 2_000);
}

async function copyText(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    // Pages over http:// have no clipboard, but can copy the selection.
    getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}

/** Lists the hints of the checked options. */
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

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Puts the browser's time zone into a hidden field, or shows the button that puts it into the field before it. */
function offerZone(element) {
  if (element.type === "hidden") element.value ||= browserZone;
  else {
    element.textContent = `Use ${browserZone}`;
    element.hidden = element.dataset.browserZone === browserZone;
  }
}

/** Shows a typed time in the time zones of page and browser, and in UTC. */
function showZones(input) {
  const { zone = "UTC", pageZone } = input.dataset;
  // Not every browser knows every zone.
  if (zoneTime(0, zone).length === 0) return;
  const isDay = input.type === "date";
  const shown = Date.parse(isDay ? input.value : `${input.value}Z`) + (isDay ? 86_400_000 : 0);
  const [at, second] = instantsOf(shown, zone);
  const zones = new Set([pageZone, browserZone, "UTC"].filter((each) => each && each !== zone));
  const words = [...zones].flatMap((each) => zoneTime(at, each)).join(" · ");
  const note = document.getElementById(`${input.id}-zones`);
  // A day ends once, also if the clock skips or repeats its midnight.
  if (Number.isNaN(shown) || (isDay && at === undefined)) note.textContent = "";
  else if (at === undefined) note.textContent = `The clock in ${zone} skips this time.`;
  else if (second && !isDay) note.textContent = `The clock in ${zone} shows this time twice.`;
  else note.textContent = isDay && words ? `Ends at ${words}` : words;
}

/** Returns the instants at which a clock shows a time, all in ms. The clocks of most zones change by an hour. */
function instantsOf(shown, timeZone) {
  const shownAt = (at) =>
    Date.parse(`${new Date(at).toLocaleString("sv-SE", { timeZone }).replace(" ", "T")}Z`);
  let at = shown;
  for (let step = 0; step < 2; step += 1) at += shown - shownAt(at);
  return [at - 3_600_000, at, at + 3_600_000].filter((each) => shownAt(each) === shown);
}

/** Returns an empty list for a time zone that the browser does not know. */
function zoneTime(at, timeZone) {
  try {
    return `${timeZone}: ${new Intl.DateTimeFormat("en-GB", { ...ZONED, timeZone }).format(at)}`;
  } catch {
    return [];
  }
}

/** Proposes a slug for the typed name, until a slug is typed. */
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

/** Removes a file that is too large and shows an error. */
function checkFileSize({ target }) {
  if (!target.dataset.maxBytes) return;
  const isTooLarge = target.files[0]?.size > Number(target.dataset.maxBytes);
  if (isTooLarge) target.value = "";
  target.nextElementSibling.hidden = !isTooLarge;
}

/** Disables the buttons of a sent form for ten seconds. */
function sendOnce(event) {
  // A form that opens a new tab can be used again.
  if (event.defaultPrevented || event.submitter?.formTarget === "_blank") return;
  const { elements } = event.target;
  // After the browser has read the form, since the value of a disabled button is not sent.
  setTimeout(setDisabled, 0, elements, true);
  setTimeout(setDisabled, 10_000, elements, false);
}

function setDisabled(elements, isSent) {
  for (const element of elements) if (element.type === "submit") element.disabled = isSent;
}

/** Shows the `DialogForm` of the linked page, or the page itself if there is none. */
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
  // A key opens a dialog from anywhere. Some browsers do not focus a link that is clicked.
  const { activeElement: focused, body: page } = document;
  dialog.addEventListener("close", () => {
    dialog.remove();
    (focused && focused !== page && focused.isConnected ? focused : link).focus();
  });
  document.body.append(dialog);
  enhance(dialog);
  dialog.showModal();
  // The focus is not on a button, so that a key pressed by mistake has no effect.
  (dialog.querySelector("[autofocus]") ?? dialog.querySelector("h1"))?.focus();
}

/** Returns null if the page has no `DialogForm` or redirects, such as to sign-in. */
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

/** Prefixes all ids, since the page may have fields with the same names. */
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

/** Closes open menus on Escape, and on a click outside. A dialog that a menu has opened comes first. */
function closeMenus({ key, target }) {
  if (document.querySelector("dialog[open]")) return;
  for (const menu of all(".more-menu[open]")) {
    if (key ? key !== "Escape" : menu.contains(target)) continue;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
}

/** Puts the browser's time zone into the field before a button. */
function useZone(button) {
  button.parentElement.querySelector("input").value = browserZone;
  button.hidden = true;
}

const CLICKS = {
  "button[data-browser-zone]": useZone,
  "[data-copy]": copy,
  "[data-dialog-close]": closeDialog,
  "[data-dialog]": openDialog,
};

document.addEventListener("click", (event) => {
  const { altKey, ctrlKey, metaKey, shiftKey } = event;
  if (event.defaultPrevented || altKey || ctrlKey || metaKey || shiftKey) return;
  for (const [selector, act] of Object.entries(CLICKS)) {
    const element = event.target.closest(selector);
    if (element) act(element, event);
  }
});
document.addEventListener("click", closeMenus);
document.addEventListener("keydown", closeMenus);
document.addEventListener("submit", sendOnce);
document.addEventListener("input", proposeSlug);
document.addEventListener("change", summarise);
document.addEventListener("change", checkFileSize);
document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-zone]")) showZones(target);
});

document.querySelector("[data-continues] form")?.requestSubmit();

addEventListener("pageshow", () => setDisabled(all("button"), false));

enhance(document);
summarise();
