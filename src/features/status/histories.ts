import { LRUCache } from "lru-cache";
import type { Reader } from "../../db";
import { DAY_MS, MINUTE_MS, startOfDay } from "../../kernel/time";
import {
  type CauseInterval,
  type ComponentRow,
  type DayOf,
  foldDays,
  type Interval,
  knownSpan,
  listEndedCausesOf,
  uptime,
} from "../components";

/** The UTC days that a component's uptime in the document reaches back, today included. */
export const UPTIME_DAYS = 90;

/** For so long the figures of a history hold though today goes on. A part of an hour, and so of a day. */
const SPELL_MS = 5 * MINUTE_MS;
/** How many components' histories are kept: each is as large as some dozen updates. */
const KEPT_MAX = 2_000;

/** What a component's last days were like. */
export interface ComponentHistory {
  /** Over the last 90 UTC days, today included; null where nothing is known. */
  readonly uptime: number | null;
  /** The days that a page shows, oldest first. Folded when first asked for. */
  readonly days: readonly DayOf[];
}

/** What histories are asked for. */
export interface HistoryQuery {
  components: readonly ComponentRow[];
  /** What marks each now, by its id. */
  open: ReadonlyMap<string, readonly CauseInterval[]>;
  /** When nothing was known of each, by its id. */
  gaps: ReadonlyMap<string, readonly Interval[]>;
  /** How many UTC days are shown, today included. */
  days: number;
  /** Unix ms. */
  now: number;
}

/**
 * Reads the histories of components, by their ids, as they stand now or stood within the same five
 * minutes.
 */
export type ReadHistories = (
  reader: Reader,
  query: HistoryQuery,
) => ReadonlyMap<string, ComponentHistory>;

/** When the histories begin that are read at `now` (unix ms), for pages that show so many days. */
export function historiesBeginAt(now: number, days: number): number {
  return startOfDay(now) - (Math.max(UPTIME_DAYS, days) - 1) * DAY_MS;
}

/** When the figures of a history that was read at `now` are to be read anew; midnight at the latest. */
export function historiesHoldUntil(now: number): number {
  return (spellOf(now) + 1) * SPELL_MS;
}

export const readHistories: ReadHistories = (reader, query) => {
  const { components, open, gaps, days, now } = query;
  const ids = JSON.stringify(components.map(({ id }) => id));
  const since = historiesBeginAt(now, days);
  const ended = Map.groupBy(
    listEndedCausesOf(reader, { ids, since }),
    (cause) => cause.componentId,
  );
  return new Map(
    components.map((component) => {
      const { id } = component;
      const causes = [...(ended.get(id) ?? []), ...(open.get(id) ?? [])];
      return [id, fold(component, { causes, gaps: gaps.get(id) ?? [] }, days, now)];
    }),
  );
};

/**
 * Reads histories as `readHistories` does, of each component once a version: nothing marks a component
 * without one. While nothing of it changes within five minutes, the answer is the same object. Only for
 * committed data: a version that is rolled back comes again with something else.
 */
export function createKeptHistories(): ReadHistories {
  const kept = new LRUCache<string, Kept>({ max: KEPT_MAX });
  return (reader, query) => {
    const spell = spellOf(query.now);
    const found = new Map<string, ComponentHistory>();
    for (const component of query.components) {
      const { id, version } = component;
      const known = kept.get(id);
      if (
        known?.spell === spell &&
        known.version === version &&
        known.days === query.days &&
        isSame(known.gaps, query.gaps.get(id))
      ) {
        found.set(id, known.history);
      }
    }
    const components = query.components.filter(({ id }) => !found.has(id));
    if (components.length === 0) return found;
    const { gaps, days } = query;
    const fresh = readHistories(reader, { ...query, components });
    for (const { id, version } of components) {
      const history = fresh.get(id);
      if (!history) continue;
      kept.set(id, { spell, version, days, gaps: gaps.get(id), history });
      found.set(id, history);
    }
    return found;
  };
}

interface Kept {
  /** In which five minutes it was read. */
  spell: number;
  version: number;
  days: number;
  gaps: readonly Interval[] | undefined;
  history: ComponentHistory;
}

function spellOf(now: number): number {
  return Math.floor(now / SPELL_MS);
}

function fold(
  component: ComponentRow,
  { causes, gaps }: { causes: readonly CauseInterval[]; gaps: readonly Interval[] },
  count: number,
  now: number,
): ComponentHistory {
  let days: readonly DayOf[] | undefined;
  return {
    uptime: uptime(causes, knownSpan(component, now, UPTIME_DAYS), gaps),
    get days() {
      return (days ??= foldDays(causes, knownSpan(component, now, count), count, gaps));
    },
  };
}

function isSame(one: readonly Interval[] = [], other: readonly Interval[] = []): boolean {
  return (
    one.length === other.length &&
    one.every(
      ({ startedAt, endedAt }, index) =>
        startedAt === other[index]?.startedAt && endedAt === other[index].endedAt,
    )
  );
}
