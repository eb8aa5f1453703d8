/*
 * Fields that are read of Statuspage's objects: those of its public documents (v2), and those of its REST API (v1),
 * which has more. Other products with documents of this form leave some out.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Text } from "../../base/schema";
import { NAMED_STATUSES, type NamedStatus } from "../../base/status";
import { parseInstant } from "../../base/time";
import { type ForeignKey, keyOf } from "../found";

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

/*
 * What becomes of each field of Statuspage. The documentation shows these texts, and a field that is not named here is
 * reported as not read.
 */

/** Fields of an object that is read, and what becomes of each. */
type Fields<Source> = Readonly<Record<Exclude<keyof Source, "id">, string>>;

export const PAGE_FIELDS = {
  name: "Name of the page",
  subdomain: "Slug of the page; without it, the name of the host",
  url: "Custom domain and slug, unless it is below statuspage.io; in the REST API, a website that is not moved",
  domain: "Custom domain, which is only listed unless `--take-domains` is given",
  page_description: "Description",
  time_zone: "Time zone; names of Ruby on Rails are translated, and an unknown one becomes UTC",
  viewers_must_be_team_members: "Makes the page private",
  ip_restrictions: "Makes the page private",
} as const satisfies Fields<SourcePage>;

export const COMPONENT_FIELDS = {
  name: "Name",
  description: "Description",
  group: "A group of components",
  group_id: "Group of the component",
  position: "Order",
  status:
    "Status that people set, at the first import only; not if an open incident or a maintenance gives it",
  showcase: "The same: its uptime is shown",
  start_date: "Day from which its uptime is known; without it, the day of `created_at`",
  created_at: "The day from which uptime is known, without `start_date`",
  only_show_if_degraded: "The same",
} as const satisfies Fields<SourceComponent>;

export const INCIDENT_FIELDS = {
  name: "Name",
  status: "Status that its updates give it; `postmortem` is resolved, with the post-mortem",
  impact: "Impact, set by hand where the components would give another one",
  impact_override: "Impact, as `impact`",
  created_at: "Start, without `started_at` and updates",
  started_at: "Start; without it, the time of the first update",
  resolved_at: "Time of its end, if no update ends it",
  updated_at: "The same, without `resolved_at`",
  incident_updates:
    "Updates, by `display_at`, with `body` and `status`; the statuses in `affected_components` mark components and count in uptime",
  components: "Components of a maintenance",
  postmortem_body: "Post-mortem, if it is published",
  postmortem_published_at: "Time at which the post-mortem was published",
  scheduled_for: "Makes it a maintenance: planned start",
  scheduled_until: "Planned end; without it, an hour after the start",
  scheduled_auto_in_progress: "The maintenance starts by itself",
  scheduled_auto_completed: "The maintenance ends by itself",
  scheduled_remind_prior: "Reminder, an hour before the start",
  auto_transition_to_maintenance_state: "Components are under maintenance from the start",
  auto_transition_to_operational_state: "Components are operational after the end",
} as const satisfies Fields<SourceIncident>;

/** Fields that describe Statuspage itself, or repeat others. */
const IGNORED = {
  page: [
    "id",
    "created_at",
    "updated_at",
    "activity_score",
    "branding",
    "city",
    "state",
    "country",
    "headline",
  ],
  component: ["id", "page_id", "updated_at", "automation_email", "components"],
  incident: [
    "id",
    "page_id",
    "monitoring_at",
    "shortlink",
    "metadata",
    "reminder_intervals",
    "scheduled_reminded_at",
    "postmortem_body_last_updated_at",
    "postmortem_ignored",
    "postmortem_notified_subscribers",
    "postmortem_notified_twitter",
    "auto_transition_deliver_notifications_at_end",
    "auto_transition_deliver_notifications_at_start",
    "auto_tweet_at_beginning",
    "auto_tweet_on_completion",
    "auto_tweet_on_creation",
    "auto_tweet_one_hour_before",
    "backfilled",
  ],
} as const;

/** Kind of object that is not moved. */
interface NotMoved {
  id: string;
  name: string;
  /** One sentence. */
  reason: string;
  /** Beginnings of the fields of a page that hold it. It is reported if one has a value; always without any. */
  fields: readonly string[];
}

export const NOT_MOVED: readonly NotMoved[] = [
  {
    id: "templates",
    name: "Incident templates",
    reason: "Write them at Incidents → Templates.",
    fields: [],
  },
  {
    id: "metrics",
    name: "Metrics",
    reason: "Monitors measure the latency that components show.",
    fields: [],
  },
  { id: "users", name: "Team members", reason: "Invite them at Settings → Users.", fields: [] },
  {
    id: "third-party",
    name: "Third-party components",
    reason: "They become components, whose statuses follow no other page.",
    fields: [],
  },
  {
    id: "style",
    name: "Colours, CSS and HTML",
    reason: "Pages have a design of their own, with one colour.",
    fields: ["css_"],
  },
  {
    id: "pictures",
    name: "Logos and pictures",
    reason: "Upload a logo in the settings of the page.",
    fields: ["favicon_logo", "transactional_logo", "hero_cover", "email_logo", "twitter_logo"],
  },
  {
    id: "links",
    name: "Links of the page",
    reason: "Write them into the description of the page.",
    fields: ["url", "support_url", "twitter_username"],
  },
  {
    id: "subscriptions",
    name: "Ways to subscribe",
    reason: "Set up mail, and choose them in the settings of the page.",
    fields: ["allow_", "notifications_"],
  },
  {
    id: "search",
    name: "Search engines",
    reason: "They can find public pages.",
    fields: ["hidden_from_search"],
  },
];

const KNOWN = {
  page: new Set<string>([...Object.keys(PAGE_FIELDS), ...IGNORED.page]),
  component: new Set<string>([...Object.keys(COMPONENT_FIELDS), ...IGNORED.component]),
  incident: new Set<string>([...Object.keys(INCIDENT_FIELDS), ...IGNORED.incident]),
} as const;

/** Returns true for a field that this version knows. */
export function isKnownField(kind: keyof typeof KNOWN, field: string): boolean {
  if (KNOWN[kind].has(field)) return true;
  return kind === "page" && NOT_MOVED.some(({ fields }) => fields.some((f) => field.startsWith(f)));
}

export function keyOfComponent(id: string): ForeignKey {
  return keyOf({ type: "component", id });
}

/** Returns the status of a text, if people can set it. */
export function namedStatusOf(text: string | null | undefined): NamedStatus | undefined {
  return NAMED_STATUSES.find((status) => status === text);
}
