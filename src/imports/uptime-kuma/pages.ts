import { crons } from "../../base/cron";
import type { ImportChange } from "../../base/import-report";
import { plainText } from "../../base/markdown";
import { oneLine } from "../../base/text";
import { DESCRIPTION_MAX } from "../../base/texts";
import { DAY_MS, parseDay, SECOND_MS, toIso } from "../../base/time";
import { isTimeZone } from "../../base/zones";
import {
  type ForeignKey,
  type Found,
  type FoundComponent,
  type FoundMaintenance,
  type FoundMonitor,
  type FoundPage,
  type FoundSchedule,
  keyOf,
} from "../found";
import {
  byId,
  flag,
  groupedBy,
  idOf,
  type KumaData,
  type MonitorRow,
  number,
  type Row,
  text,
  textOf,
} from "./database";
import { isGroup, type MonitorTree } from "./monitors";
import { Notes } from "../kit";
import type { DomainMonitor } from "./notifications";

/** Default of `auto_refresh_interval` in Uptime Kuma, in seconds. */
const REFRESH = 300;

/** Reads a picture by the name of its file; undefined without the folder or the file. */
export type ReadPicture = (name: string) => Uint8Array | undefined;

function pageKey(page: Row, column = "id"): ForeignKey {
  return keyOf({ type: "status_page", id: String(idOf(page, column)) });
}

/** Returns the status pages. */
export function findPages(
  data: KumaData,
  settings: ReadonlyMap<string, unknown>,
  readPicture: ReadPicture,
): FoundPage[] {
  const domains = groupedBy(data.status_page_cname, "status_page_id");
  const timeZone = serverTimeZone(settings);
  const [, entry] = /^statusPage-(.*)$/.exec(textOf(settings.get("entryPage"))) ?? [];
  return data.status_page.map((row) => {
    const notes = new Notes();
    const [slug, name] = [text(row["slug"]), text(row["title"])];
    const theme = text(row["theme"]);
    const logo = logoOf(text(row["icon"]), readPicture, notes);
    const body = {
      slug,
      name,
      description: descriptionOf(text(row["description"]), notes) || null,
      theme: theme === "light" || theme === "dark" ? theme : "system",
      visibility: flag(row["published"]) ? "public" : "private",
      compat: ["uptime-kuma"],
      ...(timeZone !== undefined && { time_zone: timeZone }),
    } satisfies FoundPage["body"];
    noteUnused(row, notes);
    return {
      foreign: { type: "status_page", id: String(idOf(row)), name },
      number: idOf(row),
      body,
      changes: notes.changes,
      isDefault: entry === slug,
      domains: (domains.get(idOf(row)) ?? []).map(({ domain = null }) => text(domain)),
      logo,
    };
  });
}

/** Returns the time zone of Uptime Kuma's server, if this server knows it. */
function serverTimeZone(settings: ReadonlyMap<string, unknown>): string | undefined {
  const zone = textOf(settings.get("serverTimezone"));
  return zone !== "" && isTimeZone(zone) ? zone : undefined;
}

/** Returns a description as plain text, without the Markdown of Uptime Kuma. */
function descriptionOf(markdown: string, notes: Notes): string {
  const plain = plainText(markdown, DESCRIPTION_MAX);
  if (plain === markdown.trim().replace(/\s+/g, " ")) return markdown;
  notes.change("description", markdown, plain, "Descriptions of pages are plain text.");
  return plain;
}

/** Returns the picture of a page. The picture of all new pages is none. */
function logoOf(icon: string, readPicture: ReadPicture, notes: Notes): Uint8Array | null {
  if (icon === "" || icon === "/icon.svg") return null;
  const [, file] = /^\/upload\/([\w.-]+)(?:\?.*)?$/.exec(icon) ?? [];
  const [, base64] = /^data:[^,]{0,100};base64,([A-Za-z0-9+/=\s]*)$/.exec(icon) ?? [];
  const inUrl = base64 === undefined ? undefined : Buffer.from(base64, "base64");
  const bytes = file === undefined ? inUrl : readPicture(file);
  if (bytes) return bytes;
  const reason =
    file === undefined
      ? "Pictures at other addresses are not fetched."
      : "It is in the folder upload of its data directory. Import that directory, or upload the picture.";
  notes.drop("icon", reason);
  return null;
}

const isSet = (value: Row[string] | undefined) => text(value).trim() !== "";
const isOn = (value: Row[string] | undefined) => flag(value);

/** Settings of pages that have no counterpart, with the test that a value is set. */
const UNUSED: Readonly<Record<string, (value: Row[string] | undefined) => boolean>> = {
  custom_css: isSet,
  footer_text: isSet,
  rss_title: isSet,
  password: isSet,
  analytics_id: isSet,
  analytics_script_url: isSet,
  google_analytics_tag_id: isSet,
  show_tags: isOn,
  show_certificate_expiry: isOn,
  show_only_last_heartbeat: isOn,
  search_engine_index: (value) => number(value, 1) === 0,
  show_powered_by: (value) => number(value, 1) === 0,
  auto_refresh_interval: (value) => number(value, REFRESH) !== REFRESH,
};

/** Notes what is not moved, on one line. */
function noteUnused(row: Row, notes: Notes): void {
  const used = Object.entries(UNUSED).flatMap(([column, test]) =>
    test(row[column]) ? [column] : [],
  );
  if (used.length > 0) notes.drop(used.join(", "), "Pages have no such settings.");
}

/** A place of a monitor on a status page. */
interface Place {
  component: FoundComponent;
  monitor: MonitorRow;
}

/** Components of status pages, by the monitors that they are about. */
interface Places {
  /** Returns the components that a monitor watches: its own, and those of its groups. */
  componentsOf(monitor: MonitorRow): FoundMonitor["components"];
  /** Returns the components that stand for a monitor, and for the members of a group. */
  shownBy(monitor: MonitorRow): readonly FoundComponent[];
}

/** Statuses of monitors that people set, as statuses of components. Pending has none. */
const BASELINES: Readonly<Record<string, "major_outage" | null>> = { 0: "major_outage" };

const inOrder = (first: Row, second: Row) =>
  number(first["weight"], 0) - number(second["weight"], 0) || idOf(first) - idOf(second);

/** Finds the groups of the status pages in their order, with the monitors in them. */
export function findPlaces(data: KumaData, tree: MonitorTree, found: Found): Places {
  const monitors = byId(data.monitor);
  const pages = byId(data.status_page);
  const members = Map.groupBy(data.monitor_group.toSorted(inOrder), (row) => idOf(row, "group_id"));
  const places: Place[] = [];
  const numbered = new Set<MonitorRow>();
  for (const group of data.group.toSorted(inOrder)) {
    const name = text(group["name"]);
    const foreign = { type: "group", id: String(idOf(group)), name };
    if (!pages.has(idOf(group, "status_page_id"))) {
      found.leftOut.push({ foreign, reason: "It is on no status page." });
      continue;
    }
    const page = pageKey(group, "status_page_id");
    found.groups.push({ foreign, number: idOf(group), page, body: { name }, changes: [] });
    const counts = new Map<MonitorRow, number>();
    for (const row of members.get(idOf(group)) ?? []) {
      const monitor = monitors.get(idOf(row, "monitor_id"));
      if (!monitor) continue;
      const count = (counts.get(monitor) ?? 0) + 1;
      counts.set(monitor, count);
      const at = { page, group: keyOf(foreign), count };
      places.push({ monitor, component: componentOf(row, monitor, at, numbered) });
    }
  }
  found.components = places.map(({ component }) => component);
  const byMonitor = Map.groupBy(places, ({ monitor }) => monitor);
  const ownOf = (monitor: MonitorRow) =>
    (byMonitor.get(monitor) ?? []).map(({ component }) => component);
  return {
    componentsOf(monitor) {
      const shown = [monitor, ...tree.groupsOf(monitor)].flatMap((each) => ownOf(each));
      return shown.length > 0 ? shown.map(({ foreign }) => keyOf(foreign)) : "internal";
    },
    shownBy: (monitor) => [
      ...new Set([monitor, ...tree.membersOf(monitor)].flatMap((each) => ownOf(each))),
    ],
  };
}

/**
 * Returns the component of a monitor in a group. It is known by both, since the ids of places change whenever a page
 * is saved; `count` tells several places of a monitor in one group apart.
 */
function componentOf(
  row: Row,
  monitor: MonitorRow,
  { page, group, count }: { page: ForeignKey; group: ForeignKey; count: number },
  numbered: Set<MonitorRow>,
): FoundComponent {
  const notes = new Notes();
  const name = text(monitor.name);
  const place = `${idOf(row, "group_id")}/${idOf(monitor)}`;
  const isManual = text(monitor.type) === "manual";
  // Monitors that become monitors have the number themselves.
  const hasNumber = (isManual || isGroup(monitor)) && !numbered.has(monitor);
  numbered.add(monitor);
  return {
    foreign: { type: "monitor_group", id: count === 1 ? place : `${place}/${count}`, name },
    number: hasNumber ? idOf(monitor) : null,
    page,
    group,
    baseline: isManual ? (BASELINES[text(monitor.manual_status)] ?? null) : null,
    body: { name, description: linkOf(row, monitor, notes), show_latency: true },
    changes: notes.changes,
  };
}

/** Returns the address that visitors see, without credentials; null if they see none. */
function linkOf(row: Row, monitor: MonitorRow, notes: Notes): string | null {
  if (!flag(row["send_url"])) return null;
  const url = URL.parse(text(row["custom_url"]) || text(monitor.url));
  if (!url?.host) return null;
  if (url.username !== "" || url.password !== "") {
    notes.drop("url", "The credentials in its address are not shown to visitors.");
    url.username = "";
    url.password = "";
  }
  return url.href.length <= DESCRIPTION_MAX ? url.href : null;
}

/** Maximum number of parts of a registered domain. */
const LABELS_MAX = 10;

/** Finds monitors of the domains that are watched there. Domains that no monitor watches are left out. */
export function findDomains(
  data: KumaData,
  tree: MonitorTree,
  days: number,
  found: Found,
): DomainMonitor[] {
  const watching = byDomain(
    data.monitor.filter((monitor) => flag(monitor.domain_expiry_notification)),
  );
  const domains: DomainMonitor[] = [];
  for (const row of data.domain_expiry) {
    const domain = text(row["domain"]).trim().toLowerCase();
    const foreign = { type: "domain_expiry", id: String(idOf(row)), name: domain };
    const watchedBy = watching.get(domain) ?? [];
    if (watchedBy.length === 0) {
      found.leftOut.push({ foreign, reason: "No monitor watches this domain." });
      continue;
    }
    const paused = !watchedBy.some((monitor) => tree.isActive(monitor));
    const body = { type: "domain", name: domain, config: { domain, days }, paused } as const;
    const monitor = { foreign, body, changes: [], components: [] };
    found.monitors.push(monitor);
    domains.push({ watchedBy, monitor });
  }
  return domains;
}

function hostOf({ url, hostname, grpc_url: grpcUrl }: MonitorRow): string {
  const host = URL.parse(text(url))?.hostname || text(hostname).replace(/^\w+:\/\//, "");
  return (host || text(grpcUrl)).split(":")[0]?.toLowerCase() ?? "";
}

/** Returns monitors by each domain that the name of their host ends with. */
function byDomain(monitors: readonly MonitorRow[]): ReadonlyMap<string, MonitorRow[]> {
  const found = new Map<string, MonitorRow[]>();
  for (const monitor of monitors) {
    const labels = hostOf(monitor).split(".").slice(-LABELS_MAX);
    for (const index of labels.keys()) {
      const domain = labels.slice(index).join(".");
      const known = found.get(domain);
      if (known) known.push(monitor);
      else found.set(domain, [monitor]);
    }
  }
  return found;
}

const IMPACTS: Readonly<Record<string, "major" | "minor">> = { danger: "major", warning: "minor" };

/** Finds the incidents of status pages. Uptime Kuma's name no components. */
export function findIncidents(data: KumaData, { incidents, leftOut }: Found): void {
  const pages = byId(data.status_page);
  for (const row of data.incident) {
    const title = text(row["title"]);
    const foreign = { type: "incident", id: String(idOf(row)), name: title };
    const startedAt = parseUtc(text(row["created_date"]));
    const changedAt = parseUtc(text(row["last_updated_date"])) ?? startedAt;
    if (!pages.has(idOf(row, "status_page_id"))) {
      leftOut.push({ foreign, reason: "It is on no status page." });
      continue;
    }
    if (startedAt === undefined || changedAt === undefined) {
      leftOut.push({ foreign, reason: "Its dates cannot be read." });
      continue;
    }
    // An incident that is no longer pinned is on no page of Uptime Kuma.
    const isOpen = flag(row["active"]) && flag(row["pin"]);
    incidents.push({
      foreign,
      number: idOf(row),
      page: pageKey(row, "status_page_id"),
      externalId: `incident:${idOf(row)}`,
      body: {
        name: title,
        impact_override: IMPACTS[text(row["style"])] ?? "none",
        started_at: toIso(startedAt),
        updates: [
          {
            status: isOpen ? "investigating" : "resolved",
            body: text(row["content"]),
            display_at: toIso(Math.max(changedAt, startedAt)),
            components: {},
          },
        ],
        postmortem: null,
      },
      changes: [],
    });
  }
}

/** Returns the time (unix ms) of a text such as `2026-01-10 02:00:00`, in UTC; undefined for other texts. */
function parseUtc(text: string): number | undefined {
  const [, day = "", hours, minutes, seconds = "0"] =
    /^(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d)(?::(\d\d(?:\.\d{1,3})?))?$/.exec(text) ?? [];
  const start = parseDay(day);
  if (start === undefined) return undefined;
  const ofDay = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * SECOND_MS;
  return ofDay < DAY_MS ? start + Math.round(ofDay) : undefined;
}

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

/** Finds the maintenance of each status page, and its schedules. */
export function findMaintenance(
  data: KumaData,
  settings: ReadonlyMap<string, unknown>,
  places: Places,
  found: Found,
): void {
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
      duration_minutes: notes.limited("duration", minutes, {
        min: 1,
        max: DURATION_MINUTES_MAX,
        unit: "minutes",
      }),
      time_zone: zone,
      every_days:
        days > 1
          ? notes.limited("interval_day", days, { min: 1, max: EVERY_DAYS_MAX, unit: "days" })
          : null,
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
