import { isTimeZone } from "../../pages/rules";
import type { ForeignKey, FoundSchedule, LeftOut } from "../source";
import { keyOf } from "../source";
import { type Maintenance, MAINTENANCE } from "./document";
import { type Place, readTable } from "./fields";
import { PAGE } from "./page";
import { isYamlList, type Yaml } from "./yaml";

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
