import { setImmediate } from "node:timers/promises";
import type { Clock } from "./clock";

/** Units of work in one turn of the event loop: about 20 ms before code is optimised. */
const WORK_PER_TURN = 50;

/** Cost of a step after which the turn ends. */
export const WHOLE_TURN = WORK_PER_TURN;

/**
 * Runs a generator and lets other work of the process run after every 50 units. Each step yields its cost:
 * 1 for less than half a millisecond. Resolves to what the generator returns.
 */
export async function runInSlices<Result>(steps: Generator<number, Result>): Promise<Result> {
  let work = 0;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    work += step.value;
    if (work < WORK_PER_TURN) continue;
    work = 0;
    await setImmediate();
  }
}

/** Runs a generator in one turn of the event loop. */
export function runAtOnce<Result>(steps: Generator<number, Result>): Result {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Takes the steps of a generator until a signal aborts, and returns `otherwise` then. */
export function* stepsUntil<Result>(
  signal: AbortSignal | undefined,
  steps: Generator<number, Result>,
  otherwise: Result,
): Generator<number, Result> {
  while (!signal?.aborted) {
    const step = steps.next();
    if (step.done) return step.value;
    yield step.value;
  }
  return otherwise;
}

/**
 * Returns a function that makes something from a source once, in slices. Concurrent callers share one run;
 * later ones get the result at once. A failed run is repeated by the next call.
 */
export function makeInSlices<Source extends object, Made>(
  make: (source: Source) => Generator<number, Made>,
): (source: Source) => Made | Promise<Made> {
  const made = new WeakMap<Source, { value: Made }>();
  const pending = new WeakMap<Source, Promise<Made>>();

  async function run(source: Source): Promise<Made> {
    try {
      const value = await runInSlices(make(source));
      made.set(source, { value });
      return value;
    } finally {
      pending.delete(source);
    }
  }

  return (source) => {
    const cached = made.get(source);
    if (cached) return cached.value;
    let running = pending.get(source);
    if (!running) pending.set(source, (running = run(source)));
    return running;
  };
}

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
