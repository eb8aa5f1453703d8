import { crons } from "../../../base/cron";
import type { ImportChange } from "../../../base/import-report";
import { oneLine } from "../../../base/text";
import { toIso } from "../../../base/time";
import { isTimeZone } from "../../pages/rules";
import {
  type ForeignKey,
  type FoundMaintenance,
  type FoundSchedule,
  keyOf,
  type LeftOut,
} from "../source";
import type { MonitorRow } from "./checked";
import { byId, groupedBy, idOf, type KumaData } from "./data";
import { parseUtc } from "./incidents";
import { Notes } from "./notes";
import type { Places } from "./places";
import { serverTimeZone } from "./pages";
import { flag, number, type Row, text } from "./values";

const MANUAL = "It has no end, which every maintenance here needs.";
const NO_PAGE = "Its monitors are on no status page there. Plan it on the page that they got here.";
const NOT_ACTIVE = "It is not active.";
const NO_TIMES = "Its dates cannot be read.";

/** Maximum duration of an occurrence, and of days between two, as schedules have them. */
const DURATION_MINUTES_MAX = 43_200;
const EVERY_DAYS_MAX = 366;

/** A part of a maintenance for one page. */
interface Part {
  page: ForeignKey;
  components: readonly ForeignKey[];
  /** Differences, in the first part. */
  changes: readonly ImportChange[];
  /** Id of the maintenance, with that of the page if it is for several. */
  id: string;
  /** Number of the maintenance, which only the first part keeps. */
  number: number | null;
}

interface FoundMaintenances {
  maintenance: FoundMaintenance[];
  schedules: FoundSchedule[];
  leftOut: LeftOut[];
}

/** Returns the maintenance of each status page, and its schedules. */
export function findMaintenance(
  data: KumaData,
  settings: ReadonlyMap<string, unknown>,
  places: Places,
): FoundMaintenances {
  const found: FoundMaintenances = { maintenance: [], schedules: [], leftOut: [] };
  const partsOf = partsReader(data, places);
  const serverZone = serverTimeZone(settings) ?? "UTC";
  for (const row of data.maintenance) {
    const title = text(row["title"]);
    const leaveOut = (reason: string) => {
      const foreign = { type: "maintenance", id: String(idOf(row)), name: title };
      found.leftOut.push({ foreign, reason: oneLine(reason) });
    };
    const strategy = text(row["strategy"]);
    const parts = partsOf(row);
    const zone = timeZoneOf(row, serverZone);
    if (strategy === "manual") leaveOut(MANUAL);
    else if (parts.length === 0) leaveOut(NO_PAGE);
    else if (strategy === "single") {
      const times = timesOf(row, zone);
      if (!flag(row["active"])) leaveOut(NOT_ACTIVE);
      else if (!times) leaveOut(NO_TIMES);
      else {
        for (const part of parts) {
          found.maintenance.push(maintenanceOf(row, part, times, createdAt(data, part)));
        }
      }
    } else {
      const schedule = scheduleOf(row, zone);
      if (typeof schedule === "string") leaveOut(schedule);
      else {
        for (const part of parts) {
          const changes = [...schedule.changes, ...part.changes];
          found.schedules.push({ ...schedule, ...targetOf(row, part), changes });
        }
      }
    }
  }
  return found;
}

/** Returns a function that divides a maintenance among pages. */
function partsReader(data: KumaData, places: Places): (row: Row) => Part[] {
  const monitors = byId(data.monitor);
  const named = groupedBy(data.monitor_maintenance, "maintenance_id");
  const pages = groupedBy(data.maintenance_status_page, "maintenance_id");
  return (row) => {
    const own = (named.get(idOf(row)) ?? []).flatMap(
      (each) => monitors.get(idOf(each, "monitor_id")) ?? [],
    );
    const shown = new Set(own.flatMap((monitor) => places.shownBy(monitor)));
    const byPage = Map.groupBy(shown, ({ page }) => page);
    const wanted = (pages.get(idOf(row)) ?? []).map((each) =>
      keyOf({ type: "status_page", id: String(idOf(each, "status_page_id")) }),
    );
    const on = wanted.length > 0 ? [...new Set(wanted)] : [...byPage.keys()];
    const changes = monitorsElsewhere(own, on, places);
    return on.map((page, index) => ({
      changes: index === 0 ? changes : [],
      page,
      components: (byPage.get(page) ?? []).map(({ foreign }) => keyOf(foreign)),
      id: on.length === 1 ? String(idOf(row)) : `${idOf(row)}/${page.split(":")[1]}`,
      number: index === 0 ? idOf(row) : null,
    }));
  };
}

/** Notes monitors that are on none of the pages of a maintenance. */
function monitorsElsewhere(
  monitors: readonly MonitorRow[],
  pages: readonly ForeignKey[],
  places: Places,
): ImportChange[] {
  const notes = new Notes();
  const names = monitors
    .filter((monitor) => !places.shownBy(monitor).some(({ page }) => pages.includes(page)))
    .map(({ name }) => text(name));
  if (names.length > 0) {
    const reason = "They are on none of its pages, so their failures count meanwhile.";
    notes.change("monitors", names.join(", "), null, reason);
  }
  return notes.changes;
}

function targetOf(row: Row, { page, components, id }: Part) {
  return { page, components, foreign: { type: "maintenance", id, name: text(row["title"]) } };
}

/** Returns the time zone of the dates of a maintenance. Those from before 1.21.2 have none, and are in UTC. */
function timeZoneOf(row: Row, serverZone: string): string {
  const zone = text(row["timezone"]);
  if (zone === "SAME_AS_SERVER") return serverZone;
  return isTimeZone(zone) ? zone : "UTC";
}

/** Returns a local time of a text such as `2026-01-10 02:00`; undefined for other texts. */
function localTime(value: Row[string] | undefined): Temporal.PlainDateTime | undefined {
  const at = parseUtc(text(value));
  if (at === undefined) return undefined;
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO("UTC").toPlainDateTime();
}

/** Planned start and end, in unix ms. */
interface Times {
  start: number;
  end: number;
}

function timesOf(row: Row, zone: string): Times | undefined {
  const [start, end] = [row["start_date"], row["end_date"]].map(
    (date) => localTime(date)?.toZonedDateTime(zone).epochMilliseconds,
  );
  return start === undefined || end === undefined || start >= end ? undefined : { start, end };
}

/** Returns when the page of a part was created, in unix ms: its maintenance was planned then or later. */
function createdAt({ status_page }: KumaData, { page }: Part): number | undefined {
  const row = status_page.find((each) => page === `status_page:${idOf(each)}`);
  return parseUtc(text(row?.["created_date"]));
}

function maintenanceOf(
  row: Row,
  part: Part,
  { start, end }: Times,
  created = start,
): FoundMaintenance {
  return {
    ...targetOf(row, part),
    number: part.number,
    body: {
      name: text(row["title"]),
      scheduled_for: toIso(start),
      scheduled_until: toIso(end),
      updates: [
        {
          status: "scheduled",
          body: text(row["description"]),
          display_at: toIso(Math.min(created, start)),
        },
      ],
    },
    changes: part.changes,
  };
}

/** Returns a schedule without its page, or the reason, in one sentence, for which it cannot be moved. */
function scheduleOf(row: Row, zone: string): Pick<FoundSchedule, "body" | "changes"> | string {
  const notes = new Notes();
  const days = text(row["strategy"]) === "recurring-interval" ? number(row["interval_day"], 1) : 1;
  const cron = cronOf(row, notes, days);
  const problem = crons().errorOf(cron);
  if (problem !== undefined) return `Its cron expression ${cron} ${problem}.`;
  const minutes = Math.ceil(number(row["duration"], 0) / 60);
  if (minutes < 1) return "It has no duration.";
  const start = localTime(row["start_date"]);
  if (days > 1 && !start) return "It has no first day, from which its days could be counted.";
  const end = localTime(row["end_date"]);
  return {
    body: {
      name: text(row["title"]),
      body: text(row["description"]),
      cron,
      duration_minutes: notes.clamped("duration", minutes, 1, DURATION_MINUTES_MAX, "minutes"),
      time_zone: zone,
      every_days: days > 1 ? notes.clamped("interval_day", days, 1, EVERY_DAYS_MAX, "days") : null,
      starts_on: start?.toPlainDate().toString() ?? null,
      // The end is a time: an end at midnight does not include that day.
      ends_on: end?.subtract({ minutes: 1 }).toPlainDate().toString() ?? null,
      enabled: flag(row["active"]),
    },
    changes: notes.changes,
  };
}

/** Returns the cron expression with five fields. That of an interval is made of its time of day. */
function cronOf(row: Row, notes: Notes, days: number): string {
  const fields = text(row["cron"]).trim().split(/\s+/);
  const cron = fields.join(" ");
  if (text(row["strategy"]) === "recurring-interval") {
    const [, hour, minute] = /^(\d{1,2}):(\d{1,2})/.exec(text(row["start_time"])) ?? [];
    if (hour === undefined) return cron;
    // 1.x writes the interval into the days of the month.
    if (days > 1 && fields[2] !== "*" && cron !== "") {
      const reason = "Uptime Kuma counts the days from the start of each month.";
      notes.change("cron", cron, `every ${days} days`, reason);
    }
    return `${Number(minute)} ${Number(hour)} * * *`;
  }
  // A first field for seconds says nothing if it is 0.
  return fields.length === 6 && fields[0] === "0" ? fields.slice(1).join(" ") : cron;
}
