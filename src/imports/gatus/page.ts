import { sha256Hex } from "../../base/hash";
import type { Impact } from "../../base/status";
import { oneLine, toRef } from "../../base/text";
import { DESCRIPTION_MAX } from "../../base/texts";
import { toIso } from "../../base/time";
import { isTimeZone } from "../../base/zones";
import {
  type ForeignKey,
  type Found,
  type FoundGroup,
  type FoundIncident,
  type FoundPage,
  type FoundSchedule,
  keyOf,
  type LeftOut,
} from "../found";
import { cutName, cutText, Notes } from "../kit";
import {
  ANNOUNCEMENT,
  type CONFIG,
  type Maintenance,
  MAINTENANCE,
  type Place,
  readTable,
  type Values,
  WrongField,
} from "./tables";
import { isYamlList, type Yaml } from "./yaml";

const ANNOUNCEMENT_TYPE = "announcement";

const ANNOUNCEMENTS = "announcements";

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

/** Finds announcements as incidents, oldest first. */
export function findIncidents(
  values: readonly Yaml[],
  notRead: Set<string>,
  { incidents, leftOut }: Found,
): void {
  const taken = new Map<string, number>();
  for (const [index, value] of values.entries()) {
    const name = `Announcement ${index + 1}`;
    const leaveOut = (reason: string) => {
      const foreign = { type: ANNOUNCEMENT_TYPE, id: `${ANNOUNCEMENTS}[${index}]`, name };
      leftOut.push({ foreign, reason });
    };
    try {
      const read = readTable(ANNOUNCEMENT, value, { path: `${ANNOUNCEMENTS}[]`, notRead });
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
  incidents.sort((a, b) => startOf(a) - startOf(b));
}

function incidentOf(
  id: string,
  { at, message, type, archived }: { at: number; message: string; type: string; archived: boolean },
): FoundIncident {
  const time = toIso(at);
  const name = (Object.hasOwn(NAMES, type) && NAMES[type]) || "Announcement";
  const text = cutText(message, TEXT_MAX);
  const notes = new Notes();
  if (text !== message) {
    const reason = "The texts of updates are cut at this length.";
    notes.change("message", `${message.length} characters`, `${TEXT_MAX} characters`, reason);
  }
  return {
    foreign: { type: ANNOUNCEMENT_TYPE, id, name: cutName(oneLine(message), name, SHOWN_MAX) },
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
    changes: notes.changes,
    page: keyOf(PAGE),
    externalId: `${ANNOUNCEMENT_TYPE}:${id}`,
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

const WINDOW_NAME = "Regular maintenance";

const WINDOW_TEXT = "This window is planned regularly.";

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
      name: WINDOW_NAME,
      body: WINDOW_TEXT,
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

export type Config = Values<typeof CONFIG>;

/** The only page of a configuration. */
export const PAGE = { type: "page", id: "page" } as const;

const NAME = "Status";

/** Slug without a title. The server itself has the path `/status`. */
const SLUG = "status-page";

/** Returns the page. Those of Gatus that ask for a sign-in become private. */
export function pageOf({ ui, security }: Config): FoundPage {
  const notes = new Notes();
  const name = ui?.title?.trim() || NAME;
  const description = ui?.description ?? "";
  const text = cutText(description, DESCRIPTION_MAX);
  const reason = `Descriptions have at most ${DESCRIPTION_MAX} characters.`;
  notes.text("ui.description", description, text, reason);
  if (ui?.link) {
    const linkReason = "The logo of a page leads to the page.";
    // As it is written, so that secrets in it are found.
    notes.changes.push({ field: "ui.link", from: ui.link, to: null, reason: linkReason });
  }
  return {
    foreign: { ...PAGE, name: cutName(name, NAME) },
    body: {
      slug: toRef(ui?.title ?? "") || SLUG,
      name,
      description: text || null,
      visibility: security === undefined ? "public" : "private",
      compat: ["gatus"],
    },
    changes: notes.changes,
    isDefault: true,
  };
}

/** Returns the key of a group. */
export function groupOf(group: string): ForeignKey {
  return keyOf({ type: "group", id: group });
}

/** Returns the groups, in the order in which they are first named. */
export function groupsOf(names: readonly string[]): FoundGroup[] {
  const all = [...new Set(names.filter((name) => name.trim() !== ""))];
  return all.map((name) => ({
    foreign: { type: "group", id: name, name: cutName(name, "Unnamed group") },
    body: { name: name.trim() },
    changes: [],
    page: keyOf(PAGE),
  }));
}
