/**
 * Takes webhooks, as many endpoints as there are paths: `webhook-receiver HANGING`. Those at
 * `/hook/0`, `/hook/1` … below that number never answer, the others at once. `GET /taken` tells of what
 * these have taken since `POST /forget`.
 */
export interface Taken {
  count: number;
  /** Unix ms of the first and of the last. */
  first: number;
  last: number;
  /** For each, in their order: ms from when the event was recorded, just before its commit. */
  latencies: number[];
}

const HANG_MS = 60_000;
const hanging = Number(process.argv[2]);
let taken: Taken = { count: 0, first: 0, last: 0, latencies: [] };

async function take(request: Request, endpoint: number): Promise<Response> {
  const text = await request.text();
  if (endpoint < hanging) {
    await Bun.sleep(HANG_MS);
    return new Response(null, { status: 204 });
  }
  const now = Date.now();
  const { timestamp } = JSON.parse(text) as { timestamp: string };
  if (taken.count === 0) taken.first = now;
  taken.count += 1;
  taken.last = now;
  taken.latencies.push(now - Date.parse(timestamp));
  return new Response(null, { status: 204 });
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  reusePort: false,
  development: false,
  idleTimeout: 0,
  fetch(request) {
    const { pathname } = new URL(request.url);
    const endpoint = /^\/hook\/(\d+)$/.exec(pathname)?.[1];
    if (endpoint !== undefined) return take(request, Number(endpoint));
    const answer = Response.json(taken);
    if (pathname === "/forget") taken = { count: 0, first: 0, last: 0, latencies: [] };
    return answer;
  },
});

process.stderr.write(`Open http://127.0.0.1:${server.port}\n`);
