import type { Reader } from "../../db";
import {
  listComponentsOfPage,
  listOpenCausesOfPage,
  uptimeOfDays,
} from "../../features/components";
import type { PageRow } from "../../features/pages";
import { readComponentHistories, UPTIME_DAYS } from "../../features/status";
import { DAY_MS, startOfDay, toIso } from "../../kernel/time";
import { drawDays } from "../../public/component-row";
import { shortDay, type StatusDay, type UptimePoint } from "../../ui";

/**
 * Components of a page up to which charts are drawn: folding the days of 100 components takes at most 6 ms,
 * as measured for pages of 1,000.
 */
const COMPONENTS_MAX = 100;

/** Days of a page and of its components in a period. */
export interface PageDays {
  /** Oldest first. */
  whole: readonly UptimePoint[];
  /** Days by component id, oldest first. */
  components: ReadonlyMap<string, readonly StatusDay[]>;
}

/**
 * Reads the days of a page from the first to the last day of a period (unix ms). Returns undefined for a
 * large page, for a single day, and for a period that begins more than 90 days ago.
 */
export function readPageDays(
  reader: Reader,
  page: PageRow,
  period: { from: number; to: number },
  now: number,
): PageDays | undefined {
  const from = startOfDay(period.from);
  const isInReach = from > startOfDay(now) - UPTIME_DAYS * DAY_MS;
  const count = Math.ceil((period.to - from) / DAY_MS);
  const components = listComponentsOfPage(reader, { pageId: page.id });
  const isDay = period.to - period.from <= DAY_MS;
  if (!isInReach || isDay || components.length > COMPONENTS_MAX) return undefined;
  const causes = listOpenCausesOfPage(reader, { pageId: page.id });
  const histories = readComponentHistories(reader, {
    page: { ...page, historyDays: UPTIME_DAYS },
    components,
    open: Map.groupBy(causes, ({ componentId }) => componentId),
    now,
  });
  const days = Array.from(histories, ([id, history]) => ({
    id,
    own: history.days.filter(({ start }) => start >= from && start < period.to),
  }));
  const starts = Array.from({ length: count }, (_, index) => from + index * DAY_MS);
  return {
    whole: starts.map((start) => ({
      name: shortDay(toIso(start)),
      uptime: uptimeOfDays(days.flatMap(({ own }) => own.filter((day) => day.start === start))),
    })),
    components: new Map(days.map(({ id, own }) => [id, drawDays(own)])),
  };
}
