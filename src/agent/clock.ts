import { uptime } from "node:os";
import { type Clock, systemClock } from "../base/clock";
import { SECOND_MS } from "../base/time";

/** Difference of the two clocks beyond which the machine has slept. One of them counts whole seconds. */
const SLEPT_MIN_MS = 2 * SECOND_MS;

/** Interval of comparing the clocks. */
const COMPARE_EVERY_MS = 100;

/** Clock that no change of the machine's time moves. */
export interface SteadyClock extends Clock {
  /** Sets the time of `now`, in unix ms. Called before anything is dated by it. */
  set(now: number): void;
}

/**
 * Creates the clock of an agent: `now` counts from a time that the server gave, since the clock of the machine may be
 * wrong or be set. It includes times in which the machine slept, which the monotonic clock of Linux leaves out.
 */
export function createSteadyClock(clock = systemClock(), readUptime = uptime): SteadyClock {
  const asleep = () => readUptime() * SECOND_MS - clock.monotonic();
  const atStart = asleep();
  let sleptMs = 0;
  let comparedAt = clock.monotonic();
  let base = clock.now() - clock.monotonic();

  function elapsed(): number {
    const monotonic = clock.monotonic();
    if (monotonic - comparedAt >= COMPARE_EVERY_MS) {
      comparedAt = monotonic;
      const slept = asleep() - atStart;
      if (slept - sleptMs >= SLEPT_MIN_MS) sleptMs = slept;
    }
    return monotonic + sleptMs;
  }

  return {
    ...clock,
    now: () => Math.round(base + elapsed()),
    set(now) {
      base = now - elapsed();
    },
  };
}
