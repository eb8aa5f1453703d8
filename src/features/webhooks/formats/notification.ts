import {
  COMPONENT_STATUSES,
  IMPACT_TONES,
  IMPACTS,
  INCIDENT_STATUSES,
  MAINTENANCE_STATUSES,
  MONITOR_TONES,
  messageTone,
  STATUS_TONES,
  type Tone,
  TONES,
} from "../../../base/status";
import { capitalised, plural, spaced } from "../../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../base/time";
import type { EventType, RecordedEvent } from "../../../events/outbox";
import type { FormatContext, GatheredEvents } from "./format";
import {
  type Block,
  bold,
  cleanLine,
  clipTo,
  entry,
  paragraph,
  readMarkdown,
  type Span,
  webAddress,
  withEllipsis,
} from "./markup";
import { type Data, oneOf, recordOf, recordsOf, textOf } from "./reading";

/** Message for people about an event, without a service's markup. */
interface EventNotification {
  /** Event in words, and the name of the object if it has one. */
  what: string;
  name: string;
  /** Line with both. */
  title: string;
  tone: Tone;
  /** Line with status, impact and times. */
  facts: readonly Block[];
  /** Text of the update. Only this part is cut. */
  body: readonly Block[];
  /** Components and their statuses. */
  components: readonly Block[];
  /** Address with details. */
  url: string;
  /** Noun for the page at that address, for the label of its button. */
  target:
    "status page" | "incident" | "maintenance" | "alarms" | "location" | "monitor" | "monitors";
  /** Sender and time. */
  source: string;
}

/** Maximum number of components listed by name, and maximum length of each name. */
const COMPONENTS_MAX = 10;
const NAME_MAX = 100;

/** Returns the name of the event's object. */
export function nameOf(data: Data): string {
  return textOf(data, "name") ?? "";
}

export function isResolved(data: Data): boolean {
  return textOf(data, "status") === "resolved";
}

function toneOfImpact(impact: string): Tone {
  return IMPACT_TONES[oneOf(IMPACTS, impact) ?? "none"];
}

/** Returns the tone of an incident or a maintenance; none for an unknown status. */
function toneOf(data: Data): Tone {
  const status = oneOf([...INCIDENT_STATUSES, ...MAINTENANCE_STATUSES], textOf(data, "status"));
  const impact = oneOf(IMPACTS, textOf(data, "impact")) ?? "none";
  return status === undefined ? "none" : messageTone({ status, impact });
}

/** Returns a status as text: "Degraded performance". */
export function words(status: string): string {
  return capitalised(spaced(status));
}

/** Returns a readable time; an unreadable one unchanged. */
function moment(iso: string | undefined): string | undefined {
  return iso?.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*Z$/, "$1 $2 UTC");
}

/** Returns a line of names and values, without those that have no value. */
function factsOf(named: Readonly<Record<string, string | undefined>>): Block[] {
  const parts: (string | Span)[] = [];
  for (const [name, value] of Object.entries(named)) {
    if (!value) continue;
    if (parts.length > 0) parts.push(" · ");
    parts.push(bold(`${name}:`), ` ${value}`);
  }
  return parts.length > 0 ? [paragraph(...parts)] : [];
}

/** Returns the text of an update, with an ellipsis if it was cut. */
function bodyOf(written: Data | undefined): Block[] {
  const blocks = readMarkdown((written && textOf(written, "body")) ?? "");
  const last = blocks.pop();
  if (!last) return [];
  return [...blocks, written?.["truncated"] === true ? withEllipsis(last) : last];
}

/** Returns a list of components, with their statuses if these still apply. */
function componentsOf(data: Data, isStatusKnown: boolean): Block[] {
  const all = recordsOf(data, "components");
  const entries = all.slice(0, COMPONENTS_MAX).map((component) => {
    const name = clipTo(cleanLine(nameOf(component)), NAME_MAX);
    const status = textOf(component, "status");
    return entry(isStatusKnown && status ? `${name}: ${words(status)}` : name);
  });
  const left = all.length - entries.length;
  if (data["truncated"] === true) entries.push(entry("and more"));
  else if (left > 0) entries.push(entry(`and ${left} more`));
  // A heading separates them from a list at the end of the text.
  return entries.length > 0 ? [paragraph(bold("Components:")), ...entries] : [];
}

type NotificationText = Omit<EventNotification, "name" | "title" | "url" | "target" | "source"> & {
  /** Name of the object; that of the event's data if omitted. */
  name?: string;
  /** Line that differs from "what: name". */
  title?: string;
  /** Address of the subject, if it has one; else the page is linked. */
  url?: string | undefined;
};
type NotificationBuilder = (data: Data) => NotificationText;

const NOTIFICATION_BUILDERS: Readonly<Record<EventType, NotificationBuilder>> = {
  "component.status_changed": componentNotification,
  "incident.created": (data) =>
    incidentNotification(isResolved(data) ? "Past incident" : "New incident", data),
  "incident.updated": (data) => incidentNotification("Incident updated", data),
  "incident.resolved": (data) => incidentNotification("Incident resolved", data),
  "incident.reopened": (data) => incidentNotification("Incident reopened", data),
  "incident.postmortem_published": postmortemNotification,
  "incident.deleted": deletionNotification,
  "maintenance.scheduled": (data) => maintenanceNotification("Maintenance planned", data),
  "maintenance.updated": (data) => maintenanceNotification("Maintenance updated", data),
  "maintenance.started": (data) => maintenanceNotification("Maintenance started", data),
  "maintenance.completed": (data) => maintenanceNotification("Maintenance completed", data),
  "maintenance.cancelled": (data) => maintenanceNotification("Maintenance cancelled", data),
  "maintenance.reminder": (data) => maintenanceNotification("Maintenance begins soon", data),
  "monitor.down": (data) => monitorNotification("Monitor down", MONITOR_TONES.down, data),
  "monitor.up": (data) => monitorNotification("Monitor up", MONITOR_TONES.up, data),
  "monitor.degraded": (data) =>
    monitorNotification("Monitor degraded", MONITOR_TONES.degraded, data),
  "monitor.reminder": reminderNotification,
  "monitor.certificate_expiring": certificateNotification,
  "location.offline": locationNotification,
  "fleet.alarm": alarmNotification,
  "webhook.test": testNotification,
};

/**
 * Builds the message for people about an event, or about gathered events of which it is the newest; undefined if the event
 * has `notify: false`.
 */
export function buildNotification(
  event: RecordedEvent,
  context: FormatContext,
): EventNotification | undefined {
  const { type, at, data } = event;
  const { gathered, pageName } = context;
  if (data["notify"] === false) return undefined;
  const text: NotificationText = gathered
    ? gatheredText(gathered)
    : NOTIFICATION_BUILDERS[type](data);
  const { what, name = nameOf(data) } = text;
  return {
    ...text,
    name: cleanLine(name),
    title: cleanLine(text.title ?? `${what}: ${name}`),
    ...linkOf(event, text.url, context),
    source: `${cleanLine(pageName)} · ${moment(toIso(at))}`,
  };
}

/**
 * Returns the link of a message: to the subject of the event if it has a `url`, else to the status page. Monitors are
 * linked in the dashboard, since the status page does not show them, and their messages are for the team.
 */
function linkOf(
  event: RecordedEvent,
  url: string | undefined,
  { gathered, pageUrl, baseUrl }: FormatContext,
): Pick<EventNotification, "url" | "target"> {
  const { type } = event;
  if (type.startsWith("monitor.")) {
    const ids = (gathered?.events ?? [event]).map(({ subjectId }) => subjectId);
    const list = `${baseUrl}/admin/monitors`;
    return new Set(ids).size > 1
      ? { url: list, target: "monitors" }
      : { url: `${list}/${event.subjectId}`, target: "monitor" };
  }
  const own = webAddress(url ?? "");
  if (own === undefined) return { url: webAddress(pageUrl) ?? "", target: "status page" };
  if (type === "fleet.alarm") return { url: own, target: "alarms" };
  if (type === "location.offline") return { url: own, target: "location" };
  return { url: own, target: type.startsWith("maintenance.") ? "maintenance" : "incident" };
}

function componentNotification(data: Data): NotificationText {
  const status = textOf(data, "status") ?? "";
  const known = oneOf(COMPONENT_STATUSES, status);
  const before = textOf(data, "old_status");
  return {
    what: words(status),
    title: `${nameOf(data)}: ${words(status)}`,
    tone: known ? STATUS_TONES[known] : "none",
    facts: factsOf({ Status: words(status), Before: before && words(before) }),
    body: [],
    components: [],
  };
}

function incidentNotification(what: string, data: Data): NotificationText {
  const isOver = isResolved(data);
  const impact = textOf(data, "impact") ?? "";
  return {
    what,
    tone: toneOf(data),
    facts: factsOf({ Status: words(textOf(data, "status") ?? ""), Impact: words(impact) }),
    body: bodyOf(recordOf(data, "latest_update")),
    // After the incident is resolved, its component statuses no longer apply.
    components: componentsOf(data, !isOver),
    url: textOf(data, "url"),
  };
}

function postmortemNotification(data: Data): NotificationText {
  return {
    what: "Post-mortem published",
    tone: toneOf(data),
    facts: [],
    body: bodyOf(recordOf(data, "postmortem")),
    components: [],
    url: textOf(data, "url"),
  };
}

function deletionNotification(data: Data): NotificationText {
  return {
    what: "Incident deleted",
    tone: "none",
    facts: [],
    body: [],
    components: componentsOf(data, false),
  };
}

function maintenanceNotification(what: string, data: Data): NotificationText {
  const status = textOf(data, "status") ?? "";
  return {
    what,
    tone: toneOf(data),
    facts: factsOf({
      Status: words(status),
      From: moment(textOf(data, "scheduled_for")),
      Until: moment(textOf(data, "scheduled_until")),
    }),
    body: bodyOf(recordOf(data, "latest_update")),
    components: componentsOf(data, false),
    url: textOf(data, "url"),
  };
}

function monitorNotification(what: string, tone: Tone, data: Data): NotificationText {
  // A check's message is plain text, which may quote the monitored server.
  const message = textOf(recordOf(data, "last_check") ?? {}, "message");
  return {
    what,
    tone,
    facts: factsOf({ Since: moment(textOf(data, "state_since")) }),
    body: message ? [paragraph(message)] : [],
    components: componentsOf(data, true),
  };
}

function reminderNotification(data: Data): NotificationText {
  const monitor = recordOf(data, "monitor") ?? {};
  const count = data["count"];
  return {
    ...monitorNotification("Monitor still down", MONITOR_TONES.down, monitor),
    name: nameOf(monitor),
    facts: factsOf({
      Since: moment(textOf(data, "down_since")),
      Reminder: typeof count === "number" ? count.toLocaleString("en") : undefined,
    }),
  };
}

function certificateNotification(data: Data): NotificationText {
  const daysLeft = data["days_left"];
  return {
    what: "Certificate expires soon",
    name: nameOf(recordOf(data, "monitor") ?? {}),
    tone: "degraded",
    facts: factsOf({
      Host: textOf(data, "host"),
      Intermediate: textOf(data, "intermediate"),
      Expires: moment(textOf(data, "not_after")),
      "Time left": typeof daysLeft === "number" ? plural(daysLeft, "day") : undefined,
    }),
    body: [],
    components: [],
  };
}

function alarmNotification(data: Data): NotificationText {
  const detail = textOf(data, "detail");
  const isOver = textOf(data, "state") === "cleared";
  return {
    what: isOver ? "Alarm over" : "Alarm",
    tone: isOver ? "ok" : toneOfImpact(textOf(data, "severity") ?? ""),
    facts: factsOf({
      Since: moment(textOf(data, "since")),
      Until: moment(textOf(data, "cleared_at")),
    }),
    body: detail ? [paragraph(detail)] : [],
    components: [],
    url: textOf(data, "url"),
  };
}

function locationNotification(data: Data): NotificationText {
  return {
    what: "Location silent",
    tone: MONITOR_TONES.down,
    facts: factsOf({ Since: moment(textOf(data, "silent_since")) }),
    body: [
      paragraph(
        "The agent has not called for 3 minutes. The last states from there count until 11.5 minutes after its last call.",
      ),
    ],
    components: [],
    url: textOf(data, "url"),
  };
}

function testNotification(): NotificationText {
  return {
    what: "Test",
    name: "",
    title: "A test from Allclear",
    tone: "ok",
    facts: [],
    body: [paragraph("Messages arrive here. Nothing has happened.")],
    components: [],
  };
}

/** Maximum number of lines, and maximum length of the name and of the reason in each: all fit into a message of Slack. */
const LINES_MAX = 20;
const GATHERED_NAME_MAX = 60;
const REASON_MAX = 60;

/** Kinds of lines, in the order in which the title counts them. */
const KINDS = {
  down: { tone: MONITOR_TONES.down, what: "down" },
  up: { tone: MONITOR_TONES.up, what: "up" },
  degraded: { tone: MONITOR_TONES.degraded, what: "degraded" },
  wasDown: { tone: MONITOR_TONES.up, what: "was down" },
  stillDown: { tone: MONITOR_TONES.down, what: "still down" },
  certificate: { tone: "degraded", what: "certificate" },
} satisfies Record<string, { tone: Tone; what: string }>;
type Kind = keyof typeof KINDS;

/** A count with its words at the beginning of a title, and further on. */
type Count = [count: number, first: string, further: string];

/** All that happened to one monitor, or to a certificate. */
interface Line {
  kind: Kind;
  name: string;
  /** Text after the name. */
  text: string;
  /** Title of a message without other lines; its name is added. */
  alone: string;
}

/** Message about gathered events of monitors, without link and sender. */
type GatheredText = Omit<EventNotification, "url" | "target" | "source">;

/**
 * Writes gathered events of monitors: a title that counts, and a line for each of the first 20 monitors, oldest first.
 * Several events of one monitor are one line.
 */
function gatheredText({ events, stillDown }: GatheredEvents): GatheredText {
  const lines = linesOf(events);
  const [first, ...others] = lines;
  if (!first) throw new Error("a message about gathered events has none");
  const shown = lines.slice(0, LINES_MAX).map(({ name, text }) => entry(bold(name), ` ${text}`));
  const left = lines.length - shown.length;
  const isAlone = others.length === 0;
  return {
    what: isAlone ? first.alone : whatOf(lines),
    name: isAlone ? first.name : "",
    title: isAlone ? `${first.alone}: ${first.name}` : titleOf(lines, stillDown),
    tone: worstTone(lines),
    facts: [],
    body: shown,
    // Kept if the lines are cut.
    components: left > 0 ? [entry(`and ${left.toLocaleString("en")} more`)] : [],
  };
}

function linesOf(events: readonly RecordedEvent[]): Line[] {
  const lines: Line[] = [];
  const byMonitor = Map.groupBy(events, ({ id, type, subjectId }) => {
    return type === "monitor.certificate_expiring" ? id : subjectId;
  });
  for (const [first, ...others] of byMonitor.values()) {
    if (first) lines.push(lineOf(first, others.at(-1) ?? first, [first, ...others]));
  }
  return lines;
}

/** Returns the line of one monitor with its first, its last and all of its events. */
function lineOf(first: RecordedEvent, last: RecordedEvent, all: readonly RecordedEvent[]): Line {
  const data = recordOf(last.data, "monitor") ?? last.data;
  const name = clipTo(cleanLine(nameOf(data)), GATHERED_NAME_MAX);
  const wasDown = all.some(({ type }) => type === "monitor.down");
  const since = sinceOf(textOf(data, "state_since"));
  const type: EventType = last.type;
  switch (type) {
    case "monitor.up": {
      const lasted = outageOf(data);
      const downFor = lasted === undefined ? "was down" : `was down for ${lasted}`;
      if (first.type === "monitor.down") {
        return { kind: "wasDown", name, text: downFor, alone: `Monitor ${downFor}` };
      }
      const text = lasted === undefined ? `is up${since}` : `is up again${since}, ${downFor}`;
      return { kind: "up", name, text, alone: "Monitor up" };
    }
    case "monitor.degraded": {
      const text = `${wasDown ? "was down and " : ""}is degraded${since}${reasonOf(data)}`;
      return { kind: "degraded", name, text, alone: "Monitor degraded" };
    }
    case "monitor.reminder": {
      const downSince = sinceOf(textOf(last.data, "down_since"));
      if (wasDown) return downLine(name, `is down${downSince}${reasonOf(data)}`);
      const text = `is still down${downSince}${reasonOf(data)}`;
      return { kind: "stillDown", name, text, alone: "Monitor still down" };
    }
    case "monitor.certificate_expiring": {
      const days = last.data["days_left"];
      const left = typeof days === "number" ? ` in ${plural(days, "day")}` : " soon";
      const host = clipTo(cleanLine(textOf(last.data, "host") ?? ""), REASON_MAX);
      const text = `has a certificate that expires${left}${host === "" ? "" : `: ${host}`}`;
      return { kind: "certificate", name, text, alone: "Certificate expires soon" };
    }
    default:
      return downLine(name, `is down${since}${reasonOf(data)}`);
  }
}

function downLine(name: string, text: string): Line {
  return { kind: "down", name, text, alone: "Monitor down" };
}

function sinceOf(iso: string | undefined): string {
  return iso === undefined ? "" : ` since ${moment(iso)}`;
}

/** Returns the first words of the last check's message, which is plain text that may quote the monitored server. */
function reasonOf(data: Data): string {
  const message = cleanLine(textOf(recordOf(data, "last_check") ?? {}, "message") ?? "");
  return message === "" ? "" : `: ${clipTo(message, REASON_MAX)}`;
}

function outageOf(data: Data): string | undefined {
  const ms = recordOf(data, "outage")?.["duration_ms"];
  return typeof ms === "number" ? duration(ms) : undefined;
}

/** Writes a duration in one or two whole units: "20 s", "5 min", "1 h 10 min", "2 d 3 h". */
export function duration(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  const [unit, part, names] =
    ms < DAY_MS
      ? ([HOUR_MS, MINUTE_MS, ["h", "min"]] as const)
      : ([DAY_MS, HOUR_MS, ["d", "h"]] as const);
  const rest = Math.floor((ms % unit) / part);
  const whole = `${Math.floor(ms / unit)} ${names[0]}`;
  return rest === 0 ? whole : `${whole} ${rest} ${names[1]}`;
}

function whatOf(lines: readonly Line[]): string {
  const kind = (Object.keys(KINDS) as Kind[]).find((one) => countOf(lines, one) > 0) ?? "down";
  const { what } = KINDS[kind];
  if (kind === "certificate") return "Certificates expire soon";
  return kind === "wasDown" ? "Monitors were down" : `Monitors ${what}`;
}

/**
 * Returns the counts: "12 monitors are down", "9 monitors are up again, 3 still down". Those that went down are "more" while
 * others are known to be down.
 */
function titleOf(lines: readonly Line[], otherDown: number): string {
  const [down, up, degraded, wasDown, certificates] = [
    countOf(lines, "down"),
    countOf(lines, "up"),
    countOf(lines, "degraded"),
    countOf(lines, "wasDown"),
    countOf(lines, "certificate"),
  ];
  const stillDown = countOf(lines, "stillDown") + (up + wasDown > 0 ? otherDown : 0);
  const monitor = otherDown > 0 ? "more monitor" : "monitor";
  const be = (count: number) => (count === 1 ? "is" : "are");
  const were = wasDown === 1 ? "was" : "were";
  const stated = (count: number, state: string): Count => [
    count,
    `${plural(count, "monitor")} ${be(count)} ${state}`,
    `${count.toLocaleString("en")} ${state}`,
  ];
  const counts: Count[] = [
    [down, `${plural(down, monitor)} ${be(down)} down`, ""],
    stated(up, "up again"),
    stated(degraded, "degraded"),
    [
      wasDown,
      `${plural(wasDown, "monitor")} ${were} down briefly`,
      `${wasDown.toLocaleString("en")} ${were} down briefly`,
    ],
    stated(stillDown, "still down"),
  ];
  const parts = counts.filter(([count]) => count > 0);
  const written = parts.map(([, first, further], index) => (index === 0 ? first : further));
  if (certificates > 0) {
    const expire = certificates === 1 ? "expires" : "expire";
    written.push(`${plural(certificates, "certificate")} ${expire} soon`);
  }
  return written.join(", ");
}

function countOf(lines: readonly Line[], kind: Kind): number {
  return lines.filter((line) => line.kind === kind).length;
}

function worstTone(lines: readonly Line[]): Tone {
  return lines
    .map(({ kind }): Tone => KINDS[kind].tone)
    .reduce((worst, tone) => (TONES.indexOf(tone) > TONES.indexOf(worst) ? tone : worst));
}
