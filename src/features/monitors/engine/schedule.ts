import type { Clock } from "../../../kernel/clock";
import type { MonitorState } from "../../../domain/monitor-state";
import { MINUTE_MS } from "../../../kernel/time";

/**
 * Maximum delay of a check after its slot, as a share of its interval, so that checks do not stay
 * in step.
 */
const JITTER = 0.01;
const UINT32 = 2 ** 32;

/**
 * Due times of monitors, in ms of the monotonic clock. The hash of its id gives each a slot within
 * its interval, which spreads the load and stays the same after a restart.
 */
export interface Schedule {
  /** After a start: within the interval, and within a minute where that is longer. */
  first(id: string, intervalMs: number): number;
  /** The next slot, moved by a hundredth of the interval at most. */
  next(id: string, intervalMs: number): number;
}

/** `random` gives a number from 0 up to 1. */
export function createSchedule(clock: Clock, random: () => number): Schedule {
  // A clock that is set later moves no slot.
  const offset = clock.now() - clock.monotonic();
  const slotAfter = (now: number, id: string, intervalMs: number) => {
    const phase = Math.floor(fraction(id) * intervalMs);
    const slot = Math.floor((now + offset - phase) / intervalMs) + 1;
    return slot * intervalMs + phase - offset;
  };
  return {
    first(id, intervalMs) {
      const now = clock.monotonic();
      return intervalMs <= MINUTE_MS
        ? slotAfter(now, id, intervalMs)
        : now + Math.floor(fraction(id) * MINUTE_MS);
    },
    next: (id, intervalMs) =>
      slotAfter(clock.monotonic(), id, intervalMs) + Math.floor(random() * JITTER * intervalMs),
  };
}

/**
 * Returns the time that the job of a push monitor has to call, in ms. A job that was due while the
 * server was away may have called then, so it has until its next time.
 */
export function heartbeatDeadline(
  job: {
    heartbeatAt: number | null;
    evaluation: { state: MonitorState; since: number };
    intervalMs: number;
    graceMs: number;
  },
  now: number,
): number {
  const { heartbeatAt, evaluation, intervalMs, graceMs } = job;
  const { state, since } = evaluation;
  const isNew = heartbeatAt === null || state === "pending";
  const expectedIn = (isNew ? Math.max(heartbeatAt ?? 0, since) : heartbeatAt) + intervalMs - now;
  return Math.min(expectedIn > 0 ? expectedIn : intervalMs, intervalMs) + graceMs;
}

/** From 0 up to 1, spread evenly over ids. */
function fraction(id: string): number {
  return Bun.hash.murmur32v3(id) / UINT32;
}
