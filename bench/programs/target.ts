/**
 * What monitors watch while they are measured: a server that answers every path with a few bytes, and
 * at `/seen` how many requests there were, and how many paths, and when the last new one came. Paths that
 * begin with `/text` answer 64 KiB of the letters a and b with a c at the end, another text each time.
 */
export interface Seen {
  requests: number;
  paths: number;
  /** Unix ms. */
  lastNewAt: number;
}

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
    return new Response(request.url.includes("/text") ? randomText() : "It works.");
  },
});

function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(65_535));
  return `${Array.from(bytes, (byte) => (byte % 2 === 0 ? "a" : "b")).join("")}c`;
}

process.stderr.write(`Open http://127.0.0.1:${server.port}\n`);
