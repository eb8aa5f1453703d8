// Keeps an open status page current. It asks for a few bytes, and for the page only if these changed.

const { live, version } = document.currentScript.dataset;
const ASK_MS = 12_000;
const ASK_MAX_MS = 300_000;
/** People who open the page come first if the limit of the address is nearly used up. */
const LOW_WAIT_MS = 60_000;
const LOW = 20;
const TICK_MS = 15_000;

/** Units of relative times, in seconds. */
const UNITS = [
  ["day", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
];

if (live) keepCurrent();

function keepCurrent() {
  let shown = version;
  let latest = version;
  let tag = "";
  let failures = 0;
  let timer;
  // Earliest time of the next request, which a reader who returns does not change.
  let notBefore = 0;

  const region = document.createElement("p");
  region.className = "unseen";
  region.setAttribute("role", "status");
  document.body.append(region);
  silence(document);
  tick();
  setInterval(() => document.hidden || tick(), TICK_MS);
  plan();
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(ask, Math.max(0, notBefore - Date.now()));
  });

  function plan() {
    clearTimeout(timer);
    const jittered = ASK_MS * (0.85 + 0.3 * Math.random());
    const wait = Math.max(jittered, notBefore - Date.now());
    if (!document.hidden) timer = setTimeout(ask, wait);
  }

  async function ask() {
    try {
      const answer = await read(live, { headers: { "If-None-Match": tag }, cache: "no-store" });
      if (answer.status === 200) {
        tag = answer.headers.get("etag") ?? "";
        latest = await answer.text();
      }
      if (latest !== shown) await refresh();
      else showAsOf();
      failures = 0;
    } catch {
      // The network or the server failed.
      failures += 1;
      notBefore = Math.max(notBefore, Date.now() + Math.min(ASK_MAX_MS, ASK_MS * 2 ** failures));
    }
    plan();
  }

  /** Throws unless the answer is usable. Its headers decide when to ask again. */
  async function read(url, options) {
    const answer = await fetch(url, options);
    const left = /r=(\d+)/.exec(answer.headers.get("ratelimit"))?.[1];
    const wait = 1_000 * Number(answer.headers.get("retry-after")) || (left < LOW && LOW_WAIT_MS);
    if (wait) notBefore = Date.now() + wait + 1_000 * Math.random();
    if (!answer.ok && answer.status !== 304) throw new Error(`HTTP ${answer.status}`);
    return answer;
  }

  async function refresh() {
    const answer = await read(location.href, {
      headers: { Accept: "text/html" },
      cache: "no-cache",
    });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.querySelector("script[data-version]")?.dataset.version;
    // Another style is not allowed by the policy of this document.
    const isNewStyle = ["style", "script"].some(
      (name) => sourceOf(page, name) !== sourceOf(document, name),
    );
    if (!next || (isNewStyle && !isWrittenIn(document.body))) return location.reload();
    if (next === shown) return;
    shown = next;
    localise(page);
    silence(page);
    for (const selector of ["link[rel=icon]", "header.top", "main"]) {
      const [part, wanted] = [document, page].map((root) => root.querySelector(selector));
      if (part && wanted) morph(part, wanted);
    }
    tick();
    if (document.title !== page.title) region.textContent = document.title = page.title;
  }
}

function sourceOf(root, name) {
  const element = root.querySelector(name);
  return element && (element.getAttribute("src") ?? element.textContent);
}

/** Leaves changes to be announced by one region. */
function silence(root) {
  for (const banner of root.querySelectorAll("main [role=status]")) banner.removeAttribute("role");
}

/** Shows that the page is current as of now. */
function showAsOf() {
  const now = new Date();
  for (const time of document.querySelectorAll("main .banner time[data-clock], time[data-as-of]")) {
    time.dateTime = now.toISOString();
    time.textContent = format.format(now);
    time.removeAttribute("title");
  }
  tick();
}

/** Updates relative times. */
function tick() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const text = ago(Date.parse(time.dateTime) - Date.now());
    if (time.textContent !== text) time.textContent = text;
  }
}

/** Returns "4 min ago" or "in 3 days" for a distance in milliseconds. */
function ago(distance) {
  const seconds = Math.floor(Math.abs(distance) / 1_000);
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? [];
  if (!unit) return "just now";
  const count = Math.floor(seconds / size);
  const text = `${count} ${unit}${unit === "day" && count > 1 ? "s" : ""}`;
  return distance < 0 ? `${text} ago` : `in ${text}`;
}
