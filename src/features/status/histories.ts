import { LRUCache } from "lru-cache";
import { MINUTE_MS } from "../../kernel/time";
import {
  type CauseInterval,
  type ComponentRow,
  type DayOf,
  foldDays,
  type Interval,
  knownFrom,
  knownSpan,
  uptime,
} from "../components";

/** The UTC days that a component's uptime in the document reaches back, today included. */
export const UPTIME_DAYS = 90;

/** For so long the figures of a history hold though today goes on: a part of each hour, and so of each day. */
const SPELL_MS = 5 * MINUTE_MS;
/** How many components' histories are kept: each is as large as some dozen updates. */
const KEPT_MAX = 2_000;

/** All that a component's history is made of, beside the component itself. */
export interface Past {
  /** What has marked it within the days that are shown. */
  causes: readonly CauseInterval[];
  /** When nothing was known of it. */
  gaps: readonly Interval[];
  /** How many UTC days are shown, today included. */
  days: number;
}

/** What a component's last days were like. */
export interface ComponentHistory {
  /** Over the last 90 UTC days, today included; null where nothing is known. */
  readonly uptime: number | null;
  /** The days that are shown, oldest first. Folded when first asked for. */
  readonly days: readonly DayOf[];
}

export interface Histories {
  /**
   * The history of a component as it stands at `now` (unix ms) or stood within the same five minutes. While
   * nothing of it changes in these, the answer is the same object.
   */
  of(component: ComponentRow, past: Past, now: number): ComponentHistory;
}

/** When the figures of a history that was made at `now` are to be made anew; never later than midnight. */
export function historiesHoldUntil(now: number): number {
  return (spellOf(now) + 1) * SPELL_MS;
}

/** Folds histories and keeps them: when a page changes, those of most of its components have not. */
export function createHistories(): Histories {
  const kept = new LRUCache<
    string,
    { spell: number; since: number; past: Past; history: ComponentHistory }
  >({ max: KEPT_MAX });
  return {
    of(component, past, now) {
      const [spell, since] = [spellOf(now), knownFrom(component)];
      const known = kept.get(component.id);
      if (known?.spell === spell && known.since === since && isSame(known.past, past)) {
        return known.history;
      }
      const history = fold(component, past, now);
      kept.set(component.id, { spell, since, past, history });
      return history;
    },
  };
}

function spellOf(now: number): number {
  return Math.floor(now / SPELL_MS);
}

function fold(component: ComponentRow, past: Past, now: number): ComponentHistory {
  const { causes, gaps } = past;
  let days: readonly DayOf[] | undefined;
  return {
    uptime: uptime(causes, knownSpan(component, now, UPTIME_DAYS), gaps),
    get days() {
      return (days ??= foldDays(causes, knownSpan(component, now, past.days), past.days, gaps));
    },
  };
}

function isSame(one: Past, other: Past): boolean {
  return (
    one.days === other.days &&
    isEach(one.causes, other.causes, (a, b) => a.status === b.status && isAtOnce(a, b)) &&
    isEach(one.gaps, other.gaps, isAtOnce)
  );
}

function isAtOnce(a: Interval, b: Interval): boolean {
  return a.startedAt === b.startedAt && a.endedAt === b.endedAt;
}

function isEach<T>(
  one: readonly T[],
  other: readonly T[],
  isSame: (a: T, b: T) => boolean,
): boolean {
  return (
    one.length === other.length &&
    one.every((item, index) => {
      const counterpart = other[index];
      return counterpart !== undefined && isSame(item, counterpart);
    })
  );
}
