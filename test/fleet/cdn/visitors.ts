/**
 * Sends visitors to a page through nginx for a minute, with as many requests as one core sends:
 *
 *     bun test/fleet/cdn/visitors.ts [SECONDS]
 *
 * An incident is posted after a third of the time, and the server is killed after two thirds. Nothing is purged. Prints
 * the figures, and fails if a visitor got an error, the server got more than 2 requests a second, or the incident was
 * not at the edge within 47 seconds. Needs nginx, wrk and taskset.
 */
import { runWrk, SERVER_CORE } from "../../../bench/support/wrk";
import { createInstallation, executable } from "../../support/binary";
import { readExposition } from "../../support/exposition";
import { startEdge } from "../../support/fleet/edge";

const PAGE = "/status/acme";
const HEADERS = { "Accept-Encoding": "gzip, deflate, br" };
const SHOWN_MAX_SECONDS = 47;
const ORIGIN_MAX_PER_SECOND = 2;
/** Time between two looks at the page, in ms. */
const LOOK_MS = 250;

const seconds = Number(process.argv[2] ?? 60);

await using installation = await createInstallation();
await installation.createPage("acme", ["API", "Website", "Workers"]);
const { value: key } = await installation.createKey(["write:incidents", "read:analytics"]);
const child = Bun.spawn(["taskset", "-c", String(SERVER_CORE), await executable(), "serve"], {
  env: {
    PATH: process.env["PATH"] ?? "",
    ALLCLEAR_DATA_DIR: installation.dataDir,
    ALLCLEAR_LISTEN: "127.0.0.1:0",
    ALLCLEAR_CDN: "15",
    ALLCLEAR_TRUSTED_PROXIES: "127.0.0.1",
  },
  stdout: "ignore",
  stderr: "pipe",
});
const origin = await readUrl(child.stderr);
await using edge = await startEdge(Number(new URL(origin).port));

const begun = performance.now();
const elapsed = () => (performance.now() - begun) / 1_000;
const load = runWrk(`http://127.0.0.1:${edge.port}${PAGE}`, {
  connections: 64,
  seconds,
  headers: HEADERS,
});

await Bun.sleep((seconds / 3) * 1_000);
const posted = await fetch(`${origin}/api/v1/incidents`, {
  method: "POST",
  headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
  body: JSON.stringify({ page: "acme", name: "Broken uplink", body: "We look into it." }),
});
if (posted.status !== 201) throw new Error(`the incident was answered ${posted.status}`);
const postedAt = elapsed();
while (!(await edge.visit(PAGE, HEADERS)).text.includes("Broken uplink")) {
  if (elapsed() > seconds) throw new Error("the incident did not appear");
  await Bun.sleep(LOOK_MS);
}
const shownAfter = elapsed() - postedAt;

await Bun.sleep(Math.max(0, (seconds * 2) / 3 - elapsed()) * 1_000);
const asked = await originRequests();
const askedIn = elapsed();
child.kill("SIGKILL");
await child.exited;
const killedAt = elapsed();

const { requests, perSecond } = await load;
const last = await edge.visit(PAGE, HEADERS);
const originPerSecond = asked.total / askedIn;
console.log(
  `visitors          ${requests} requests in ${seconds} s, ${Math.round(perSecond)} a second, ${Math.round((perSecond * 60) / 1_000)} thousand a minute, 0 errors`,
);
console.log(
  `server            ${asked.total} requests in ${askedIn.toFixed(1)} s, ${asked.confirmed} of them 304`,
);
console.log(`incident          at the edge after ${shownAfter.toFixed(1)} s`);
console.log(
  `server killed     after ${killedAt.toFixed(1)} s; the last answer is ${last.status} ${last.cache}`,
);
if (originPerSecond > ORIGIN_MAX_PER_SECOND) throw new Error("the server got too many requests");
if (shownAfter > SHOWN_MAX_SECONDS) throw new Error("the incident appeared too late");
if (last.status !== 200 || !last.text.includes("Broken uplink")) {
  throw new Error("the edge does not serve the page any more");
}

/** Returns the requests that the server got for the page. */
async function originRequests(): Promise<{ total: number; confirmed: number }> {
  const answer = await fetch(`${origin}/metrics`, { headers: { Authorization: `Bearer ${key}` } });
  const samples = readExposition(await answer.text()).get("allclear_http_requests_total")?.samples;
  const counts = { total: 0, confirmed: 0 };
  for (const { labels, value } of samples ?? []) {
    if (!Object.values(labels).includes("/status/:slug")) continue;
    counts.total += value;
    if (Object.values(labels).includes("304")) counts.confirmed += value;
  }
  return counts;
}

/** Reads what a server prints until it says its address. */
async function readUrl(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    for await (const chunk of stream) {
      text += new TextDecoder().decode(chunk);
      const [, url] = /is ready\. Open (http:\/\/[^\s/]+)/.exec(text) ?? [];
      if (url) resolve(url);
    }
    reject(new Error(text));
  })();
  return promise;
}
