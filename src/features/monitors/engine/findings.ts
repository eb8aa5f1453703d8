import type { AppContext } from "../../../context";
import { decide } from "../rules";
import { listSilenced } from "../standing-store";
import { CheckFigures } from "./figures";
import { AWAY, type Liveness } from "./liveness";
import type { ProbeResult } from "../probe";
import type { Entry, Recorded } from "./record";
import { Recorder } from "./recorder";
import type { Roster } from "./roster";
import type { Waiter } from "./waiters";
import type { Watched } from "./watched";

/**
 * What was found, on its way into the database. What it changes is judged here for the next check, and again
 * where it is written, which is what holds.
 */
export class Findings {
  readonly recorder: Recorder;
  readonly figures = new CheckFigures();
  readonly #ctx: AppContext;
  #silenced: ReadonlySet<number> = new Set();
  #isSilenceStale = true;

  /** `onPaused` is called when the recorder waits: its `dueAt` says until when. */
  constructor(ctx: AppContext, liveness: Liveness, onPaused: () => void) {
    this.#ctx = ctx;
    this.recorder = new Recorder(ctx, liveness, { recorded, paused: onPaused });
  }

  /** A page has changed: a component may have come under maintenance, or out of it. */
  silenceMayHaveChanged(): void {
    this.#isSilenceStale = true;
  }

  /**
   * Hands a result on, and answers whether the next check should come sooner. `at` is when the check began
   * by the wall clock, `startedAt` by the monotonic one.
   */
  take(
    kind: "check" | "heartbeat",
    watched: Watched,
    { at, startedAt }: { at: number; startedAt: number },
    found: ProbeResult,
    waiters: Waiter[] | undefined,
  ): boolean {
    const { outcome, latencyMs, message, publicMessage, certificateExpiresAt } = found;
    this.figures.ended(watched.type, outcome);
    const result = { outcome, latencyMs, message, publicMessage, certificateExpiresAt };
    const elapsedMs = startedAt - (watched.lastStartedAt ?? startedAt);
    watched.lastStartedAt = startedAt;
    const entry: Entry = { kind, watched, at, elapsedMs, ...result, waiters };
    const { isChange, isUnsure } = validate(entry, this.#silenced.has(watched.num));
    this.recorder.add(entry, isChange || waiters !== undefined);
    return isUnsure;
  }

  /** Hands on that this server was away: nothing is known since a moment, in unix ms. */
  takeAway(watched: Watched, since: number): void {
    const nothing = { outcome: "unknown", latencyMs: null } as const;
    const entry: Entry = { kind: "away", watched, at: since, ...nothing, message: AWAY };
    validate(entry, false);
    this.recorder.add(entry, false);
  }

  /**
   * Finds out which monitors count for nothing now, if that may have changed; those that came under
   * maintenance say so at once. Answers those that count again.
   */
  refreshSilence(roster: Roster): Watched[] {
    if (!this.#isSilenceStale) return [];
    const silenced = new Set(listSilenced(this.#ctx.db, {}).map(({ num }) => num));
    const before = this.#silenced;
    this.#silenced = silenced;
    this.#isSilenceStale = false;
    const at = this.#ctx.clock.now();
    for (const watched of watchedOf(roster, silenced.difference(before))) {
      const nothing = { outcome: "ok", latencyMs: null, message: null } as const;
      this.recorder.add({ kind: "maintenance", watched, at, ...nothing }, true);
    }
    return watchedOf(roster, before.difference(silenced));
  }
}

/** Lets the rules count an entry, with what is still to be written. */
function validate(entry: Entry, isSilenced: boolean): { isChange: boolean; isUnsure: boolean } {
  const { watched } = entry;
  const decision = decide(watched.standing, entry, watched.thresholds, isSilenced);
  watched.standing = decision.standing;
  return { isChange: decision.transition !== undefined, isUnsure: decision.isUnsure };
}

/** What the database says is what holds, unless more is on its way there. */
function recorded({ entry: { watched }, standing }: Recorded): void {
  if (standing && watched.waiting === 0) watched.standing = standing;
}

function watchedOf(roster: Roster, nums: Iterable<number>): Watched[] {
  const found = Array.from(nums, (num) => roster.ofNum(num));
  return found.filter((watched) => watched !== undefined && !watched.isPaused) as Watched[];
}
