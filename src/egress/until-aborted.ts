/** Result of a wait that was aborted. */
export const ABORTED = Symbol("aborted");

/** Waits for a promise until the signal aborts. What comes of it afterwards is dropped. */
export function untilAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
): Promise<T | typeof ABORTED> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(ABORTED);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    const settled = () => signal.removeEventListener("abort", stop);
    promise.then(resolve, reject).finally(settled);
  });
}
