/*
 * Monthly reports of pages, computed anew whenever one is read: `reportSteps`. Months are those of UTC, as uptime is.
 * `mails.ts` mails them.
 */
import { notFound } from "../../base/errors";
import { sha256Hex } from "../../base/hash";
import { WHOLE_TURN } from "../../base/in-slices";
import type { Impact, IncidentStatus, MaintenanceStatus } from "../../base/status";
import { DAY_MS, toIso } from "../../base/time";
import type { Reader } from "../../db/statements";
import { figuresOfTime, foldComponents } from "../analytics/analytics";
import type { UptimeFigures } from "../analytics/wire";
import { addTimes, type DayOf, type Folded, knownFrom, type Span } from "../components/rules";
import { type ComponentRow, listComponentsOfPage, listGroups } from "../components/store";
import { listSummariesWithin as listIncidentsWithin } from "../incidents/store";
import { listSummariesWithin as listMaintenanceWithin } from "../maintenance/store";
import { type LatencyFigures, latencyOfEach } from "../monitors/latency";
import { listMonitorsOfPage } from "../monitors/store";
import type { PageRow } from "../pages/store";
import { historyStartOf } from "../status/entries";
import { findMailedReport } from "./store";

/** A month in UTC. */
interface ReportMonth {
  /** `YYYY-MM`. */
  name: string;
  /** Start of the month and of the next one, in unix ms. */
  from: number;
  to: number;
  /** Names of the months before and after that have a report. */
  previous: string | undefined;
  next: string | undefined;
}

type ReportedPage = Pick<PageRow, "id" | "createdAt">;

/** Returns the name of the UTC month that is `offset` months after that of a time. */
export function monthNameAt(at: number, offset = 0): string {
  const day = new Date(at);
  return toIso(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + offset)).slice(0, 7);
}

/**
 * Finds a month of a page by its name (`YYYY-MM`), at `now` (unix ms); undefined for one that has not begun, and for one in
 * which nothing of the page was known.
 */
export function findReportMonth(
  reader: Reader,
  page: ReportedPage,
  name: string,
  now: number,
): ReportMonth | undefined {
  const from = Date.parse(`${name}-01`);
  const components = listComponentsOfPage(reader, { pageId: page.id });
  const first = Math.min(historyStartOf(reader, page), ...components.map(knownFrom));
  const [oldest, present] = [monthNameAt(Math.max(0, first)), monthNameAt(now)];
  if (name < oldest || name > present) return undefined;
  return {
    name,
    from,
    to: Date.parse(`${monthNameAt(from, 1)}-01`),
    previous: name > oldest ? monthNameAt(from, -1) : undefined,
    next: name < present ? monthNameAt(from, 1) : undefined,
  };
}

/** Returns a month of a page. Throws `not_found`. */
export function getReportMonth(
  reader: Reader,
  page: ReportedPage,
  name: string,
  now: number,
): ReportMonth {
  const month = findReportMonth(reader, page, name, now);
  if (!month) throw notFound("report");
  return month;
}

/** A component in a report. */
export interface ReportedComponent {
  row: ComponentRow;
  /** Name of its group; null without one. */
  group: string | null;
  /** UTC days of the month that have begun, oldest first. */
  days: readonly DayOf[];
  figures: UptimeFigures;
  /** True if the uptime reached the goal; null without a goal, and without known time. */
  isMet: boolean | null;
  /** Response times of its monitors; undefined without a response. */
  latency: LatencyFigures | undefined;
}

/** An incident or maintenance in a report. Times in unix ms. */
export type ReportedEntry = {
  id: string;
  name: string;
  /** Language of a name that Allclear wrote; null for that of a person. */
  nameLang: string | null;
  from: number;
  /** Null while it is not over. */
  to: number | null;
  /** The part of its time that lies in the month, in ms. */
  lasted: number;
} & (
  | { kind: "incident"; status: IncidentStatus; impact: Impact }
  | { kind: "maintenance"; status: MaintenanceStatus }
);

/** Report of a month of a page. */
export interface Report {
  month: ReportMonth;
  /** Time up to which it goes, in unix ms: the end of the month, or that of its reading. */
  until: number;
  isOver: boolean;
  /** Figures of all components together. */
  total: UptimeFigures;
  /** In the order of the page. */
  components: readonly ReportedComponent[];
  /** Incidents and maintenance in the month, also those that began before it, newest first. */
  incidents: readonly ReportedEntry[];
  maintenance: readonly ReportedEntry[];
  /** For each of the lists, true if older entries were left out because of `ENTRIES_MAX`. */
  isTruncated: Readonly<Record<ReportedEntry["kind"], boolean>>;
  /** SHA-256 of what `digestOf` covers. */
  digest: string;
  /** Time at which a report with other figures was mailed, in unix ms; undefined if there is none. */
  changedSince: number | undefined;
}

/** Incidents, and maintenances, of a report at most. */
const ENTRIES_MAX = 200;
/** Components whose response times are read at most. The API returns those of others. */
const LATENCIES_MAX = 100;
/** Monitors of one component whose response times are read, as many as the API reads together. */
const MONITORS_MAX = 20;
/** Components whose causes are read in one turn of the event loop. */
const COMPONENTS_PER_TURN = 50;

/** Difference of two shares that comes from the rounding of a goal in per cent. */
const ROUNDING = 1e-9;

/**
 * Returns the steps that read the report of a month, each of which yields its cost. `now` in unix
 * ms.
 */
export function* reportSteps(
  reader: Reader,
  page: ReportedPage,
  month: ReportMonth,
  now: number,
): Generator<number, Report> {
  const span = { from: month.from, to: Math.min(month.to, now) };
  const pageId = page.id;
  const groups = listGroups(reader, { pageId });
  const groupNames = new Map(groups.map(({ id, name }) => [id, name]));
  const rows = inPageOrder(listComponentsOfPage(reader, { pageId }), groups);
  const days: DayOf[][] = [];
  const spans = daysOf(span);
  for (let first = 0; first < rows.length; first += COMPONENTS_PER_TURN) {
    const part = rows.slice(first, first + COMPONENTS_PER_TURN);
    for (const folded of foldComponents(reader, part, { ...span, spans })) {
      days.push(folded.map((day, index) => ({ ...day, start: spans[index]?.from ?? span.from })));
    }
    yield WHOLE_TURN;
  }
  const times = days.map((own) => addTimes(own.map(({ time }) => time)));
  const latencies = yield* latencySteps(reader, pageId, span);
  const length = span.to - span.from;
  const components = rows.map((row, index): ReportedComponent => {
    const figures = figuresOfTime(times[index] ?? addTimes([]), length);
    const group = row.groupId === null ? null : (groupNames.get(row.groupId) ?? null);
    const isMet = isGoalMet(row.uptimeGoal, figures.uptime);
    const latency = latencies.get(row.id);
    return { row, group, days: days[index] ?? [], figures, isMet, latency };
  });
  const query = { pageId, ...span, limit: ENTRIES_MAX + 1 };
  const within = (from: number, to: number | null) =>
    Math.max(0, Math.min(to ?? span.to, span.to) - Math.max(from, span.from));
  const incidents = listIncidentsWithin(reader, query).map(
    ({ startedAt: from, resolvedAt: to, ...incident }): ReportedEntry => {
      return { kind: "incident", ...incident, from, to, lasted: within(from, to) };
    },
  );
  const maintenance = listMaintenanceWithin(reader, query).map(
    ({ startedAt, endedAt: to, ...one }): ReportedEntry => {
      const from = startedAt ?? 0;
      return { kind: "maintenance", nameLang: null, ...one, from, to, lasted: within(from, to) };
    },
  );
  const read = {
    month,
    until: span.to,
    isOver: month.to <= now,
    total: sumOf(components, times, length),
    components,
    incidents: incidents.slice(0, ENTRIES_MAX),
    maintenance: maintenance.slice(0, ENTRIES_MAX),
    isTruncated: {
      incident: incidents.length > ENTRIES_MAX,
      maintenance: maintenance.length > ENTRIES_MAX,
    },
  };
  const digest = digestOf(read);
  const mailed = findMailedReport(reader, { pageId, month: month.name });
  const changedSince = mailed && mailed.digest !== digest ? mailed.mailedAt : undefined;
  return { ...read, digest, changedSince };
}

/** Returns components as the page lists them: those without a group, then those of each group. */
function inPageOrder(
  rows: readonly ComponentRow[],
  groups: readonly { id: string }[],
): ComponentRow[] {
  const known = new Set(groups.map(({ id }) => id));
  const groupOf = ({ groupId }: ComponentRow) =>
    groupId !== null && known.has(groupId) ? groupId : null;
  const byGroup = Map.groupBy(rows, groupOf);
  return [null, ...known].flatMap((id) => byGroup.get(id) ?? []);
}

/** Returns the UTC days of a part of a month. */
function daysOf({ from, to }: Span): Span[] {
  return Array.from({ length: Math.ceil((to - from) / DAY_MS) }, (_, index) => {
    const start = from + index * DAY_MS;
    return { from: start, to: Math.min(to, start + DAY_MS) };
  });
}

/** Reads the response times of components by id. The duration that a job reports is no response time. */
function* latencySteps(
  reader: Reader,
  pageId: string,
  span: Span,
): Generator<number, Map<string, LatencyFigures>> {
  const measuring = listMonitorsOfPage(reader, { pageId }).filter(({ type }) => type !== "push");
  const byComponent = Map.groupBy(measuring, ({ componentId }) => componentId);
  const found = new Map<string, LatencyFigures>();
  for (const [id, monitors] of [...byComponent].slice(0, LATENCIES_MAX)) {
    const nums = monitors.slice(0, MONITORS_MAX).map(({ num }) => num);
    const { total } = latencyOfEach(reader, nums, [span]);
    if (total.count > 0) found.set(id, total);
    yield WHOLE_TURN;
  }
  return found;
}

function isGoalMet(goal: number | null, uptime: number | null): boolean | null {
  return goal === null || uptime === null ? null : uptime + ROUNDING >= goal / 100;
}

function sumOf(
  components: readonly unknown[],
  times: readonly Folded["time"][],
  length: number,
): UptimeFigures {
  return figuresOfTime(addTimes(times), length * components.length);
}

/**
 * Returns the digest of what a report claims: uptime and goals by component, incidents and maintenance. Names may change,
 * and response times are kept for a shorter time than the rest. A component of which nothing was known in the month, such
 * as one that was added since, is no part of it.
 */
function digestOf({
  month,
  components,
  incidents,
  maintenance,
}: Pick<Report, "month" | "components" | "incidents" | "maintenance">): string {
  const facts = {
    month: month.name,
    components: components
      .filter(({ figures }) => figures.counted_ms + figures.maintenance_ms > 0)
      // Components that were moved on the page since are the same.
      .toSorted((a, b) => (a.row.id < b.row.id ? -1 : 1))
      .map(({ row, figures }) => [row.id, row.uptimeGoal, figures]),
    incidents: incidents.map((one) => [one.id, one.kind === "incident" && one.impact, one.lasted]),
    maintenance: maintenance.map(({ id, lasted }) => [id, lasted]),
  };
  return sha256Hex(JSON.stringify(facts));
}

/**
 * Returns the part of a report that visitors of the page see: components whose history the page shows, and the response
 * times that it shows. A component that is only shown while it is not operational is in it if it was not.
 */
export function forVisitors(report: Report): Report {
  const components = report.components
    .filter(({ row, figures }) => {
      const { degraded_ms, partial_outage_ms, major_outage_ms, maintenance_ms } = figures;
      const troubled =
        degraded_ms + (partial_outage_ms ?? 0) + (major_outage_ms ?? 0) + maintenance_ms;
      return row.showcase && (!row.onlyShowIfDegraded || troubled > 0);
    })
    .map((one) => (one.row.showLatency ? one : { ...one, latency: undefined }));
  const times = components.map(({ figures }) => timeOf(figures));
  const length = report.until - report.month.from;
  return { ...report, components, total: sumOf(components, times, length) };
}

/** Returns the times of which figures of a component were made. */
function timeOf(figures: UptimeFigures): Folded["time"] {
  const [partial, major] = [figures.partial_outage_ms ?? 0, figures.major_outage_ms ?? 0];
  return {
    operational: figures.counted_ms - figures.degraded_ms - partial - major,
    under_maintenance: figures.maintenance_ms,
    degraded_performance: figures.degraded_ms,
    partial_outage: partial,
    major_outage: major,
  };
}
