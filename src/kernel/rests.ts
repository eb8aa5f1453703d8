import type { Clock } from "./clock";

/** Rest after a step of background work, as a multiple of its duration: the work takes a third of the time. */
const REST_PER_WORK = 2;
/** Longest rest, such as after a step that waited for another process. */
const LONGEST_REST_MS = 1_000;
/** Shorter rests are added up, since a timer of less than a millisecond is not possible. */
const SHORTEST_REST_MS = 1;

/** Returns the rest in ms after a step that took `tookMs`. */
export function restAfter(tookMs: number): number {
  return Math.min(LONGEST_REST_MS, REST_PER_WORK * tookMs);
}

/**
 * Repeats a step of background work until it resolves to false. Rests after each step for twice its duration, so
 * that requests and other writers get their turn, on a slow disk or a busy machine too.
 */
export async function repeatWithRests(clock: Clock, step: () => Promise<boolean>): Promise<void> {
  let restMs = 0;
  for (;;) {
    const startedAt = clock.monotonic();
    // oxlint-disable-next-line no-await-in-loop
    if (!(await step())) return;
    restMs += restAfter(clock.monotonic() - startedAt);
    if (restMs < SHORTEST_REST_MS) continue;
    const waitMs = restMs;
    restMs = 0;
    // oxlint-disable-next-line no-await-in-loop
    await new Promise<void>((resolve) => clock.after(waitMs, resolve));
  }
}
