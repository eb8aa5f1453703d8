import type { EventType, RecordedEvent } from "../../../events/outbox";
import { COMPONENT_STATUSES, MONITOR_TONES, STATUS_TONES, type Tone } from "../../../base/status";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import type { FormatContext } from "./format";
import { gatheredText } from "./gathered";
import { webAddress, cleanLine } from "./clean";
import { paragraph } from "./blocks";
import { type Data, oneOf, recordOf, textOf } from "./reading";
import {
  bodyOf,
  componentsOf,
  type EventNotification,
  factsOf,
  isResolved,
  moment,
  nameOf,
  toneOfImpact,
  words,
} from "./notification-parts";

type NotificationText = Omit<EventNotification, "name" | "title" | "url" | "source"> & {
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
  "fleet.alarm": alarmNotification,
  "webhook.test": testNotification,
};

/**
 * Builds the message for people about an event, or about gathered events of which it is the newest; undefined if the event
 * has `notify: false`.
 */
export function buildNotification(
  { type, at, data }: RecordedEvent,
  { gathered, pageName, pageUrl }: FormatContext,
): EventNotification | undefined {
  if (data["notify"] === false) return undefined;
  const text: NotificationText = gathered
    ? gatheredText(gathered)
    : NOTIFICATION_BUILDERS[type](data);
  const { what, name = nameOf(data) } = text;
  return {
    ...text,
    name: cleanLine(name),
    title: cleanLine(text.title ?? `${what}: ${name}`),
    url: webAddress(text.url ?? "") ?? webAddress(pageUrl) ?? "",
    source: `${cleanLine(pageName)} · ${moment(toIso(at))}`,
  };
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
    tone: isOver ? "ok" : toneOfImpact(impact),
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
    tone: isResolved(data) ? "ok" : toneOfImpact(textOf(data, "impact") ?? ""),
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
  const tones: Readonly<Record<string, Tone>> = { completed: "ok", cancelled: "none" };
  return {
    what,
    tone: tones[status] ?? "maint",
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
