import type { Assertion } from "../../src/features/monitors/assertions/assertions";

/** Threads that the test answers for. */
export function createFakeThreads() {
  const threads: FakeThread[] = [];
  class FakeThread {
    onmessage: ((event: MessageEvent) => void) | null = null;
    onerror: ((event: ErrorEvent) => void) | null = null;
    isEnded = false;
    readonly slices: { assertions: readonly Assertion[] }[] = [];
    postMessage = (slice: { assertions: readonly Assertion[] }) => void this.slices.push(slice);
    terminate = () => void (this.isEnded = true);
    answer(data: unknown) {
      this.onmessage?.({ data } as MessageEvent);
    }
    fail() {
      this.onerror?.({} as ErrorEvent);
    }
  }
  const start = () => {
    const thread = new FakeThread();
    threads.push(thread);
    return thread as unknown as Worker;
  };
  return { threads, start };
}
