/**
 * Target of monitors in a measurement: a server that answers every path with a few bytes. `/seen`
 * returns the number of requests and of paths, and the time of the last new path. Paths that begin
 * with `/text` return 64 KiB of the letters a and b with a final c, a different text each time. Those with `/flaky`
 * in them fail for half a minute in three.
 */
export interface Seen {
  requests: number;
  paths: number;
  /** Unix ms. */
  lastNewAt: number;
}

const FLAKY_MS = 180_000;
const FAILING_MS = 30_000;

const paths = new Set<string>();
const seen: Seen = { requests: 0, paths: 0, lastNewAt: 0 };

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  reusePort: false,
  development: false,
  fetch(request) {
    if (request.url.endsWith("/seen")) return Response.json(seen);
    seen.requests += 1;
    paths.add(request.url);
    if (paths.size > seen.paths) {
      seen.paths = paths.size;
      seen.lastNewAt = Date.now();
    }
    const isFailing = request.url.includes("/flaky/") && Date.now() % FLAKY_MS < FAILING_MS;
    if (isFailing) return new Response("It is broken.", { status: 503 });
    return new Response(request.url.includes("/text") ? randomText() : "It works.");
  },
});

function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(65_535));
  return `${Array.from(bytes, (byte) => (byte % 2 === 0 ? "a" : "b")).join("")}c`;
}

process.stderr.write(`Open http://127.0.0.1:${server.port}\n`);
