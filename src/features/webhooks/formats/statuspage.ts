import { Type } from "@sinclair/typebox";
import { toIso } from "../../../base/time";
import type { RecordedEvent } from "../../../events/outbox";
import { type Format, type FormatContext, jsonMessage } from "./format";
import { type Data, recordOf, recordsOf, textOf } from "./reading";

/**
 * Atlassian Statuspage's webhook notifications, for programs that already read them. Their shapes
 * are those of support.atlassian.com/statuspage/docs/enable-webhook-notifications:
 * `component_update` with `component`, or `incident`, which maintenance is too. Events without such
 * a notification (monitors, deletions) are not sent. Only the newest update is included.
 */
const DOCUMENTATION = "https://support.atlassian.com/statuspage/docs/enable-webhook-notifications/";

export const statuspage: Format = {
  name: "statuspage",
  label: "Statuspage",
  hint: "A URL of a program that reads webhook notifications of Atlassian Statuspage.",
  settings: Type.Object({}, { additionalProperties: false }),
  pace: [],
  validate: () => [],
  write(event, context) {
    const text = build(event, context);
    if (!text) return undefined;
    const headline = context.headline ?? headlineOf(event);
    return jsonMessage({
      meta: {
        unsubscribe: null,
        documentation: DOCUMENTATION,
        generated_at: toIso(event.at),
      },
      page: {
        id: event.pageId,
        status_indicator: headline.indicator,
        status_description: headline.description,
      },
      ...text,
    });
  },
};

function build(event: RecordedEvent, context: FormatContext): object | undefined {
  const { statusOf } = context;
  switch (event.type) {
    case "component.status_changed":
      return componentNotification(event);
    case "incident.created":
    case "incident.updated":
    case "incident.resolved":
    case "incident.reopened":
      return { incident: incidentOf(event, statusOf) };
    case "incident.postmortem_published":
      return { incident: postmortemOf(event, statusOf) };
    case "maintenance.scheduled":
    case "maintenance.updated":
    case "maintenance.started":
    case "maintenance.completed":
    case "maintenance.cancelled":
    case "maintenance.reminder":
      return { incident: maintenanceOf(event, statusOf) };
    case "webhook.test":
      return { incident: testIncidentOf(event, context) };
    default:
      return undefined;
  }
}

function componentNotification({ id, at, subjectId, data }: RecordedEvent): object {
  return {
    component: {
      ...pick(data, ["status", "name", "created_at", "updated_at", "position", "description"]),
      ...pick(data, ["showcase", "start_date", "id", "page_id", "group_id"]),
      group: false,
      ...pick(data, ["only_show_if_degraded"]),
    },
    component_update: {
      old_status: data["old_status"] ?? null,
      new_status: data["status"] ?? null,
      created_at: toIso(at),
      component_type: "Component",
      id,
      component_id: subjectId,
    },
  };
}

function incidentOf({ data }: RecordedEvent, statusOf: StatusOf) {
  const update = recordOf(data, "latest_update");
  const postmortem = recordOf(data, "postmortem");
  return {
    ...pick(data, ["name", "status", "created_at", "updated_at", "monitoring_at", "resolved_at"]),
    ...pick(data, ["impact"]),
    shortlink: data["url"] ?? null,
    ...pick(data, ["started_at"]),
    postmortem_body: postmortem?.["body"] ?? null,
    postmortem_published_at: postmortem?.["published_at"] ?? null,
    scheduled_for: null,
    scheduled_until: null,
    scheduled_remind_prior: false,
    scheduled_reminded_at: null,
    ...pick(data, ["impact_override"]),
    scheduled_auto_in_progress: false,
    scheduled_auto_completed: false,
    ...pick(data, ["id", "page_id"]),
    incident_updates: update ? [updateOf(data, update)] : [],
    components: componentsOf(
      data,
      (component) => statusOf(idOf(component)) ?? statusInIncident(data, component),
    ),
  };
}

/** Builds a resolved incident for test events, since receivers know only incidents and components. */
function testIncidentOf(event: RecordedEvent, { pageUrl, statusOf }: FormatContext) {
  const at = toIso(event.at);
  const { id, pageId } = event;
  const status = "resolved";
  const body = "Messages arrive here. Nothing has happened.";
  const data = {
    id,
    page_id: pageId,
    name: "A test from Allclear",
    status,
    impact: "none",
    url: pageUrl,
    created_at: at,
    updated_at: at,
    started_at: at,
    resolved_at: at,
    components: [],
    latest_update: { id, status, body, display_at: at, created_at: at, components: [] },
  };
  return incidentOf({ ...event, data }, statusOf);
}

/** Presents a post-mortem as an update, whose status is also that of the incident. */
function postmortemOf(event: RecordedEvent, statusOf: StatusOf) {
  const { id, at, data } = event;
  const body = recordOf(data, "postmortem")?.["body"];
  const update = { id, status: "postmortem", body, display_at: toIso(at), created_at: toIso(at) };
  return {
    ...incidentOf(event, statusOf),
    status: "postmortem",
    incident_updates: [updateOf(data, update)],
  };
}

function maintenanceOf({ type, at, data }: RecordedEvent, statusOf: StatusOf) {
  const status = maintenanceStatus(textOf(data, "status"));
  const isUnderWay = status === "in_progress" || status === "verifying";
  const update = recordOf(data, "latest_update");
  return {
    ...pick(data, ["name"]),
    status,
    ...pick(data, ["created_at", "updated_at"]),
    monitoring_at: null,
    resolved_at: data["completed_at"] ?? null,
    impact: "maintenance",
    shortlink: data["url"] ?? null,
    started_at: data["started_at"] ?? null,
    postmortem_body: null,
    postmortem_published_at: null,
    ...pick(data, ["scheduled_for", "scheduled_until"]),
    scheduled_remind_prior: data["remind_minutes_before"] !== null,
    scheduled_reminded_at: type === "maintenance.reminder" ? toIso(at) : null,
    impact_override: null,
    scheduled_auto_in_progress: data["auto_start"] ?? false,
    scheduled_auto_completed: data["auto_complete"] ?? false,
    ...pick(data, ["id", "page_id"]),
    incident_updates: update
      ? [updateOf(data, { ...update, status: maintenanceStatus(textOf(update, "status")) })]
      : [],
    components: componentsOf(
      data,
      (component) =>
        statusOf(idOf(component)) ?? (isUnderWay ? "under_maintenance" : "operational"),
    ),
  };
}

/**
 * Returns the status in Statuspage's words, which have none for cancelled: it becomes completed.
 */
function maintenanceStatus(status: string | undefined): string | null {
  return status === "cancelled" ? "completed" : (status ?? null);
}

function updateOf(data: Data, update: Data) {
  const affected = recordsOf(update, "components").map(({ id, name, old_status, new_status }) => {
    return { code: id, name, old_status, new_status };
  });
  return {
    ...pick(update, ["status", "body", "created_at"]),
    wants_twitter_update: false,
    twitter_updated_at: null,
    updated_at: update["created_at"] ?? null,
    ...pick(update, ["display_at"]),
    affected_components: affected.length > 0 ? affected : null,
    deliver_notifications: data["notify"] !== false,
    custom_tweet: null,
    tweet_id: null,
    ...pick(update, ["id"]),
    incident_id: data["id"] ?? null,
  };
}

type StatusOf = FormatContext["statusOf"];

/**
 * Returns the status that an incident gives a component. Statuses from before it was resolved no
 * longer apply.
 */
function statusInIncident(data: Data, component: Data): string {
  if (data["status"] !== "resolved") return textOf(component, "status") ?? "operational";
  const named = recordsOf(recordOf(data, "latest_update") ?? {}, "components");
  const said = named.find((one) => one["id"] === component["id"]);
  return (said && textOf(said, "new_status")) ?? "operational";
}

function idOf(component: Data): string {
  return textOf(component, "id") ?? "";
}

function componentsOf(data: Data, statusOf: (component: Data) => string) {
  return recordsOf(data, "components").map((component) => ({
    status: statusOf(component),
    ...pick(component, ["name", "id"]),
    page_id: data["page_id"] ?? null,
  }));
}

/** Copies fields by name. Missing ones are null. */
function pick(data: Data, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, data[field] ?? null]));
}

interface Headline {
  indicator: string;
  description: string;
}

const HEADLINES: Readonly<Record<string, Headline>> = {
  under_maintenance: { indicator: "maintenance", description: "Service Under Maintenance" },
  in_progress: { indicator: "maintenance", description: "Service Under Maintenance" },
  verifying: { indicator: "maintenance", description: "Service Under Maintenance" },
  degraded_performance: { indicator: "minor", description: "Partially Degraded Service" },
  partial_outage: { indicator: "minor", description: "Minor Service Outage" },
  major_outage: { indicator: "major", description: "Partial System Outage" },
  minor: { indicator: "minor", description: "Minor Service Outage" },
  major: { indicator: "major", description: "Partial System Outage" },
  critical: { indicator: "critical", description: "Major System Outage" },
};

/**
 * Returns a headline from the severity of the event, for events without the page's own headline.
 */
function headlineOf({ data }: RecordedEvent): Headline {
  const status = textOf(data, "status");
  const isOpen = status !== "resolved" && data["impact"] !== undefined;
  const headline = HEADLINES[(isOpen ? textOf(data, "impact") : status) ?? ""];
  return headline ?? { indicator: "none", description: "All Systems Operational" };
}
