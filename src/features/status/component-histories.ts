import type { Reader } from "../../db/statements";
import { DAY_MS, MINUTE_MS, startOfDay } from "../../base/time";
import type { ComponentRow } from "../components/store";
import { type DayOf, foldDays, type Interval } from "../components/history";
import { knownSpan, uptime } from "../components/rules";
import { listEndedCausesOf } from "../components/cause-store";
import { listNoDataOfPage } from "../monitors/checks-store";
import type { PageRow } from "../pages/store";
import { type DayEntries, entriesByDay, type SourcedCause } from "./day-entries";
import { sharedTime } from "./shared-time";

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
export interface HistoryQuery {
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
export type Gaps = ReadonlyMap<string, readonly Interval[]>;

/** Returns the time to which the figures of a component apply, in unix ms. */
export function figuresAt({ now, isShared }: HistoryQuery, { updatedAt }: ComponentRow): number {
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
export function readGaps(reader: Reader, { page, now }: HistoryQuery): Gaps {
  const since = firstTime(page, now);
  const gaps = listNoDataOfPage(reader, { pageId: page.id, since }).map(({ row }) => row);
  return Map.groupBy(gaps, (gap) => gap.componentId);
}

/** Reads the causes of the components and folds them. */
export function foldHistories(
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
