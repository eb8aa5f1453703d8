/** Priority of a piece of work among those that wait. */
export interface Turn {
  /** Source of the work. */
  source: string;
  /**
   * Returns the current rank of the source. Work of a lower rank starts first; work of the same
   * rank in the order of arrival.
   */
  rank(): number;
}

/** `busy`: the source has the maximum of waiting work. `full`: all places are taken. */
export type RefusalReason = "busy" | "full";

interface BoundedQueue {
  /** Runs work now or in its turn. Throws the error of `refuse` if the work gets no place or loses it. */
  run<T>(turn: Turn, work: () => Promise<T>): Promise<T>;
  /** Throws the error of `refuse` if all places are taken and work in this turn would be refused at once. */
  requirePlace(turn: Turn): void;
}

interface Waiter {
  turn: Turn;
  begin(): void;
  refuse(): void;
}

/**
 * Runs at most `concurrency` pieces of work and lets at most `waiting` wait, at most `waitingPerSource` of
 * one source. When all places are taken, the last waiting work in order is refused, possibly the
 * new one, so that work of a high rank never displaces work of a lower rank.
 */
export function createBoundedQueue(limits: {
  concurrency: number;
  waiting: number;
  waitingPerSource: number;
  refuse: (reason: RefusalReason) => Error;
}): BoundedQueue {
  /** In the order of arrival. */
  const queue: Waiter[] = [];
  let running = 0;

  /**
   * Resolves when the work may start. Finished work passes its place to the first waiting work.
   */
  async function takePlace(turn: Turn): Promise<void> {
    if (running < limits.concurrency) {
      running += 1;
      return;
    }
    const ofThisSource = queue.filter(({ turn: { source } }) => source === turn.source);
    if (ofThisSource.length >= limits.waitingPerSource) throw limits.refuse("busy");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    queue.push({ turn, begin: resolve, refuse: () => reject(limits.refuse("full")) });
    if (queue.length > limits.waiting) take("last")?.refuse();
    await promise;
  }

  /** Removes and returns the waiter that is first or last by current ranks. */
  function take(which: "first" | "last"): Waiter | undefined {
    const inTurn = queue
      .map((waiter, arrival) => ({ arrival, rank: waiter.turn.rank() }))
      .sort((a, b) => a.rank - b.rank || a.arrival - b.arrival);
    const taken = inTurn.at(which === "first" ? 0 : -1);
    return taken && queue.splice(taken.arrival, 1)[0];
  }

  return {
    async run(turn, work) {
      await takePlace(turn);
      try {
        return await work();
      } finally {
        const next = take("first");
        if (next) next.begin();
        else running -= 1;
      }
    },
    requirePlace(turn) {
      if (queue.length < limits.waiting) return;
      const rank = turn.rank();
      if (queue.every((waiter) => waiter.turn.rank() <= rank)) throw limits.refuse("full");
    },
  };
}
