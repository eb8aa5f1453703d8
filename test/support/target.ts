/** What a monitor of a test watches: a web server on loopback that is well or not. */
export interface WatchedTarget extends Disposable {
  url: string;
  isWell: boolean;
  /** When it was asked and what it answered, in its own words, oldest first. */
  readonly asked: readonly { at: number; isWell: boolean }[];
  /** When it was first asked in its last outage, and first asked after that. */
  outage(): { from: number; to: number };
}

/** Starts one; `now` is what tells it the time, in unix ms. */
export function startTarget(now: () => number): WatchedTarget {
  const asked: { at: number; isWell: boolean }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      asked.push({ at: now(), isWell: target.isWell });
      return new Response("", { status: target.isWell ? 200 : 503 });
    },
  });
  const target: WatchedTarget = {
    url: `http://127.0.0.1:${server.port}/health`,
    isWell: true,
    asked,
    outage() {
      const last = asked.findLastIndex(({ isWell }) => !isWell);
      const before = asked.slice(0, last).findLastIndex(({ isWell }) => isWell);
      return {
        from: asked[before + 1]?.at ?? Number.NaN,
        to: asked[last + 1]?.at ?? Number.NaN,
      };
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
  return target;
}
