import type { Clock } from "../../../kernel/clock";
import type { MonitorState } from "../../../kernel/monitor-state";
import { MINUTE_MS } from "../../../kernel/time";

/** How much later than its slot a check may be, as a part of its interval, so that no two keep in step. */
const JITTER = 0.01;
const UINT32 = 2 ** 32;

/**
 * When monitors are due, in ms of the monotonic clock. Each has a slot of its own within its interval, by
 * the hash of its id, so that load is spread, and the same after a restart.
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
 * How long the job of a push monitor has to call, in ms. Where its time came while nobody listened, it may
 * have called then: it has until the next time.
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
