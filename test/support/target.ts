/** Target of a test's monitor: a web server on loopback that answers with success or failure. */
interface TestTarget extends Disposable {
  url: string;
  isWell: boolean;
  /** Requests received, oldest first: their times, and whether the answer was a success. */
  readonly requests: readonly { at: number; isWell: boolean }[];
  /**
   * Returns the times of the first request in its last outage and of the first request after it.
   */
  outage(): { from: number; to: number };
}

/** Starts a target; `now` returns the time in unix ms. */
export function startTarget(now: () => number): TestTarget {
  const requests: { at: number; isWell: boolean }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      requests.push({ at: now(), isWell: target.isWell });
      return new Response("", { status: target.isWell ? 200 : 503 });
    },
  });
  const target: TestTarget = {
    url: `http://127.0.0.1:${server.port}/health`,
    isWell: true,
    requests,
    outage() {
      const last = requests.findLastIndex(({ isWell }) => !isWell);
      const before = requests.slice(0, last).findLastIndex(({ isWell }) => isWell);
      return {
        from: requests[before + 1]?.at ?? Number.NaN,
        to: requests[last + 1]?.at ?? Number.NaN,
      };
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
  return target;
}
