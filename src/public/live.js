// Keeps an open status page current. Requests its version, and the page only if the version has changed.

const { live, version } = document.currentScript.dataset;
const ASK_MS = 12_000;
const ASK_MAX_MS = 300_000;
/** Minimum time between two requests, also of a tab that is hidden and shown again. */
const PAUSE_MS = 10_000;
const TIMEOUT_MS = 10_000;
/** Number of requests left to the address below which tabs wait for the refill, so that people can still open the page. */
const LOW = 20;
const TICK_MS = 15_000;
/** Number of open groups up to which their days are requested, since a filter can open all of them. */
const DRAWN_AT_ONCE = 5;

if (live) keepCurrent();

function keepCurrent() {
  let shown = version;
  let latest = version;
  let tag = "";
  let failures = 0;
  let isAsking = false;
  let timer;
  // Earliest time of the next request, also for a tab that is shown again.
  let notBefore = 0;
  /** Ends when the days of all groups that were to be drawn are there. */
  let drawing = Promise.resolve();

  const region = document.createElement("p");
  region.className = "unseen";
  region.setAttribute("role", "status");
  document.body.append(region);
  tick();
  setInterval(() => document.hidden || tick(), TICK_MS);
  plan(ASK_MS);
  document.addEventListener("visibilitychange", () => plan(0));
  addEventListener("pageshow", ({ persisted }) => persisted && plan(0));
  document.addEventListener("toggle", drawOpened, true);
  document.addEventListener("input", drawOpened);

  /** Plans the next request in `ms`, or later if `notBefore` is later. */
  function plan(ms) {
    clearTimeout(timer);
    if (document.hidden || isAsking) return;
    const jittered = ms * (0.85 + 0.3 * Math.random());
    timer = setTimeout(ask, Math.max(jittered, notBefore - Date.now()));
  }

  async function ask() {
    isAsking = true;
    notBefore = Date.now() + PAUSE_MS;
    try {
      const answer = await read(live, { headers: { "If-None-Match": tag }, cache: "no-store" });
      if (answer.status === 200) {
        tag = answer.headers.get("etag") ?? "";
        latest = versionIn(await answer.text());
      }
      if (latest !== shown) await refresh();
      else showAsOf();
      failures = 0;
    } catch {
      // The network or the server failed.
      failures += 1;
      notBefore = Math.max(notBefore, Date.now() + Math.min(ASK_MAX_MS, ASK_MS * 2 ** failures));
    }
    isAsking = false;
    tick();
    plan(ASK_MS);
  }

  /** Sends a request. Its headers may delay the next one. Throws unless the answer is usable. */
  async function read(url, options) {
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const [, left, refill] = /r=(\d+);t=(\d+)/.exec(answer.headers.get("ratelimit")) ?? [];
    const seconds = Number(answer.headers.get("retry-after")) || (left < LOW && Number(refill));
    if (seconds) notBefore = Math.max(notBefore, Date.now() + 1_000 * (seconds + Math.random()));
    // The visit of a private page has ended: the screen must not go on showing it. A 404 of a proxy lacks the header.
    if (
      answer.status === 404 &&
      answer.headers.has("x-robots-tag") &&
      document.querySelector("[content=noindex]")
    ) {
      location.reload();
    }
    if (!answer.ok && answer.status !== 304) throw new Error(`HTTP ${answer.status}`);
    return answer;
  }

  async function readPage(url) {
    const answer = await read(url, { headers: { Accept: "text/html" }, cache: "no-cache" });
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  async function refresh() {
    const page = await readPage(location.href);
    const next = versionIn(page.querySelector("script[data-version]")?.dataset.version);
    if (next === shown) return;
    // The policy of this document forbids another style sheet, and its script formats in one language.
    if (looksOf(page) !== looksOf(document)) return location.reload();
    await draw(openGroups().filter(isDrawn), page);
    filterRows(page);
    shown = next;
    localise(page);
    const before = stateOf(document);
    for (const selector of ["link[rel=icon]", "header.top", "main"]) {
      const [part, wanted] = [document, page].map((root) => root.querySelector(selector));
      if (part && wanted) morph(part, wanted);
    }
    document.title = page.title;
    const state = stateOf(document);
    if (state !== before) region.textContent = state;
  }

  /** Draws the days of groups that the reader or the filter has opened. */
  function drawOpened() {
    const groups = openGroups().filter((group) => !isDrawn(group));
    if (groups.length > DRAWN_AT_ONCE) return;
    // Without an answer the link to the days stays.
    drawing = draw(groups, document).catch(() => {});
  }

  /** Draws the days of groups in a document, from the pages of the groups, one after another. */
  async function draw(groups, root) {
    await drawing;
    for (const { id } of groups) {
      const group = root.getElementById(id);
      const link = group && linkToDays(group);
      if (!link) continue;
      const days = (await readPage(link.href)).querySelector("main [data-days]");
      group.querySelector("ul").replaceWith(days.querySelector("ul"));
      link.parentElement.replaceWith(days.querySelector(".axis"));
      filterRows(root);
    }
  }

  /** Updates relative times and the note about refreshing. */
  function tick() {
    for (const time of document.querySelectorAll("time[data-age]")) {
      const at = new Date(time.dateTime);
      setText(time, format.format(at) + words.comma + ageOf(Date.now() - at));
    }
    for (const note of document.querySelectorAll("[data-live-note]")) {
      setText(note, `· ${failures > 0 ? words.failing : words.live}`);
    }
  }
}

const openGroups = () => [...document.querySelectorAll(".groups > [open]:not([hidden])")];
const linkToDays = (group) => group.querySelector(".axis > a");
const isDrawn = (group) => !linkToDays(group);

/** Returns a version. Throws for other text, such as the sign-in page of a network. */
function versionIn(text) {
  if (!/^[0-9a-f]{16}$/.test(text)) throw new Error("no version");
  return text;
}

/** Returns everything that a new document must share with the open one. */
function looksOf(root) {
  const { lang, dataset } = root.documentElement;
  const [style, script] = ["style", "script"].map((name) => root.querySelector(name));
  return [lang, dataset.theme, style?.textContent, script?.getAttribute("src")].join();
}

/** Returns the sentences that screen readers announce when they change. */
function stateOf(root) {
  const sentences = root.querySelectorAll("#banner h1, #banner p, .title h1, .title .state");
  return [...sentences].map(({ textContent }) => textContent).join(". ");
}

/** Shows the current time as the time of the page. */
function showAsOf() {
  const now = new Date();
  for (const time of document.querySelectorAll("#banner time")) {
    time.dateTime = now.toISOString();
    time.textContent = format.format(now);
    time.removeAttribute("title");
  }
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
