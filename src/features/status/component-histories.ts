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
import { listNoDataOfPage } from "../monitors";
import type { PageRow } from "../pages";

/** The UTC days that a component's uptime in the document reaches back, today included. */
export const UPTIME_DAYS = 90;

/** How long figures hold though today goes on. It divides a day, so that a slot begins at midnight. */
const SLOT_MS = 5 * MINUTE_MS;

/** What a component's last days were like. */
export interface ComponentHistory {
  /** Over the last 90 UTC days, today included; null where nothing is known. */
  uptime: number | null;
  /** The days that the page shows, oldest first. */
  days: readonly DayOf[];
}

/** Whose histories are asked for. */
export interface HistoryQuery {
  /** Its `historyDays` are how many UTC days are shown, today included. */
  page: PageRow;
  /** Of the page. */
  components: readonly ComponentRow[];
  /** What marks each now, by its id: whoever asks has read it anyway. */
  open: ReadonlyMap<string, readonly CauseInterval[]>;
  /** Unix ms. */
  now: number;
}

/** Reads the histories of components, by their ids: as they are `now`, or were in the same five minutes. */
export type ReadHistories = (
  reader: Reader,
  query: HistoryQuery,
) => ReadonlyMap<string, ComponentHistory>;

/** When nothing was known of each component, by its id. */
export type Gaps = ReadonlyMap<string, readonly Interval[]>;

/** Which five minutes a moment lies in. Unix ms. */
export function slotOf(now: number): number {
  return Math.floor(now / SLOT_MS);
}

/** When histories that are read at `now` are to be read anew, in unix ms: midnight at the latest. */
export function historiesHoldUntil(now: number): number {
  return (slotOf(now) + 1) * SLOT_MS;
}

export const readComponentHistories: ReadHistories = (reader, query) =>
  foldHistories(reader, query, readGaps(reader, query));

/** When nothing was known of the page's components within the days that are told of. */
export function readGaps(reader: Reader, { page, now }: HistoryQuery): Gaps {
  const since = firstMoment(page, now);
  const gaps = listNoDataOfPage(reader, { pageId: page.id, since }).map(({ row }) => row);
  return Map.groupBy(gaps, (gap) => gap.componentId);
}

/** Reads what has marked the components, and folds it. */
export function foldHistories(
  reader: Reader,
  { page, components, open, now }: HistoryQuery,
  gaps: Gaps,
): Map<string, ComponentHistory> {
  const ids = JSON.stringify(components.map(({ id }) => id));
  const since = firstMoment(page, now);
  const ended = Map.groupBy(
    listEndedCausesOf(reader, { ids, since }),
    (cause) => cause.componentId,
  );
  return new Map(
    components.map((component) => {
      const { id } = component;
      const causes = [...(ended.get(id) ?? []), ...(open.get(id) ?? [])];
      const known = (days: number) => knownSpan(component, now, days);
      return [
        id,
        {
          uptime: uptime(causes, known(UPTIME_DAYS), gaps.get(id)),
          days: foldDays(causes, known(page.historyDays), page.historyDays, gaps.get(id)),
        },
      ];
    }),
  );
}

function firstMoment({ historyDays }: PageRow, now: number): number {
  return startOfDay(now) - (Math.max(UPTIME_DAYS, historyDays) - 1) * DAY_MS;
}
