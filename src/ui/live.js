// Keeps the open screen current: requests it every three seconds and replaces the blocks that differ.

const ASK_MS = 3_000;
const ASK_MAX_MS = 30_000;
const TICK_MS = 1_000;
/** Time after which a request without an answer is aborted. */
const ANSWER_MS = 10_000;
/** Time without an answer after which the connection counts as lost. */
const LOST_MS = 15_000;
/** Parts of the content that are blocks without an id. */
const PARTS = "#main > :not(.columns), .columns > :not(.columns-main), .columns-main > *";
/** Elements that are never a block, since other scripts or a person change them. */
const NO_BLOCK = "form, dialog, .flash, .order, [data-live], [data-live] *";

/** Elements that a person fills in: a block with one of them is never removed. */
const FIELDS = "input:not([type=hidden]), select, textarea, dialog";

for (const sign of all("[data-live-path]")) keepCurrent(sign);

function keepCurrent(element) {
  const path = element.dataset.livePath;
  const sign = createLiveSign(element, () => update(true));
  let tag = "";
  // Time of the last good answer.
  let goodAt = Date.now();
  // Server time minus the time of the reader's clock, in ms.
  let offset = offsetOf(document);
  // Earliest time of the next request.
  let notBefore = 0;
  let failures = 0;
  // Aborts the open request; undefined without one.
  let asking;
  let hasEnded = false;
  // Blocks of the last answer by key.
  let wanted = new Map();
  // Number of changes that are not shown yet, since a person uses their blocks.
  let waiting = 0;

  const ticking = setInterval(tick, TICK_MS);
  document.addEventListener("visibilitychange", tick);
  notBefore = Date.now() + ASK_MS;
  sign.speak(stateOf());
  showState();

  function tick() {
    if (document.hidden || hasEnded) return;
    if (waiting > 0) update(false);
    sign.speak(stateOf());
    sign.showClock(Date.now() + offset);
    showState();
    if (!asking && Date.now() >= notBefore) ask();
  }

  async function ask() {
    asking = new AbortController();
    const { signal } = asking;
    const timer = setTimeout(() => asking?.abort(), ANSWER_MS);
    try {
      const headers = { "Allclear-Live": "1", "If-None-Match": tag };
      await read(await fetch(path, { headers, cache: "no-store", redirect: "manual", signal }));
    } catch {
      fail(undefined);
    }
    clearTimeout(timer);
    asking = undefined;
  }

  function read(answer) {
    if (answer.status === 401) {
      return end("Signed out", "Sign in", `/admin/sign-in?next=${encodeURIComponent(path)}`);
    }
    if (answer.status === 429 || answer.status >= 500) return fail(answer);
    if (answer.status !== 200 && answer.status !== 304) return end("Not updated", "Reload", path);
    return succeed(answer);
  }

  async function succeed(answer) {
    const isNew = answer.status === 200;
    const text = isNew ? await answer.text() : "";
    goodAt = Date.now();
    failures = 0;
    notBefore = goodAt + ASK_MS;
    if (isNew) {
      const page = new DOMParser().parseFromString(text, "text/html");
      // The server was updated: its new content needs its new scripts and styles.
      if (filesOf(page).some((file) => !filesOf(document).includes(file))) {
        return end("New version", "Reload", path);
      }
      // Forms and axes stay in the zone in which the screen was opened.
      if (zoneOf(page) !== zoneOf(document)) return end("New time zone", "Reload", path);
      tag = answer.headers.get("etag") ?? "";
      wanted = blocksOf(page);
      for (const block of wanted.values()) enhanceBlock(block);
      offset = offsetOf(page);
      addIcons(page);
      update(false);
    }
    showState();
  }

  /** Delays the next request by the server's `Retry-After`, else longer after each failure. */
  function fail(answer) {
    failures += 1;
    const retryAfterMs = 1_000 * Number(answer?.headers.get("retry-after"));
    notBefore = Date.now() + (retryAfterMs || Math.min(ASK_MAX_MS, ASK_MS * 2 ** (failures - 1)));
  }

  function end(...words) {
    hasEnded = true;
    clearInterval(ticking);
    sign.end(...words);
  }

  function showState() {
    const seconds = Math.round((Date.now() - goodAt) / 1_000);
    if (hasEnded) return;
    if (seconds * 1_000 >= LOST_MS && failures > 0) {
      const at = sign.clockAt(goodAt + offset);
      sign.show("Connection lost, trying again", `last updated ${at}`, true);
    } else if (isWrittenIn(document.querySelector("#main"))) {
      sign.show("Paused while you write", "", true);
    } else {
      sign.show("Live", `updated ${seconds} s ago`, false);
    }
    sign.offer(waiting);
  }

  /** Changes the blocks that differ. Blocks that a person uses change only if the person asked for it. */
  function update(isAsked) {
    const shown = blocksOf(document);
    waiting = 0;
    for (const [key, block] of wanted) {
      const own = shown.get(key);
      if (!own) insert(block, shown);
      else if (isAsked || !isUsed(own, block)) morph(own, block);
      else if (!contentOf(own).isEqualNode(contentOf(block))) waiting += 1;
    }
    for (const [key, own] of shown) {
      if (wanted.has(key) || own.querySelector(FIELDS)) continue;
      if (isAsked || !isUsed(own)) own.remove();
      else waiting += 1;
    }
    sign.speak(stateOf());
    showState();
  }

  /** Inserts a new block, or if it has no neighbour that is shown, all that is new around it. */
  function insert(block, shown) {
    const keys = new Map(Array.from(wanted, ([key, element]) => [element, key]));
    if (insertNear(block, shown, keys)) return;
    const around = block.closest("#main > *");
    const isNew = () =>
      !Array.from(all("#main > *")).some(({ className }) => className === around.className);
    if (around && isNew()) insertNear(around, shown, keys);
  }
}

/** Inserts a part next to a neighbour that is shown. Returns false without one. `keys` are those of blocks. */
function insertNear(part, shown, keys) {
  const find = (step) => {
    for (let near = part[step]; near; near = near[step]) {
      const own = shown.get(keys.get(near));
      if (own?.isConnected) return own;
    }
    return undefined;
  };
  const copy = document.importNode(part, true);
  const previous = find("previousElementSibling");
  if (previous) previous.after(copy);
  else find("nextElementSibling")?.before(copy);
  if (copy.isConnected) shown.set(keys.get(part), copy);
  return copy.isConnected;
}

function offsetOf(page) {
  const [time] = all(".bar-time time", page);
  return time ? Date.parse(time.dateTime) - Date.now() : 0;
}

/** Returns the time zone of a page's times. */
function zoneOf(page) {
  return all(".bar-time time", page)[0]?.dataset.timeZone;
}

/** Returns the blocks with an id, and the parts of the content that have none, by key. */
function blocksOf(root) {
  const blocks = new Map();
  for (const block of all("[data-live][id]", root)) {
    // A form keeps its content, so a block inside it is refreshed by itself.
    const around = block.parentElement.closest("form, [data-live]");
    if (!around?.matches("[data-live]")) blocks.set(block.id, block);
  }
  const counts = {};
  for (const part of all(PARTS, root)) {
    if (part.matches(NO_BLOCK) || part.querySelector(".order, [data-live], [data-summary]"))
      continue;
    const kind = `${part.nodeName} ${part.className}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
    blocks.set(`${kind} ${counts[kind]}`, part);
  }
  return blocks;
}

/**
 * True for a block that must not change now: a person writes or selects in it, points at rows that would
 * move, or has the focus on an element that would vanish. `block` is undefined if `own` is to be removed.
 */
function isUsed(own, block) {
  const selection = getSelection();
  if (isWrittenIn(own) || (!selection.isCollapsed && selection.containsNode(own, true)))
    return true;
  if (own.matches(":hover") && (!block || rowsOf(own) !== rowsOf(block))) return true;
  const focused = document.activeElement;
  if (!own.contains(focused) || focused.closest("form, dialog")) return false;
  return !block || !Array.from(all(focused.localName, block)).some((one) => isSame(one, focused));
}

/** True for elements with the same address and id or, without these, the same text. */
function isSame(one, other) {
  if (one.href || one.id) return one.href === other.href && one.id === other.id;
  return one.textContent === other.textContent;
}

/** Returns the addresses of a page's own scripts and styles. */
function filesOf(page) {
  return Array.from(all("script[src], link[rel=stylesheet]", page), ({ src, href }) => src ?? href);
}

/** Returns the links of rows in their order. */
function rowsOf(block) {
  return Array.from(all("tbody a[href], li a[href]", block), ({ href }) => href).join(" ");
}

/** Returns a copy of a block for comparison: without forms, dialogs and times, and with closed details. */
function contentOf(block) {
  const copy = block.cloneNode(true);
  for (const part of all("form, dialog, time", copy)) part.remove();
  for (const details of all("details", copy)) details.open = false;
  return copy;
}

/** Adds the icons that the open screen does not have yet. */
function addIcons(page) {
  const sprite = document.querySelector(".sprite");
  for (const symbol of all(".sprite symbol", page)) {
    if (sprite && !document.getElementById(symbol.id))
      sprite.append(document.importNode(symbol, true));
  }
}

/** Returns the texts of the sidebar: headlines by page, and counts by screen. */
function stateOf() {
  const state = new Map();
  for (const page of all("#side-page > span:not(.visually-hidden)")) {
    const [name, headline] = all("b, small", page);
    if (headline) state.set(name.textContent, headline.textContent);
  }
  for (const count of all("#menu-links .n")) {
    state.set(count.parentElement.querySelector("span").textContent, count.textContent);
  }
  return state;
}
