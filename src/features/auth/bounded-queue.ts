/** The place of a piece of work among those that wait. */
export interface Turn {
  /** The source that asks for the work. */
  source: string;
  /** Work of a lower rank begins first; work of the same rank in the order of its arrival. */
  rank: number;
}

/** `busy`: the source has all the waiting work that one may have. `full`: all places are taken. */
export type RefusalReason = "busy" | "full";

/** Runs work now or in its turn. Throws what `refuse` makes when the work finds no place, or loses it. */
type BoundedQueue = <T>(turn: Turn, work: () => Promise<T>) => Promise<T>;

interface Waiter {
  turn: Turn;
  begin(): void;
  refuse(): void;
}

/**
 * Runs at most `atOnce` pieces of work and lets at most `waiting` wait, of one source no more than
 * `waitingOfOne`. When all places are taken, the last of those that wait is refused, which may be the
 * new one: work of a high rank never keeps work of a lower rank out.
 */
export function createBoundedQueue(limits: {
  atOnce: number;
  waiting: number;
  waitingOfOne: number;
  refuse: (reason: RefusalReason) => Error;
}): BoundedQueue {
  /** In the order in which they begin. */
  const queue: Waiter[] = [];
  let running = 0;

  /** Resolves when the work may begin. The work that ends hands its place on, so no other overtakes. */
  async function takePlace(turn: Turn): Promise<void> {
    if (running < limits.atOnce) {
      running += 1;
      return;
    }
    const ofThisSource = queue.filter(({ turn: { source } }) => source === turn.source);
    if (ofThisSource.length >= limits.waitingOfOne) throw limits.refuse("busy");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { turn, begin: resolve, refuse: () => reject(limits.refuse("full")) };
    const after = queue.findLastIndex(({ turn: { rank } }) => rank <= turn.rank);
    queue.splice(after + 1, 0, waiter);
    if (queue.length > limits.waiting) queue.pop()?.refuse();
    await promise;
  }

  return async (turn, work) => {
    await takePlace(turn);
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next) next.begin();
      else running -= 1;
    }
  };
}
