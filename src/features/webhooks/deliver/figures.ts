/** Load and counters of the deliverer. */
export interface DelivererFigures {
  /** Tries under way. */
  underWay: number;
  /** Tries that have ended since the start, by endpoint. */
  tries: ReadonlyMap<string, EndedTries>;
}

interface EndedTries {
  succeeded: number;
  failed: number;
}

/** Counts ended tries by endpoint. */
export class TryCounts {
  readonly #counts = new Map<string, EndedTries>();

  get byEndpoint(): ReadonlyMap<string, EndedTries> {
    return this.#counts;
  }

  add(webhookId: string, hasSucceeded: boolean): void {
    const { succeeded, failed } = this.#counts.get(webhookId) ?? { succeeded: 0, failed: 0 };
    const one = Number(hasSucceeded);
    this.#counts.set(webhookId, { succeeded: succeeded + one, failed: failed + 1 - one });
  }
}
