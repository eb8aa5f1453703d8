import type { EventType, RecordedEvent } from "../../../events";
import { COMPONENT_STATUSES } from "../../../kernel/component-status";
import { toIso } from "../../../kernel/time";
import type { FormatContext } from "../format";
import { webAddress } from "./address";
import { type Block, paragraph } from "./blocks";
import { cleanLine } from "./clean";
import { type Data, oneOf, recordOf, textOf } from "./reading";
import {
  bodyOf,
  componentsOf,
  factsOf,
  isResolved,
  moment,
  nameOf,
  toneOfImpact,
  words,
} from "./telling";
import type { Tone } from "./tones";

/** What people are told of an event, in words and without any service's markup. */
export interface Story {
  /** What happened, on one line, with the name of what it happened to. */
  title: string;
  tone: Tone;
  /** What is said of it in a line: status, impact, times. */
  facts: readonly Block[];
  /** What was written about it. The only part to be cut. */
  body: readonly Block[];
  /** Which components, with what they show. */
  components: readonly Block[];
  /** Where to read on. */
  url: string;
  /** Who tells it, and when. */
  source: string;
}

type Told = Omit<Story, "url" | "source"> & {
  /** The address of what it tells of, where that has one; else people read on at the page. */
  url?: string | undefined;
};
type Teller = (data: Data) => Told;

const TELLERS: Readonly<Record<EventType, Teller>> = {
  "component.status_changed": tellComponent,
  "incident.created": (data) =>
    tellIncident(isResolved(data) ? "Past incident" : "New incident", data),
  "incident.updated": (data) => tellIncident("Incident updated", data),
  "incident.resolved": (data) => tellIncident("Incident resolved", data),
  "incident.reopened": (data) => tellIncident("Incident reopened", data),
  "incident.postmortem_published": tellPostmortem,
  "incident.deleted": tellDeleted,
  "maintenance.scheduled": (data) => tellMaintenance("Maintenance planned", data),
  "maintenance.updated": (data) => tellMaintenance("Maintenance updated", data),
  "maintenance.started": (data) => tellMaintenance("Maintenance started", data),
  "maintenance.completed": (data) => tellMaintenance("Maintenance completed", data),
  "maintenance.cancelled": (data) => tellMaintenance("Maintenance cancelled", data),
  "maintenance.reminder": (data) => tellMaintenance("Maintenance begins soon", data),
  "monitor.down": (data) => tellMonitor("Monitor down", "major_outage", data),
  "monitor.up": (data) => tellMonitor("Monitor up", "operational", data),
  "monitor.degraded": (data) => tellMonitor("Monitor degraded", "degraded_performance", data),
  "webhook.test": tellTest,
};

/** What to tell people of an event; undefined where it says that nobody is to be notified. */
export function storyOf(
  { type, at, data }: RecordedEvent,
  { pageName, pageUrl }: FormatContext,
): Story | undefined {
  if (data["notify"] === false) return undefined;
  const told = TELLERS[type](data);
  return {
    ...told,
    title: cleanLine(told.title),
    url: webAddress(told.url ?? "") ?? webAddress(pageUrl) ?? "",
    source: `${cleanLine(pageName)} · ${moment(toIso(at))}`,
  };
}

function tellComponent(data: Data): Told {
  const status = textOf(data, "status") ?? "";
  const before = textOf(data, "old_status");
  return {
    title: `${nameOf(data)}: ${words(status)}`,
    tone: oneOf(COMPONENT_STATUSES, status) ?? "unknown",
    facts: factsOf({ Status: words(status), Before: before && words(before) }),
    body: [],
    components: [],
  };
}

function tellIncident(what: string, data: Data): Told {
  const isOver = isResolved(data);
  const impact = textOf(data, "impact") ?? "";
  return {
    title: `${what}: ${nameOf(data)}`,
    tone: isOver ? "operational" : toneOfImpact(impact),
    facts: factsOf({ Status: words(textOf(data, "status") ?? ""), Impact: words(impact) }),
    body: bodyOf(recordOf(data, "latest_update")),
    // What an incident said last of a component before it was resolved holds no longer.
    components: componentsOf(data, !isOver),
    url: textOf(data, "url"),
  };
}

function tellPostmortem(data: Data): Told {
  return {
    title: `Post-mortem published: ${nameOf(data)}`,
    tone: isResolved(data) ? "operational" : toneOfImpact(textOf(data, "impact") ?? ""),
    facts: [],
    body: bodyOf(recordOf(data, "postmortem")),
    components: [],
    url: textOf(data, "url"),
  };
}

function tellDeleted(data: Data): Told {
  return {
    title: `Incident deleted: ${nameOf(data)}`,
    tone: "unknown",
    facts: [],
    body: [],
    components: componentsOf(data, false),
  };
}

function tellMaintenance(what: string, data: Data): Told {
  const status = textOf(data, "status") ?? "";
  const tones: Readonly<Record<string, Tone>> = { completed: "operational", cancelled: "unknown" };
  return {
    title: `${what}: ${nameOf(data)}`,
    tone: tones[status] ?? "under_maintenance",
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

function tellMonitor(what: string, tone: Tone, data: Data): Told {
  // What a check met is no Markdown: it may quote what the watched server answered.
  const message = textOf(recordOf(data, "last_check") ?? {}, "message");
  return {
    title: `${what}: ${nameOf(data)}`,
    tone,
    facts: factsOf({ Since: moment(textOf(data, "state_since")) }),
    body: message ? [paragraph(message)] : [],
    components: componentsOf(data, true),
  };
}

function tellTest(): Told {
  return {
    title: "A test from Allclear",
    tone: "operational",
    facts: [],
    body: [paragraph("Messages arrive here. Nothing has happened.")],
    components: [],
  };
}
