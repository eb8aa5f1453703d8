/** Body formats of webhooks, by receiver. `standard` is Standard Webhooks' envelope. */
export const WEBHOOK_FORMATS = [
  "standard",
  "statuspage",
  "uptime-kuma",
  "slack",
  "discord",
  "ntfy",
  "gotify",
  "telegram",
  "teams",
  "email",
  "template",
] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

const FOR_PROGRAMS: ReadonlySet<WebhookFormat> = new Set(["standard", "statuspage", "uptime-kuma"]);

/** True for messages to people, who do not get events with `notify: false`. */
export function isForPeople(format: WebhookFormat): boolean {
  return !FOR_PROGRAMS.has(format);
}

/** Format of an endpoint, with its settings. */
interface Formatted {
  format: WebhookFormat;
  settings: Readonly<Record<string, unknown>>;
}

/** Prefix of the settings of a template that describe the request for the end of something. */
export const END_PREFIX = "resolve_";

/** True for a template with a request for the end of something: its receiver keeps the state of each object. */
export function reportsEnds({ format, settings }: Formatted): boolean {
  return format === "template" && Object.keys(settings).some((name) => name.startsWith(END_PREFIX));
}

/** True for an endpoint that gets each event by itself: of a program, or of a receiver that keeps states. */
export function getsEachEvent(webhook: Formatted): boolean {
  return !isForPeople(webhook.format) || reportsEnds(webhook);
}

/** Time in seconds for which messages for people about monitors are gathered: default and maximum. */
export const GROUP_SECONDS = { default: 30, max: 300 } as const;

/** Event filter that matches every type. */
export const ANY_EVENT = "*";

/** Filter of monitors that matches every monitor. */
export const ANY_MONITOR = "*";

/** Returns true if a filter of monitors, which are ids or `ANY_MONITOR` alone, matches a monitor. */
export function matchesMonitor(monitors: readonly string[], monitorId: string): boolean {
  return monitors.includes(ANY_MONITOR) || monitors.includes(monitorId);
}

/**
 * Progress of an event's delivery to one endpoint. `failed`: every attempt of three days failed. `superseded`: a newer
 * message about the same object arrived first.
 */
export const DELIVERY_STATUSES = [
  "pending",
  "delivered",
  "failed",
  "cancelled",
  "superseded",
] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
