// Makes parts of a page equal to newer ones. Elements that are the same stay in place.

/** Elements that keep their content, since a reader may have changed it. */
const KEPT = "form, dialog";
const FIELD = "input:not([type=hidden]), select, textarea";
/** Elements, the first of which identifies its row, card or group. Scripts add links to notes of days. */
const NAMING = "h2, h3, h4, a[href]:not([data-day-note] *), strong, th, td";

/** Elements whose ground fades once when their text changes. */
const VALUES = ".state, .chip, .n, .tab-count, .number-value";
const FADE_MS = 1_200;
/** States of details as the server sent them last: true for open ones. */
const served = new WeakMap();
for (const details of document.querySelectorAll("details")) served.set(details, details.open);

/** Makes an element equal to another one. Focus, open details, forms and dialogs stay. */
globalThis.morph = (element, wanted) => {
  const focused = document.activeElement;
  morphElement(element, wanted);
  if (focused?.isConnected && focused !== document.activeElement) {
    focused.focus({ preventScroll: true });
  }
  document.dispatchEvent(new Event("morphed"));
};

/** True for a node with a field that has the focus or was changed. */
globalThis.isWrittenIn = (node) => {
  if (node.nodeType !== Node.ELEMENT_NODE) return false;
  const active = document.activeElement;
  if (active?.matches(FIELD) && node.contains(active)) return true;
  return [...node.querySelectorAll(FIELD)].some(isChanged);
};

function isChanged({ type, checked, defaultChecked, value, defaultValue, options, selectedIndex }) {
  if (type === "checkbox" || type === "radio") return checked !== defaultChecked;
  if (!options) return value !== defaultValue;
  const initial = [...options].findIndex(({ defaultSelected }) => defaultSelected);
  return selectedIndex !== Math.max(0, initial);
}

/** Opens details that the server sends open from now on, such as a group with an outage. */
function openDetails(details, { open }) {
  if (open && !(served.get(details) ?? details.open)) details.open = true;
  served.set(details, open);
}

function fade(element) {
  const value = element.closest(VALUES);
  if (!value || element.closest("time")) return;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  value.animate([{ backgroundColor: "var(--soft, var(--accent-soft))" }, {}], FADE_MS);
}

function morphElement(element, wanted) {
  if (element.nodeName === "DETAILS") openDetails(element, wanted);
  if (element.matches(KEPT) || element.isEqualNode(wanted)) return;
  if (element.matches("[data-day-note][data-usual]")) {
    // It describes the selected day for now.
    element.dataset.usual = wanted.textContent;
    return;
  }
  const names = new Set([...element.getAttributeNames(), ...wanted.getAttributeNames()]);
  // Readers open details, and arrow keys move the tab stop of a chart.
  names.delete("open");
  if (element.matches("[data-day]")) names.delete("tabindex");
  for (const name of names) {
    const value = wanted.getAttribute(name);
    if (value === null) element.removeAttribute(name);
    else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
  morphChildren(element, wanted);
}

function morphChildren(element, wanted) {
  const goals = [...wanted.childNodes];
  const nodes = [...element.childNodes];
  const pairs = pair(nodes, goals);
  const used = new Set(pairs.values());
  for (const node of nodes) if (!used.has(node) && !isWrittenIn(node)) node.remove();
  let next = element.firstChild;
  for (const goal of goals) {
    const own = pairs.get(goal);
    if (!own) element.insertBefore(document.importNode(goal, true), next);
    else if (own === next) next = own.nextSibling;
    else element.insertBefore(own, next);
    if (own?.nodeType === Node.ELEMENT_NODE) morphElement(own, goal);
    else if (own && own.nodeValue !== goal.nodeValue) {
      own.nodeValue = goal.nodeValue;
      fade(element);
    }
  }
}

/** Returns the node for each goal: the one with the same key, else a node that can be changed into it. */
function pair(nodes, goals) {
  const pairs = new Map();
  const free = Map.groupBy(nodes, keyOf);
  const take = (goal, key) => {
    const node = free.get(key)?.shift();
    if (node) pairs.set(goal, node);
  };
  for (const goal of goals) take(goal, keyOf(goal));
  const rest = [...free.values()].flat().filter((node) => !hasOwnForm(node));
  for (const goal of goals) {
    if (pairs.has(goal) || hasOwnForm(goal)) continue;
    const index = rest.findIndex((node) => node.nodeName === goal.nodeName);
    if (index >= 0) pairs.set(goal, ...rest.splice(index, 1));
  }
  return pairs;
}

/** True for a node that must not be changed into another one, since its form or fields act on its object. */
function hasOwnForm(node) {
  return node.id || node.matches?.(KEPT) || node.querySelector?.(`${KEPT}, ${FIELD}`);
}

function keyOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
  const naming = node.querySelector(NAMING);
  const name =
    node.id ||
    node.getAttribute("action") ||
    naming?.getAttribute("href") ||
    naming?.textContent ||
    "";
  return `${node.nodeName} ${name}`;
}
