/* Days and uptime of components for the charts of a page, latency of its monitors, and the cache of histories. */
import { LRUCache } from "lru-cache";
import { WHOLE_TURN } from "../../base/in-slices";
import { badnessOf, type CauseSource, worstStatus } from "../../base/status";
import { DAY_MS, MINUTE_MS, SECOND_MS, startOfDay } from "../../base/time";
import type { Reader } from "../../db/statements";
import { listEndedCausesOf } from "../components/cause-store";
import {
  type CauseInterval,
  type DayOf,
  foldDays,
  type Interval,
  knownSpan,
  uptime,
} from "../components/rules";
import type { ComponentRow } from "../components/store";
import { listNoDataOfPage } from "../monitors/spans-store";
import { type SparklineData, sparklinesOf } from "../monitors/latency";
import { listMonitorsOfPage } from "../monitors/store";
import type { PageRow } from "../pages/store";
import type { StatusDocument } from "./wire";

/**
 * Reads the recent response times of a document's components by id, for components whose page shows
 * them and that a monitor measures. Of several monitors the oldest with a response is used, since
 * an average over different targets has no meaning. `now` in unix ms.
 */
export function readLatency(
  reader: Reader,
  { page, components }: Pick<StatusDocument, "page" | "components">,
  now: number,
): Map<string, SparklineData> {
  const componentIds = new Set(components.filter((one) => one.show_latency).map(({ id }) => id));
  if (componentIds.size === 0) return new Map();
  // The duration that a job reports is not a response time.
  const measuring = listMonitorsOfPage(reader, { pageId: page.id }).filter(
    ({ componentId, type }) => componentIds.has(componentId) && type !== "push",
  );
  const nums = new Set(measuring.map(({ num }) => num));
  const lines = sparklinesOf(reader, [...nums], now);
  const lineOf = new Map<string, SparklineData>();
  for (const { componentId, num } of measuring) {
    const line = lines.get(num);
    if (!line?.values.some((value) => value !== null)) continue;
    if (!lineOf.has(componentId)) lineOf.set(componentId, line);
  }
  return lineOf;
}

/** Number of UTC days of a component's uptime in the document, including today. */
export const UPTIME_DAYS = 90;

/** Time for which figures stay valid while the current day continues. */
const HOLD_MS = 5 * MINUTE_MS;

/** Recent days of a component. */
export interface ComponentHistory {
  /** Uptime of the last 90 UTC days, including today; null without data. */
  readonly uptime: number | null;
  /**
   * Days that the page shows, oldest first. Folded on first use: no JSON needs them, and a page of
   * 1,000 components folds them in several turns of the event loop. In the turn that builds the
   * snapshot they would take 20 to 60 ms of the 100 ms that a turn may take.
   */
  readonly days: readonly DayOf[];
  /** Incidents and maintenances of those days on which one affected the component, by start of the day. */
  readonly entries: ReadonlyMap<number, DayEntries>;
  /** Time at which it was read, in unix ms, to which it applies. */
  readonly readAt: number;
  /** Number of days and intervals, which its size in memory is proportional to. */
  readonly size: number;
}

/** Query of histories. */
interface HistoryQuery {
  /** Page, whose `historyDays` is the number of UTC days shown, including today. */
  page: PageRow;
  /** Components of the page. */
  components: readonly ComponentRow[];
  /** Open causes by component id, which callers have read already. */
  open: ReadonlyMap<string, readonly SourcedCause[]>;
  /** Unix ms. */
  now: number;
  /** True if the figures must be equal on all nodes of a fleet. */
  isShared?: boolean;
}

/**
 * Reads the histories of components by id, as of `now` or of an earlier time whose figures are
 * still valid.
 */
export type ReadHistories = (
  reader: Reader,
  query: HistoryQuery,
) => ReadonlyMap<string, ComponentHistory>;

/** Times without data by component id. */
type Gaps = ReadonlyMap<string, readonly Interval[]>;

/** Returns the time to which the figures of a component apply, in unix ms. */
function figuresAt({ now, isShared }: HistoryQuery, { updatedAt }: ComponentRow): number {
  return isShared ? sharedTime(now, updatedAt) : now;
}

/**
 * Returns the time until which figures read at `readAt` are valid (unix ms): five minutes, or until
 * midnight.
 */
export function holdsUntil(readAt: number): number {
  return Math.min(readAt + HOLD_MS, startOfDay(readAt) + DAY_MS);
}

export const readComponentHistories: ReadHistories = (reader, query) =>
  foldHistories(reader, query, readGaps(reader, query));

/** Reads the times without data of a page's components within the shown days. */
function readGaps(reader: Reader, { page, now }: HistoryQuery): Gaps {
  const since = firstTime(page, now);
  const gaps = listNoDataOfPage(reader, { pageId: page.id, since }).map(({ row }) => row);
  return Map.groupBy(gaps, (gap) => gap.componentId);
}

/** Reads the causes of the components and folds them. */
function foldHistories(
  reader: Reader,
  query: HistoryQuery,
  gaps: Gaps,
): Map<string, ComponentHistory> {
  const { page, components, open, now } = query;
  const ids = JSON.stringify(components.map(({ id }) => id));
  const since = firstTime(page, now);
  const ended = Map.groupBy(
    listEndedCausesOf(reader, { ids, since }),
    (cause) => cause.componentId,
  );
  return new Map(
    components.map((component) => {
      const { id } = component;
      const causes = [...(ended.get(id) ?? []), ...(open.get(id) ?? [])];
      const at = figuresAt(query, component);
      return [id, new Folding(component, causes, gaps.get(id) ?? [], page.historyDays, at)];
    }),
  );
}

class Folding implements ComponentHistory {
  readonly uptime: number | null;
  readonly size: number;
  readonly readAt: number;
  #folded: FoldedDays | undefined;
  #fold: (() => FoldedDays) | undefined;

  constructor(
    component: ComponentRow,
    causes: readonly SourcedCause[],
    gaps: readonly Interval[],
    dayCount: number,
    now: number,
  ) {
    this.uptime = uptime(causes, knownSpan(component, now, UPTIME_DAYS), gaps);
    this.readAt = now;
    this.size = dayCount + causes.length + gaps.length;
    this.#fold = () => ({
      days: foldDays(causes, knownSpan(component, now, dayCount), dayCount, gaps),
      entries: entriesByDay(causes, dayCount, now),
    });
  }

  get days(): readonly DayOf[] {
    return this.#foldOnce().days;
  }

  get entries(): ReadonlyMap<number, DayEntries> {
    return this.#foldOnce().entries;
  }

  #foldOnce(): FoldedDays {
    this.#folded ??= this.#fold?.() ?? { days: [], entries: new Map() };
    // Releases the causes, which are no longer needed.
    this.#fold = undefined;
    return this.#folded;
  }
}

type FoldedDays = Pick<ComponentHistory, "days" | "entries">;

function firstTime({ historyDays }: PageRow, now: number): number {
  return startOfDay(now) - (Math.max(UPTIME_DAYS, historyDays) - 1) * DAY_MS;
}

/**
 * Maximum number of days and intervals of all components together, enough for some thousand
 * components with 90 days.
 */
const KEPT_MAX_SIZE = 200_000;

/**
 * Time for which the figures of a component with an open cause are valid, since they change as time
 * passes.
 */
const MARKED_HOLD_MS = 10 * SECOND_MS;

interface CachedHistory {
  version: number;
  dayCount: number;
  gaps: readonly Interval[];
  history: ComponentHistory;
}

/** Number of components whose histories are read in one turn of the event loop. */
const COMPONENTS_PER_STEP = 200;

interface HistoryCache {
  read: ReadHistories;
  /**
   * Reads the histories that `read` would read, in several turns of the event loop for `runInSlices`. What changes
   * between two turns is read again by `read`.
   */
  steps(reader: Reader, query: HistoryQuery): Generator<number, void>;
  /** Drops what was prepared for a page and not read. */
  drop(pageId: string): void;
}

/**
 * Creates a reader that caches histories by the component's version, which every change of causes
 * raises (`refreshStatuses`). Gaps do not raise it and are compared. The result is the same object
 * while nothing changes and its figures are valid: ten seconds with an open cause, and not at all
 * before any data. In a fleet they are valid for the time that all nodes share. Only for committed
 * data: a rolled back version is used again for other content.
 *
 * Without this cache, the status page after a change takes 4.1 times the processor time (200
 * components, 1,000 incidents), since the rows of components cannot be reused either.
 */
export function createHistoryCache(): HistoryCache {
  const cache = new LRUCache<string, CachedHistory>({
    maxSize: KEPT_MAX_SIZE,
    sizeCalculation: ({ history }) => history.size + 1,
  });

  /** Histories from `steps` by page and component until they are read. A large page exceeds the cache alone. */
  const prepared = new Map<string, Map<string, CachedHistory>>();

  /** Finds the history of a component if its figures are valid. */
  function findValid(
    query: HistoryQuery,
    component: ComponentRow,
    gaps: Gaps,
  ): ComponentHistory | undefined {
    const { page, open, now, isShared } = query;
    const { id, version } = component;
    const cached = prepared.get(page.id)?.get(id) ?? cache.get(id);
    const isValid =
      cached?.version === version &&
      (isShared
        ? cached.history.readAt === figuresAt(query, component)
        : cached.history.readAt <= now &&
          now < holdsUntil(cached.history.readAt) &&
          cached.history.uptime !== null &&
          (!open.has(id) || now < cached.history.readAt + MARKED_HOLD_MS)) &&
      cached.dayCount === page.historyDays &&
      isSame(cached.gaps, gaps.get(id) ?? []);
    return isValid ? cached.history : undefined;
  }

  /** Reads and caches the histories of some components. */
  function fold(
    reader: Reader,
    query: HistoryQuery,
    components: readonly ComponentRow[],
    gaps: Gaps,
  ): Map<string, ComponentHistory> {
    const fresh = foldHistories(reader, { ...query, components }, gaps);
    for (const { id, version } of components) {
      const history = fresh.get(id);
      if (!history) continue;
      const dayCount = query.page.historyDays;
      const cached = { version, dayCount, gaps: gaps.get(id) ?? [], history };
      cache.set(id, cached);
      prepared.get(query.page.id)?.set(id, cached);
    }
    return fresh;
  }

  return {
    read(reader, query) {
      const gaps = readGaps(reader, query);
      const valid = new Map<string, ComponentHistory>();
      for (const component of query.components) {
        const history = findValid(query, component, gaps);
        if (history) valid.set(component.id, history);
      }
      prepared.delete(query.page.id);
      const components = query.components.filter(({ id }) => !valid.has(id));
      if (components.length === 0) return valid;
      for (const [id, history] of fold(reader, query, components, gaps)) valid.set(id, history);
      return valid;
    },
    *steps(reader, query) {
      const gaps = readGaps(reader, query);
      if (!prepared.has(query.page.id)) prepared.set(query.page.id, new Map());
      const missing = query.components.filter((one) => !findValid(query, one, gaps));
      for (let start = 0; start < missing.length; start += COMPONENTS_PER_STEP) {
        yield WHOLE_TURN;
        fold(reader, query, missing.slice(start, start + COMPONENTS_PER_STEP), gaps);
      }
      yield WHOLE_TURN;
    },
    drop: (pageId) => void prepared.delete(pageId),
  };
}

function isSame(one: readonly Interval[], other: readonly Interval[]): boolean {
  return (
    one.length === other.length &&
    one.every(
      ({ startedAt, endedAt }, index) =>
        startedAt === other[index]?.startedAt && endedAt === other[index].endedAt,
    )
  );
}

/** Maximum number of incidents and maintenances of a day that are named. */
const NAMED_MAX = 3;

/** Cause with the object that gives it. */
interface SourcedCause extends CauseInterval {
  source: CauseSource;
  sourceId: string;
}

/** Incidents and maintenances that affected a component on one day. */
export interface DayEntries {
  /** Ids of the first ones, worst first, then earliest first. */
  ids: readonly string[];
  /** Number of the others. */
  others: number;
}

/**
 * Returns the incidents and maintenances of the last `dayCount` UTC days up to `now` (unix ms) by start of
 * the day. Days without any are left out. Its time is proportional to the number of causes times their days.
 */
function entriesByDay(
  causes: readonly SourcedCause[],
  dayCount: number,
  now: number,
): Map<number, DayEntries> {
  const firstDay = startOfDay(now) - (dayCount - 1) * DAY_MS;
  const indexOf = (at: number) => Math.floor((at - firstDay) / DAY_MS);
  const days = new Map<number, { ids: string[]; others: number }>();
  for (const { id, own } of worstFirst(causes)) {
    let next = 0;
    for (const { startedAt, endedAt } of own) {
      // The end is exclusive.
      const end = Math.max(startedAt, Math.min(now, (endedAt ?? Infinity) - 1));
      const last = Math.min(dayCount - 1, indexOf(end));
      for (next = Math.max(next, indexOf(startedAt)); next <= last; next += 1) {
        const start = firstDay + next * DAY_MS;
        const day = days.get(start);
        if (!day) days.set(start, { ids: [id], others: 0 });
        else if (day.ids.length < NAMED_MAX) day.ids.push(id);
        else day.others += 1;
      }
    }
  }
  return days;
}

/** Groups causes by incident and maintenance, worst first, each with its causes in the order of time. */
function worstFirst(causes: readonly SourcedCause[]) {
  const entries = causes.filter(({ source }) => source === "incident" || source === "maintenance");
  return Array.from(
    Map.groupBy(entries, ({ sourceId }) => sourceId),
    ([id, own]) => ({
      id,
      severity: badnessOf(worstStatus(own.map(({ status }) => status))),
      own: own.toSorted((a, b) => a.startedAt - b.startedAt),
    }),
  ).sort(
    (a, b) =>
      b.severity - a.severity ||
      (a.own[0]?.startedAt ?? 0) - (b.own[0]?.startedAt ?? 0) ||
      (a.id < b.id ? -1 : 1),
  );
}

/** Time between two moments at which all nodes of a fleet make their documents again. A part of a day. */
export const SHARED_STEP_MS = 5 * MINUTE_MS;

/** Returns the start of the step of a time, in unix ms. */
export function stepStart(now: number): number {
  return now - (now % SHARED_STEP_MS);
}

/**
 * Returns the time to which the figures of something that last changed at `changedAt` apply on all nodes of a fleet, in
 * unix ms: they make it at different times within the step of `now`, and with equal bytes.
 */
export function sharedTime(now: number, changedAt: number): number {
  const start = stepStart(now);
  // A node whose clock is a little behind sees changes of its future. A wrong clock has no more effect than that.
  return Math.min(Math.max(start, changedAt), start + SHARED_STEP_MS - 1);
}
