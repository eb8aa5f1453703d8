import { type Static, type TProperties, Type } from "@sinclair/typebox";
import { INDICATORS } from "../../features/status/rules";
import {
  COMPONENT_STATUSES,
  IMPACTS,
  INCIDENT_STATUSES,
  MAINTENANCE_STATUSES,
} from "../../base/status";
import { Instant, Nullable, OneOf } from "../../base/schema";

/*
 * Schemas of Atlassian Statuspage's public JSON, version 2. No field is ever omitted: missing values are
 * null.
 */

const shape = <T extends TProperties>(title: string, properties: T) =>
  Type.Object(properties, { title, additionalProperties: false });

const V2Page = shape("StatuspagePage", {
  id: Type.String(),
  name: Type.String(),
  url: Type.String(),
  time_zone: Type.String(),
  updated_at: Instant,
});

const V2Status = shape("StatuspageStatus", {
  indicator: OneOf(INDICATORS),
  description: Type.String(),
});

export const V2Component = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: OneOf(COMPONENT_STATUSES),
    created_at: Instant,
    updated_at: Instant,
    position: Type.Integer(),
    description: Nullable(Type.String()),
    showcase: Type.Boolean(),
    start_date: Nullable(Type.String()),
    group_id: Nullable(Type.String()),
    page_id: Type.String(),
    group: Type.Boolean({ description: "True if the entry is a group." }),
    only_show_if_degraded: Type.Boolean(),
    components: Type.Optional(
      Type.Array(Type.String(), {
        description: "Ids of the components of a group. Only groups have this field.",
      }),
    ),
  },
  { title: "StatuspageComponent", additionalProperties: false },
);
export type V2Component = Static<typeof V2Component>;

const UpdateFields = {
  id: Type.String(),
  body: Type.String({ description: "Markdown." }),
  incident_id: Type.String(),
  created_at: Instant,
  updated_at: Instant,
  display_at: Instant,
  affected_components: Nullable(
    Type.Array(
      shape("StatuspageAffectedComponent", {
        code: Type.String({ description: "The component's id." }),
        name: Type.String(),
        old_status: OneOf(COMPONENT_STATUSES),
        new_status: OneOf(COMPONENT_STATUSES),
      }),
    ),
  ),
  deliver_notifications: Type.Boolean(),
  custom_tweet: Type.Null(),
  tweet_id: Type.Null(),
};

const IncidentFields = {
  id: Type.String(),
  name: Type.String(),
  created_at: Instant,
  updated_at: Instant,
  monitoring_at: Nullable(Instant),
  resolved_at: Nullable(Instant),
  shortlink: Type.String(),
  started_at: Instant,
  page_id: Type.String(),
  components: Type.Array(V2Component),
};

export const V2Incident = shape("StatuspageIncident", {
  ...IncidentFields,
  status: OneOf([...INCIDENT_STATUSES, "postmortem"], {
    description: "postmortem: the post-mortem is published.",
  }),
  impact: OneOf(IMPACTS),
  incident_updates: Type.Array(
    shape("StatuspageIncidentUpdate", { ...UpdateFields, status: OneOf(INCIDENT_STATUSES) }),
    { description: "Newest first, 20 at most." },
  ),
});
export type V2Incident = Static<typeof V2Incident>;

export const V2Maintenance = shape("StatuspageMaintenance", {
  ...IncidentFields,
  status: OneOf(MAINTENANCE_STATUSES),
  impact: OneOf(["maintenance"]),
  scheduled_for: Instant,
  scheduled_until: Instant,
  incident_updates: Type.Array(
    shape("StatuspageMaintenanceUpdate", { ...UpdateFields, status: OneOf(MAINTENANCE_STATUSES) }),
    { description: "Newest first, 20 at most." },
  ),
});
export type V2Maintenance = Static<typeof V2Maintenance>;

const components = Type.Array(V2Component);
const incidents = Type.Array(V2Incident);
const scheduled_maintenances = Type.Array(V2Maintenance);
const page = V2Page;
const status = V2Status;

/* Schemas of the documents. */
export const V2StatusDocument = shape("StatuspageStatusDocument", { page, status });
export const V2ComponentsDocument = shape("StatuspageComponents", { page, components });
export const V2IncidentsDocument = shape("StatuspageIncidents", { page, incidents });
export const V2MaintenanceDocument = shape("StatuspageMaintenances", {
  page,
  scheduled_maintenances,
});
export const V2SummaryDocument = shape("StatuspageSummary", {
  page,
  components,
  incidents,
  scheduled_maintenances,
  status,
});
