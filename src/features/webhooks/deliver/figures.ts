/** Load and counters of the deliverer. */
export interface DelivererFigures {
  /** Attempts in progress. */
  underWay: number;
  /** Attempts that ended since the start, by endpoint. */
  tries: ReadonlyMap<string, EndedTries>;
}

/** Outcomes of attempts. A refused one is repeated after a pause and uses up no retry. */
export const TRY_OUTCOMES = ["succeeded", "failed", "refused"] as const;
type TryOutcome = (typeof TRY_OUTCOMES)[number];

type EndedTries = Record<TryOutcome, number>;

/** Counts ended attempts by endpoint. */
export class TryCounts {
  readonly #counts = new Map<string, EndedTries>();

  get byEndpoint(): ReadonlyMap<string, EndedTries> {
    return this.#counts;
  }

  add(webhookId: string, outcome: TryOutcome): void {
    const before = this.#counts.get(webhookId) ?? { succeeded: 0, failed: 0, refused: 0 };
    this.#counts.set(webhookId, { ...before, [outcome]: before[outcome] + 1 });
  }
}
