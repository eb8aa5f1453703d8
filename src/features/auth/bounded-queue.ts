/** The place of a piece of work among those that wait. */
export interface Turn {
  /** The source that asks for the work. */
  source: string;
  /**
   * Returns the rank of the source at this moment. Work of a lower rank begins first; work of the same
   * rank in the order of its arrival.
   */
  rank(): number;
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
  /** In the order of arrival. */
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
    queue.push({ turn, begin: resolve, refuse: () => reject(limits.refuse("full")) });
    if (queue.length > limits.waiting) take("last")?.refuse();
    await promise;
  }

  /** Removes the waiter that would begin first or last, by the ranks of this moment, and returns it. */
  function take(which: "first" | "last"): Waiter | undefined {
    const inTurn = queue
      .map((waiter, arrival) => ({ arrival, rank: waiter.turn.rank() }))
      .sort((a, b) => a.rank - b.rank || a.arrival - b.arrival);
    const taken = inTurn.at(which === "first" ? 0 : -1);
    return taken && queue.splice(taken.arrival, 1)[0];
  }

  return async (turn, work) => {
    await takePlace(turn);
    try {
      return await work();
    } finally {
      const next = take("first");
      if (next) next.begin();
      else running -= 1;
    }
  };
}
