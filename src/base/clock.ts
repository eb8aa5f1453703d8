export interface Timer {
  /** Stops the timer. Calling it again has no effect. */
  cancel(): void;
}

/** Source of all time, so that tests control it and never sleep. */
export interface Clock {
  /** Wall-clock time in unix ms, for times that are stored or shown. */
  now(): number;
  /** Milliseconds since an arbitrary moment, which never go back, for rates and waits. */
  monotonic(): number;
  after(delayMs: number, run: () => void): Timer;
  every(intervalMs: number, run: () => void): Timer;
}

/** Clock of the machine. Its timers do not keep the process alive. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(delayMs, run) {
      const handle = setTimeout(run, delayMs);
      handle.unref();
      return { cancel: () => clearTimeout(handle) };
    },
    every(intervalMs, run) {
      const handle = setInterval(run, intervalMs);
      handle.unref();
      return { cancel: () => clearInterval(handle) };
    },
  };
}

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
