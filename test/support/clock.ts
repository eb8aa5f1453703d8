import type { Clock, Timer } from "../../src/base/clock";

/** A clock that only the test moves. */
export interface TestClock extends Clock {
  /** Advances both times, runs the timers that become due in order, and lets writes finish. */
  advance(ms: number): Promise<void>;
  /** Advances both times as if the process stood still: timers that become due run with the next `advance`. */
  stall(ms: number): void;
  /** Moves the wall clock alone, as an administrator or NTP does. */
  setWallClock(ms: number): void;
}

interface Pending {
  dueAt: number;
  everyMs: number | undefined;
  run: () => void;
}

export const TEST_START = Date.parse("2026-03-10T12:00:00.000Z");

export function createTestClock(start: number = TEST_START): TestClock {
  let wall = start;
  let monotonic = 5_000;
  const timers = new Set<Pending>();

  function add(delayMs: number, everyMs: number | undefined, run: () => void): Timer {
    const timer = { dueAt: monotonic + delayMs, everyMs, run };
    timers.add(timer);
    return { cancel: () => void timers.delete(timer) };
  }

  function nextDue(until: number): Pending | undefined {
    let next: Pending | undefined;
    for (const timer of timers) {
      if (timer.dueAt <= until && (!next || timer.dueAt < next.dueAt)) next = timer;
    }
    return next;
  }

  function moveTo(target: number): void {
    wall += target - monotonic;
    monotonic = target;
  }

  return {
    now: () => wall,
    monotonic: () => monotonic,
    after: (delayMs, run) => add(delayMs, undefined, run),
    every: (intervalMs, run) => add(intervalMs, intervalMs, run),
    setWallClock(ms) {
      wall = ms;
    },
    stall(ms) {
      moveTo(monotonic + ms);
    },
    async advance(ms) {
      const until = monotonic + ms;
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        // After a stall a timer is late, and an interval begins again.
        moveTo(Math.max(monotonic, timer.dueAt));
        if (timer.everyMs === undefined) timers.delete(timer);
        else timer.dueAt = monotonic + timer.everyMs;
        timer.run();
        await settle();
      }
      moveTo(until);
      await settle();
    },
  };
}

/** Lets the event loop turn, so that queued writes commit and their callers resume. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
