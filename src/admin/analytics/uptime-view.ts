import type { Static } from "@sinclair/typebox";
import type { Reader } from "../../db";
import {
  answerToCsv,
  findSubject,
  LINES_MAX,
  readPeriod,
  uptimeAnswer,
  UptimeLine,
} from "../../features/analytics";
import { listComponentsOfPage } from "../../features/components";
import { listMonitors, listMonitorsOfPage } from "../../features/monitors";
import type { PageRow } from "../../features/pages";
import { readPages } from "../page-choice";
import { periodInput, type Selection } from "./selection";
import { type PageDays, readPageDays } from "./uptime-days";

type Line = Static<typeof UptimeLine>;
type Answer = ReturnType<typeof uptimeAnswer>;

/** Monitors shown at most, since each needs its own query. The API returns the others. */
export const MONITORS_MAX = 200;

/** Uptime of a component and of the monitors that check it. */
export interface ComponentUptime {
  line: Line;
  monitors: readonly Line[];
}

/** Uptime of a page and its components. */
export interface PageUptime {
  page: PageRow;
  total: Answer["total"];
  components: readonly ComponentUptime[];
  /** Its days and those of its components; undefined if they are not drawn. */
  days: PageDays | undefined;
}

export interface UptimeView {
  selection: Selection;
  pages: readonly PageRow[];
  /** Uptime by page; undefined if a page has too many components to show. */
  uptimes: readonly PageUptime[] | undefined;
  /** Uptime of monitors without components; empty if a page is selected. */
  others: readonly Line[];
  /** True if monitors were left out because of `MONITORS_MAX`. */
  isTruncated: boolean;
  from: string;
  to: string;
  /** Source data, for the CSV file. */
  answers: readonly Answer[];
}

/** Reads the uptime of components, by page, and of monitors in a period. */
export function readUptime(reader: Reader, selection: Selection, now: number): UptimeView {
  const pages = readPages(reader);
  const period = readPeriod(periodInput(selection.span, now), now);
  const shown = pages.filter(({ slug }) => selection.page === undefined || slug === selection.page);
  const answers = new Map<string, Answer>();
  const monitorUptime = (id: string) => {
    const cached = answers.get(id);
    if (!cached && answers.size >= MONITORS_MAX) return undefined;
    const answer = cached ?? uptimeAnswer(reader, findSubject(reader, { monitor: id }), period);
    answers.set(id, answer);
    return answer.data[0];
  };
  let isTruncated = false;
  const linesOf = (ids: readonly string[]) =>
    ids.flatMap((id) => {
      const line = monitorUptime(id);
      isTruncated ||= line === undefined;
      return line ? [line] : [];
    });
  const isTooLong = shown.some(
    ({ id }) => listComponentsOfPage(reader, { pageId: id }).length > LINES_MAX,
  );
  const ofPages = isTooLong
    ? undefined
    : shown.map((page) => ({
        page,
        answer: uptimeAnswer(reader, findSubject(reader, { page: page.id }), period),
      }));
  const uptimes = ofPages?.map(({ page, answer }) => {
    const watching = Map.groupBy(
      listMonitorsOfPage(reader, { pageId: page.id }),
      ({ componentId }) => componentId,
    );
    const components = answer.data.map((line) => ({
      line,
      monitors: linesOf((watching.get(line.id) ?? []).map(({ id }) => id)),
    }));
    const days = readPageDays(reader, page, period, now);
    return { page, total: answer.total, components, days };
  });
  const others = selection.page === undefined ? linesOf(readUnattached(reader)) : [];
  const all = [...(ofPages ?? []).map(({ answer }) => answer), ...answers.values()];
  return {
    selection,
    pages,
    uptimes,
    others,
    isTruncated,
    from: new Date(period.from).toISOString(),
    to: new Date(period.to).toISOString(),
    answers: all,
  };
}

/** Returns the ids of monitors without components. */
function readUnattached(reader: Reader): string[] {
  return listMonitors(reader, { limit: MONITORS_MAX + 1 })
    .filter(({ components }) => components.length === 0)
    .map(({ row }) => row.id);
}

/**
 * Returns the uptime as CSV: components by page, then monitors, each with its calculation method.
 */
export function uptimeCsv({ answers }: UptimeView): string {
  const [first = "", ...rest] = answers.map((answer) => answerToCsv(UptimeLine, answer));
  const header =
    first.slice(0, first.indexOf("\n") + 1) || `${Object.keys(UptimeLine.properties)}\r\n`;
  const lines = [first, ...rest].map((csv) => csv.slice(csv.indexOf("\n") + 1));
  return header + lines.join("");
}
