import type { Clock } from "./clock";

/**
 * Resolves to the result of some work, or to undefined if it takes longer than `limitMs`. `failedLater` gets an error
 * of work that went on.
 */
export async function within<T>(
  clock: Clock,
  limitMs: number,
  work: Promise<T>,
  failedLater: (error: unknown) => void,
): Promise<T | undefined> {
  const { promise: overdue, resolve } = Promise.withResolvers<undefined>();
  const timer = clock.after(limitMs, () => {
    resolve(undefined);
    work.catch(failedLater);
  });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    timer.cancel();
  }
}
