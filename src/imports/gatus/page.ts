import { sha256Hex } from "../../base/hash";
import type { Impact } from "../../base/status";
import { oneLine } from "../../base/text";
import { toIso } from "../../base/time";
import { isTimeZone } from "../../features/pages/rules";
import {
  type ForeignKey,
  type FoundIncident,
  type FoundSchedule,
  keyOf,
  type LeftOut,
} from "../found";
import { cutName, cutText } from "../options";
import { PAGE } from "./http";
import {
  ANNOUNCEMENT,
  isYamlList,
  type Maintenance,
  MAINTENANCE,
  type Place,
  readTable,
  WrongField,
  type Yaml,
} from "./yaml";

const TYPE = "announcement";
const PATH = "announcements";
/** Maximum length of the text of an update. */
const TEXT_MAX = 10_000;
/** Number of characters by which the report names one. */
const SHOWN_MAX = 80;

const IMPACTS: Readonly<Record<string, Impact>> = { outage: "major", warning: "minor" };

/** Names of incidents by the type of their announcement, which has none. */
const NAMES: Readonly<Record<string, string>> = {
  outage: "Outage",
  warning: "Warning",
  information: "Information",
  operational: "Operational",
};

/** Returns announcements as incidents, oldest first. */
export function incidentsOf(
  values: readonly Yaml[],
  notRead: Set<string>,
): { incidents: FoundIncident[]; leftOut: LeftOut[] } {
  const incidents: FoundIncident[] = [];
  const leftOut: LeftOut[] = [];
  const taken = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const name = `Announcement ${index + 1}`;
    const leaveOut = (reason: string) => {
      leftOut.push({ foreign: { type: TYPE, id: `${PATH}[${index}]`, name }, reason });
    };
    try {
      const read = readTable(ANNOUNCEMENT, value, { path: `${PATH}[]`, notRead });
      const at = timeOf(read.timestamp ?? "");
      const { message = "", type = "none", archived = false } = read;
      if (at === undefined) leaveOut("Its timestamp is no time.");
      else if (message.trim() === "") leaveOut("It has no message.");
      else {
        // One that was edited stays the same object.
        const count = (taken.get(`${at} ${type}`) ?? 0) + 1;
        taken.set(`${at} ${type}`, count);
        const id = sha256Hex(`${at} ${type} ${count}`).slice(0, 12);
        incidents.push(incidentOf(id, { at, message, type, archived }));
      }
    } catch (error) {
      if (!(error instanceof WrongField)) throw error;
      leaveOut(`${error.message}.`);
    }
  }
  const startOf = ({ body }: FoundIncident) => Date.parse(body.started_at);
  return { incidents: incidents.sort((a, b) => startOf(a) - startOf(b)), leftOut };
}

function incidentOf(
  id: string,
  { at, message, type, archived }: { at: number; message: string; type: string; archived: boolean },
): FoundIncident {
  const time = toIso(at);
  const name = (Object.hasOwn(NAMES, type) && NAMES[type]) || "Announcement";
  const text = cutText(message, TEXT_MAX);
  const changes =
    text === message
      ? []
      : [
          {
            field: "message",
            from: `${message.length} characters`,
            to: `${TEXT_MAX} characters`,
            reason: "The texts of updates are cut at this length.",
          },
        ];
  return {
    foreign: { type: TYPE, id, name: cutName(oneLine(message), name, SHOWN_MAX) },
    body: {
      name,
      impact_override: IMPACTS[type] ?? "none",
      started_at: time,
      updates: [
        {
          status: archived ? "resolved" : "investigating",
          body: text,
          display_at: time,
          components: {},
        },
      ],
      postmortem: null,
    },
    changes,
    page: keyOf(PAGE),
    externalId: `${TYPE}:${id}`,
    number: null,
  };
}

/** Reads a timestamp of YAML, which is in UTC without a zone. */
function timeOf(text: string): number | undefined {
  const [, day, time = "00:00:00", zone = "Z"] =
    /^(\d{4}-\d{2}-\d{2})(?:(?:[Tt]|\s+)(\d{2}:\d{2}:\d{2}(?:\.\d+)?)\s*(Z|[+-]\d{2}:\d{2})?)?$/.exec(
      text.trim(),
    ) ?? [];
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T${time}${zone}`);
  return Number.isNaN(at) ? undefined : at;
}

const DAYS: Readonly<Record<string, string>> = {
  Sunday: "SUN",
  Monday: "MON",
  Tuesday: "TUE",
  Wednesday: "WED",
  Thursday: "THU",
  Friday: "FRI",
  Saturday: "SAT",
};

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
const NAME = "Regular maintenance";
const TEXT = "This window is planned regularly.";
const DIFFERENCE =
  "Gatus only sends no alerts meanwhile. Here the page shows it, and it does not count as downtime.";

/** Reads the maintenance windows of an endpoint. Throws a WrongField. */
export function readWindows(windows: readonly Yaml[] | undefined, place: Place): Maintenance[] {
  const path = `${place.path}.maintenance-windows[]`;
  return isYamlList(windows)
    ? windows.map((each) => readTable(MAINTENANCE, each, { ...place, path }))
    : [];
}

/** Returns the schedule of a window for components, or the reason for which it has none. */
export function scheduleOf(
  window: Maintenance,
  { id, name, components }: { id: string; name: string; components: readonly ForeignKey[] },
): FoundSchedule | LeftOut {
  const foreign = { type: "maintenance", id, name };
  const cron = cronOf(window);
  const { duration = 0, timezone = "UTC", enabled = true } = window;
  const minutes = Math.ceil(duration / MINUTE_MS);
  const leaveOut = (reason: string) => ({ foreign, reason });
  if (cron === undefined)
    return leaveOut("Its start is no time of a day, or its days are unknown.");
  if (minutes < 1 || minutes > DAY_MINUTES) return leaveOut("Its duration is not within a day.");
  if (!isTimeZone(timezone)) return leaveOut("Its time zone is not known.");
  if (components.length === 0) return leaveOut("It is about no component.");
  return {
    foreign,
    body: {
      name: NAME,
      body: TEXT,
      cron,
      duration_minutes: minutes,
      time_zone: timezone,
      enabled,
    },
    changes: [{ field: "maintenance", from: "no alerts", to: "maintenance", reason: DIFFERENCE }],
    page: keyOf(PAGE),
    components,
  };
}

/** Returns the times at which a window begins as a cron expression; undefined for unknown ones. */
function cronOf({ start = "", every = [] }: Maintenance): string | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(start) ?? [];
  const days = every.flatMap((day) => (Object.hasOwn(DAYS, day) ? DAYS[day] : []));
  if (hour === undefined || days.length !== every.length) return undefined;
  const onDays = days.length === 0 ? "*" : [...new Set(days)].join(",");
  return `${Number(minute)} ${Number(hour)} * * ${onDays}`;
}
