/** Load and counters of the deliverer. */
export interface DelivererFigures {
  /** Attempts in progress. */
  underWay: number;
  /** Attempts that ended since the start, by endpoint. */
  tries: ReadonlyMap<string, EndedTries>;
}

interface EndedTries {
  succeeded: number;
  failed: number;
}

/** Counts ended attempts by endpoint. */
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
