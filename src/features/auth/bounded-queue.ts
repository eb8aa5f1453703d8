/** Runs work, some at once and the rest in its turn. Throws what `refuse` makes when too many wait. */
export type BoundedQueue = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * At most `atOnce` pieces of work run and at most `waiting` wait, first come first served. One more is
 * refused at once and never begun; those before it are not touched.
 */
export function createBoundedQueue(limits: {
  atOnce: number;
  waiting: number;
  refuse: () => Error;
}): BoundedQueue {
  const queue: (() => void)[] = [];
  let running = 0;

  /** Resolves when it is this caller's turn. Who ends hands the place on, so that nobody jumps in. */
  async function takePlace(): Promise<void> {
    if (running < limits.atOnce) {
      running += 1;
      return;
    }
    if (queue.length >= limits.waiting) throw limits.refuse();
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  return async (work) => {
    await takePlace();
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
