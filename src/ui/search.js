// Keyboard shortcuts for the search, screens and the list of shortcuts, and search results while typing.

const OFF = "allclear-shortcuts-off";
/** Maximum time between the two keys of a shortcut. */
const SECOND_KEY_MS = 1_500;
/** Time without typing after which a search begins. */
const TYPED_MS = 120;

/** True if shortcuts are turned off. False in browsers without local storage. */
function isOff() {
  try {
    return localStorage.getItem(OFF) !== null;
  } catch {
    return false;
  }
}

let firstKeyAt = Number.NEGATIVE_INFINITY;
let typing;
/** Aborts the search for an earlier text. */
let searching;

/** True if a field has the focus or a dialog is open, so that shortcuts are inactive. */
function isTyping({ target }) {
  return (
    target.closest?.("input, select, textarea, [contenteditable]") ||
    document.querySelector("dialog[open]")
  );
}

document.addEventListener("keydown", (event) => {
  const { key = "", altKey, ctrlKey, metaKey, shiftKey } = event;
  if (key.toLowerCase() === "k" && (ctrlKey || metaKey) && !altKey && !shiftKey) {
    follow(event, "[data-key='/']");
    return;
  }
  if (altKey || ctrlKey || metaKey || event.isComposing || event.repeat) return;
  if (isTyping(event) || isOff()) return;
  const isSecond = Date.now() - firstKeyAt < SECOND_KEY_MS;
  firstKeyAt = Number.NEGATIVE_INFINITY;
  if (isSecond) follow(event, `[data-go="${CSS.escape(key)}"]`);
  else if (key === "g") firstKeyAt = Date.now();
  else follow(event, `[data-key="${CSS.escape(key)}"]`);
});

function follow(event, selector) {
  // A screen's own link precedes that of the sidebar.
  const link = document.querySelector(`#main ${selector}`) ?? document.querySelector(selector);
  if (!link || document.querySelector("dialog[open]")) return;
  // A key that is pressed outside a form by mistake must not lose what was typed into it.
  const main = document.querySelector("#main");
  if (!link.matches("[data-dialog]") && main && isWrittenIn(main)) return;
  event.preventDefault();
  link.click();
}

document.addEventListener("input", ({ target }) => {
  const place = target.closest("[data-search]");
  if (!place) return;
  clearTimeout(typing);
  typing = setTimeout(showFound, TYPED_MS, place, target);
});

/**
 * Shows the results for the text of a field. Resolves to false without an answer, and to undefined if the
 * text has changed meanwhile.
 */
async function showFound(place, field) {
  const { value, form } = field;
  const address = `${form.action}?${new URLSearchParams({ q: value })}`;
  searching?.abort();
  const { signal } = (searching = new AbortController());
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" }, signal });
    if (!answer.ok || answer.redirected) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector("[data-found]");
    if (!found) return false;
    if (field.value !== value || !place.isConnected) return undefined;
    addIcons(page);
    const list = place.querySelector("[data-found]");
    const focused = list.contains(document.activeElement) && document.activeElement.href;
    list.replaceChildren(...found.childNodes);
    // The element stays, since screen readers announce only changes of an element that they know.
    const [none, wanted] = [place, page].map((root) => root.querySelector("[data-found-none]"));
    none.textContent = wanted.textContent;
    if (focused) (Array.from(all("a", list)).find(({ href }) => href === focused) ?? field).focus();
    return true;
  } catch {
    // No results while typing; the button still sends the form.
    return signal.aborted ? undefined : false;
  }
}

document.addEventListener("keydown", (event) => {
  const { altKey, ctrlKey, metaKey, shiftKey } = event;
  const place = event.target.closest?.("[data-search]");
  // Enter and arrows also choose what an input method proposes.
  if (!place || event.isComposing || altKey || ctrlKey || metaKey || shiftKey) return;
  const links = [...place.querySelectorAll("[data-found] a")];
  const index = links.indexOf(event.target.closest("a"));
  if (event.key === "Enter" && index === -1 && links[0] && place.closest("dialog")) {
    event.preventDefault();
    openFirst(place);
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || (index === -1 && step < 0)) return;
  event.preventDefault();
  (links[index + step] ?? (step < 0 ? place.querySelector("input") : links[index]))?.focus();
});

/** Opens the first result for the current text. Without an answer, the form is sent. */
async function openFirst(place) {
  clearTimeout(typing);
  const field = place.querySelector("input");
  const isShown = await showFound(place, field);
  const first = isShown && place.querySelector("[data-found] a");
  if (first) first.click();
  else if (isShown !== undefined && place.isConnected) field.form.requestSubmit();
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-shortcuts]");
  if (!button) return;
  if (isOff()) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "1");
  nameSwitch(button);
});

/** Labels the button with its next effect: turning shortcuts off or on. */
function nameSwitch(button) {
  button.textContent = `Turn shortcuts ${isOff() ? "on" : "off"} in this browser`;
}
