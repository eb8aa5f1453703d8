import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../../base/schema";
import { parseInstant } from "../../../base/time";

/*
 * Fields that are read of Statuspage's objects: those of its public documents (v2), and those of its REST API (v1),
 * which has more. Other products with documents of this form leave some out.
 */

const Id = Text({ minLength: 1, maxLength: 100, isName: true });
const Words = Type.Optional(Nullable(Type.String()));
const Flag = Type.Optional(Nullable(Type.Boolean()));
const Place = Type.Optional(Nullable(Type.Number()));

export const SourcePage = Type.Object({
  id: Id,
  name: Type.String(),
  url: Words,
  subdomain: Words,
  domain: Words,
  page_description: Words,
  time_zone: Words,
  viewers_must_be_team_members: Flag,
  ip_restrictions: Words,
});
export type SourcePage = Static<typeof SourcePage>;

/** A component, or a group of components. */
export const SourceComponent = Type.Object({
  id: Id,
  name: Type.String(),
  description: Words,
  position: Place,
  group: Flag,
  group_id: Words,
  status: Words,
  showcase: Flag,
  start_date: Words,
  only_show_if_degraded: Flag,
  created_at: Words,
});
export type SourceComponent = Static<typeof SourceComponent>;

const SourceUpdate = Type.Object({
  status: Words,
  body: Words,
  display_at: Words,
  created_at: Words,
  affected_components: Type.Optional(
    Nullable(Type.Array(Type.Object({ code: Id, name: Words, new_status: Words }))),
  ),
});
export type SourceUpdate = Static<typeof SourceUpdate>;

/** An incident, or a maintenance, which has `scheduled_for`. */
export const SourceIncident = Type.Object({
  id: Id,
  name: Type.String(),
  status: Type.String(),
  impact: Words,
  impact_override: Words,
  created_at: Words,
  started_at: Words,
  updated_at: Words,
  resolved_at: Words,
  postmortem_body: Words,
  // Documented as a flag, and answered as a time.
  postmortem_published_at: Type.Optional(Type.Unknown()),
  scheduled_for: Words,
  scheduled_until: Words,
  scheduled_auto_in_progress: Flag,
  scheduled_auto_completed: Flag,
  scheduled_remind_prior: Flag,
  auto_transition_to_maintenance_state: Flag,
  auto_transition_to_operational_state: Flag,
  components: Type.Optional(Nullable(Type.Array(Type.Object({ id: Id, name: Words })))),
  incident_updates: Type.Optional(Nullable(Type.Array(SourceUpdate))),
});
export type SourceIncident = Static<typeof SourceIncident>;

/** Lists of the public documents with at most `LISTED_MAX` objects. */
export type CutList = "incidents" | "maintenances";

/** Number of incidents, and of maintenances, that the public documents have at most. */
export const LISTED_MAX = 50;

/** Everything that was fetched or saved of one page. The lists hold no id twice. */
export interface SourceDocuments {
  page: unknown;
  /** Components and groups. */
  components: readonly unknown[];
  /** Incidents and maintenance. */
  incidents: readonly unknown[];
  /** Lists that may lack older objects, since the public documents have the newest ones only. */
  cut: ReadonlySet<CutList>;
}

/** Returns the first text that is a time, in unix ms; undefined without one. */
export function timeOf(...texts: readonly (string | null | undefined)[]): number | undefined {
  for (const text of texts) {
    const at = typeof text === "string" ? parseInstant(text) : undefined;
    if (at !== undefined) return at;
  }
  return undefined;
}

/** Returns true for an object of JSON. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
