/** A timer that can be called off. Calling it off twice is harmless. */
export interface Timer {
  cancel(): void;
}

/**
 * Source of all time, so that tests control it and never sleep. * `now` is wall-clock time in unix
 * milliseconds: for what people and other programs read. `monotonic` is milliseconds since an
 * arbitrary moment and never goes back: for rates and waits.
 */
export interface Clock {
  now(): number;
  monotonic(): number;
  after(delayMs: number, run: () => void): Timer;
  every(intervalMs: number, run: () => void): Timer;
}

/** The machine's own clock. Its timers never keep the process alive by themselves. */
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
