/**
 * Runs work, some at once and the rest in its turn. `source` is who asks, as far as is known. Throws
 * what `refuse` makes when too many wait.
 */
type BoundedQueue = <T>(source: string, work: () => Promise<T>) => Promise<T>;

/**
 * At most `atOnce` pieces of work run and at most `waiting` wait, first come first served, of one
 * source no more than `waitingOfOne`: so one source cannot take all the places. What is one too many
 * is refused at once and never begun; those before it are not touched.
 */
export function createBoundedQueue(limits: {
  atOnce: number;
  waiting: number;
  waitingOfOne: number;
  refuse: () => Error;
}): BoundedQueue {
  const queue: (() => void)[] = [];
  const waitingBySource = new Map<string, number>();
  let running = 0;

  /** Resolves when it is this caller's turn. Who ends hands the place on, so that nobody jumps in. */
  async function takePlace(source: string): Promise<void> {
    if (running < limits.atOnce) {
      running += 1;
      return;
    }
    const ofThisOne = waitingBySource.get(source) ?? 0;
    if (queue.length >= limits.waiting || ofThisOne >= limits.waitingOfOne) throw limits.refuse();
    waitingBySource.set(source, ofThisOne + 1);
    await new Promise<void>((resolve) => queue.push(resolve));
    const left = (waitingBySource.get(source) ?? 1) - 1;
    if (left > 0) waitingBySource.set(source, left);
    else waitingBySource.delete(source);
  }

  return async (source, work) => {
    await takePlace(source);
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
