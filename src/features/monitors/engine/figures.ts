import {
  CHECK_OUTCOMES,
  type CheckOutcome,
  type MonitorType,
  SUPPORTED_TYPES,
  type SupportedType,
} from "../../../base/status";

/** Bounds of the delays of checks, in ms. */
export const DELAY_BOUNDS_MS = [10, 50, 100, 250, 500, 1_000, 5_000, 30_000] as const;

/** Number of checks by outcome. */
type OutcomeCounts = Readonly<Record<CheckOutcome, number>>;

/** Counters of the engine since its creation, and its current load. */
export interface MonitoringFigures {
  /** Number of monitors, including paused ones. */
  monitors: number;
  /** Checks that are running. */
  underWay: number;
  checks: OutcomeCounts;
  checksByType: Readonly<Record<SupportedType, OutcomeCounts>>;
  /** Results that wait to be written, and results that were dropped. */
  waiting: number;
  dropped: number;
  /** Results that were discarded and their checks repeated, since this process stood still meanwhile. */
  stalled: number;
  /** Failed checks that were held, since this server may have lost its network. */
  held: number;
  /** Number of checks per bound of `DELAY_BOUNDS_MS`; the last counts the rest. */
  delays: readonly number[];
  delaySumMs: number;
}

/** Counts checks. */
export class CheckFigures {
  readonly #checks = new Map<MonitorType, Record<CheckOutcome, number>>(
    SUPPORTED_TYPES.map((type) => [type, { ok: 0, failed: 0, unknown: 0 }]),
  );
  readonly #delays = Array.from<number>({ length: DELAY_BOUNDS_MS.length + 1 }).fill(0);
  #delaySumMs = 0;
  #stalled = 0;

  began(delayMs: number): void {
    const late = Math.max(0, delayMs);
    const bucket = DELAY_BOUNDS_MS.findIndex((bound) => late <= bound);
    const index = bucket < 0 ? DELAY_BOUNDS_MS.length : bucket;
    this.#delays[index] = (this.#delays[index] ?? 0) + 1;
    this.#delaySumMs += late;
  }

  ended(type: MonitorType, outcome: CheckOutcome): void {
    const counts = this.#checks.get(type);
    if (counts) counts[outcome] += 1;
  }

  discardedForStall(): void {
    this.#stalled += 1;
  }

  soFar(): Pick<
    MonitoringFigures,
    "checks" | "checksByType" | "delays" | "delaySumMs" | "stalled"
  > {
    const checks = { ok: 0, failed: 0, unknown: 0 };
    for (const counts of this.#checks.values()) {
      for (const outcome of CHECK_OUTCOMES) checks[outcome] += counts[outcome];
    }
    const byType = SUPPORTED_TYPES.map((type) => [type, { ...this.#checks.get(type) }]);
    return {
      checks,
      checksByType: Object.fromEntries(byType) as Record<SupportedType, OutcomeCounts>,
      delays: [...this.#delays],
      delaySumMs: this.#delaySumMs,
      stalled: this.#stalled,
    };
  }
}
