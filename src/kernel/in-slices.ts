import { setImmediate } from "node:timers/promises";

/** Work of one turn of the event loop: about 20 ms where nothing is compiled yet. */
const WORK_AT_ONCE = 50;

/**
 * Runs work step by step, and lets other work of the process run after every 50 units. Each step yields
 * its cost: 1 for what takes less than half a millisecond.
 */
export async function runInSlices(steps: Iterable<number>): Promise<void> {
  let work = 0;
  for (const cost of steps) {
    work += cost;
    if (work < WORK_AT_ONCE) continue;
    work = 0;
    await setImmediate();
  }
}

/**
 * Returns a function that runs the steps of a source once, in slices, and then `make`. Callers that ask
 * meanwhile wait for the same; later ones get what was made at once.
 */
export function makeInSlices<Source extends object, Made>(
  stepsOf: (source: Source) => Iterable<number>,
  make: (source: Source) => Made,
): (source: Source) => Made | Promise<Made> {
  const made = new WeakMap<Source, { value: Made }>();
  const pending = new WeakMap<Source, Promise<Made>>();

  async function makeSoon(source: Source): Promise<Made> {
    try {
      await runInSlices(stepsOf(source));
      const value = make(source);
      made.set(source, { value });
      return value;
    } finally {
      pending.delete(source);
    }
  }

  return (source) => {
    const known = made.get(source);
    if (known) return known.value;
    let soon = pending.get(source);
    if (!soon) pending.set(source, (soon = makeSoon(source)));
    return soon;
  };
}
