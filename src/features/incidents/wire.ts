import { type Static, Type } from "@sinclair/typebox";
import { Instant, InstantText, Nullable, OneOf, Text } from "../../base/schema";
import { IMPACTS, INCIDENT_STATUSES } from "../../base/status";
import { LineText, NameText } from "../../base/texts";
import { toIso, toIsoOrNull } from "../../base/time";
import { type InSomeLanguage, inSomeLanguage } from "../../languages/tags";
import { Status } from "../components/wire";
import { pageUrl } from "../pages/addresses";
import {
  EVENT_DATA_MAX_BYTES,
  EVENT_TEXT_MAX,
  eventFields,
  jsonBytes,
  NAMED_COMPONENTS_MAX,
  Notify,
  Truncated,
  truncateText,
  UPDATES_MAX,
  UpdateText,
} from "../timeline/updates";
import type { IncidentRecord, UpdateRecord } from "./records";
import type { IncidentRow } from "./store";

const INCIDENT_SOURCES = ["api", "dashboard", "monitor", "import"] as const;
export type IncidentSource = (typeof INCIDENT_SOURCES)[number];

export const IncidentStatusText = OneOf(INCIDENT_STATUSES, {
  title: "IncidentStatus",
  description: "Any of them may follow any other.",
});

export const ImpactText = OneOf(IMPACTS, {
  title: "Impact",
  description: "Best to worst, in this order.",
});

const UpdateFields = {
  id: Type.String({ examples: ["upd_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
  status: IncidentStatusText,
  body: Type.String({ description: "Markdown.", examples: ["We are looking into it."] }),
  components: Type.Array(
    Type.Object({
      id: Type.String({ examples: ["cmp_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
      name: Type.String({ description: "Name at that time.", examples: ["Checkout API"] }),
      old_status: Status,
      new_status: Status,
    }),
    {
      description: "Components that it names. `old_status` is the status that they showed before.",
    },
  ),
  display_at: Instant,
  created_at: Instant,
};

export const IncidentUpdate = Type.Object(UpdateFields, { title: "IncidentUpdate" });
export type IncidentUpdate = Static<typeof IncidentUpdate> & InSomeLanguage;

/** An update with its incident's id and version. */
export const SingleUpdate = Type.Object(
  {
    ...UpdateFields,
    incident_id: Type.String({ examples: ["inc_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    version: Type.Integer({
      minimum: 1,
      description: "Version of the incident, since updates have none.",
    }),
  },
  { title: "SingleIncidentUpdate" },
);
export type SingleUpdate = Static<typeof SingleUpdate>;

export const PostmortemFields = {
  body: Type.String({ description: "Markdown." }),
  published_at: Nullable(Instant),
};

export const Incident = Type.Object(
  {
    id: Type.String({ examples: ["inc_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    page: Type.String({ description: "The page's slug.", examples: ["acme"] }),
    page_id: Type.String({ examples: ["page_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    name: Type.String({ examples: ["Elevated error rates"] }),
    status: IncidentStatusText,
    impact: ImpactText,
    impact_override: Nullable(ImpactText),
    components: Type.Array(
      Type.Object({
        id: Type.String({ examples: ["cmp_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
        name: Type.String({ examples: ["Checkout API"] }),
        status: Status,
      }),
      {
        description:
          "Every component that it ever named or that an outage added, with its status now, or the last one before the incident was resolved.",
      },
    ),
    source: OneOf(INCIDENT_SOURCES),
    draft: Type.Boolean(),
    external_ref: Nullable(Type.String()),
    started_at: Instant,
    identified_at: Nullable(Instant),
    monitoring_at: Nullable(Instant),
    resolved_at: Nullable(Instant),
    postmortem: Nullable(
      Type.Object(PostmortemFields, {
        description:
          "Until it is published, only keys with both read:status and write:incidents see it.",
      }),
    ),
    url: Type.String({
      description: "Address of its public page.",
      examples: ["https://status.example.com/status/acme/incidents/inc_01kah2v9w0e0rs6x0h3ye0a1bc"],
    }),
    version: Type.Integer({ minimum: 1 }),
    created_at: Instant,
    updated_at: Instant,
    updates: Type.Array(IncidentUpdate, {
      description: "Newest first. Lists and status documents contain the 20 newest.",
    }),
    truncated: Type.Optional(
      Type.Literal(true, {
        description:
          "Only in a status document that would be too large: the incident and its updates show at most 20 components. Reading the incident returns all of them.",
      }),
    ),
  },
  { title: "Incident" },
);
export type Incident = Omit<Static<typeof Incident>, "updates"> & {
  updates: IncidentUpdate[];
} & InSomeLanguage;

export function presentUpdate(update: UpdateRecord): IncidentUpdate {
  return {
    id: update.id,
    status: update.status,
    body: update.body,
    components: update.components.map((named) => ({
      id: named.componentId,
      name: named.name,
      old_status: named.oldStatus,
      new_status: named.newStatus,
    })),
    display_at: toIso(update.displayAt),
    created_at: toIso(update.createdAt),
    ...inSomeLanguage(update.lang),
  };
}

/** Returns an update with its incident's id and version. */
export function presentSingleUpdate(row: IncidentRow, update: UpdateRecord): SingleUpdate {
  return { ...presentUpdate(update), incident_id: row.id, version: row.version };
}

/**
 * Returns an incident as the API shows it, with the updates of its record. An unpublished post-mortem is
 * shown only if `canSeeDrafts`. `baseUrl` is the server's public address.
 */
export function presentIncident(
  record: IncidentRecord,
  baseUrl: string,
  canSeeDrafts = false,
): Incident {
  const incident = presentWithoutUpdates(record, baseUrl, canSeeDrafts);
  const updates = record.updates.map(presentUpdate);
  return { ...incident, updates, ...(record.isTruncated ? { truncated: true } : {}) };
}

/** Returns an incident as `presentIncident` does, without its updates. */
function presentWithoutUpdates(
  { row, page, components }: Omit<IncidentRecord, "updates" | "isTruncated">,
  baseUrl: string,
  canSeeDrafts = false,
): Omit<Incident, "updates" | "truncated"> {
  const showsPostmortem = canSeeDrafts || row.postmortemPublishedAt !== null;
  return {
    id: row.id,
    page: page.slug,
    page_id: row.pageId,
    name: row.name,
    status: row.status,
    impact: row.impact,
    impact_override: row.impactOverride,
    components,
    source: row.source,
    draft: row.draft,
    external_ref: row.externalRef,
    started_at: toIso(row.startedAt),
    identified_at: toIsoOrNull(row.identifiedAt),
    monitoring_at: toIsoOrNull(row.monitoringAt),
    resolved_at: toIsoOrNull(row.resolvedAt),
    postmortem:
      row.postmortemBody !== null && showsPostmortem
        ? { body: row.postmortemBody, published_at: toIsoOrNull(row.postmortemPublishedAt) }
        : null,
    url: `${pageUrl(baseUrl, page)}/incidents/${row.id}`,
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
    ...inSomeLanguage(row.nameLang),
  };
}

/* Bodies of requests. */
const ExternalRef = LineText({
  minLength: 1,
  maxLength: 255,
  description: "Identifier in the caller's own system. Unique on its page.",
});

/** Maximum length of a post-mortem, in code points. */
export const POSTMORTEM_MAX = 50_000;
const PostmortemText = Text({ minLength: 1, maxLength: POSTMORTEM_MAX, description: "Markdown." });
const NamedComponents = Type.Record(Type.String(), Status, {
  maxProperties: NAMED_COMPONENTS_MAX,
  description:
    "Statuses of components of the page. The keys are ids, or page slug and `ref`, such as `acme:checkout-api`.",
  examples: [{ cmp_01kah2v9w0e0rs6x0h3ye0a1bc: "partial_outage" }],
});

export const CreateIncidentBody = Type.Object(
  {
    page: Text({ minLength: 1, maxLength: 100, description: "A page's slug or id." }),
    name: NameText,
    body: UpdateText,
    status: Type.Optional(IncidentStatusText),
    impact_override: Type.Optional(Nullable(ImpactText)),
    components: Type.Optional(NamedComponents),
    started_at: Type.Optional(
      InstantText({
        description:
          "Default: now, or `resolved_at` if that is earlier. The statuses of components apply from then on.",
      }),
    ),
    resolved_at: Type.Optional(
      InstantText({ description: "End of a past incident, whose status is then resolved." }),
    ),
    external_ref: Type.Optional(Nullable(ExternalRef)),
    draft: Type.Optional(
      Type.Boolean({
        description:
          "A draft changes no component statuses and sends no notifications until it is published.",
      }),
    ),
    notify: Type.Optional(Notify),
  },
  {
    additionalProperties: false,
    examples: [
      {
        page: "acme",
        name: "Elevated error rates",
        body: "We are looking into it.",
        components: { cmp_01kah2v9w0e0rs6x0h3ye0a1bc: "partial_outage" },
      },
    ],
  },
);
export type CreateIncidentBody = Static<typeof CreateIncidentBody>;

export const UpdateIncidentBody = Type.Object(
  {
    name: Type.Optional(NameText),
    impact_override: Type.Optional(Nullable(ImpactText)),
    external_ref: Type.Optional(Nullable(ExternalRef)),
    started_at: Type.Optional(InstantText()),
    identified_at: Type.Optional(Nullable(InstantText())),
    monitoring_at: Type.Optional(Nullable(InstantText())),
    resolved_at: Type.Optional(InstantText({ description: "Only for a resolved incident." })),
    draft: Type.Optional(Type.Literal(false, { description: "Publishes a draft." })),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    examples: [{ started_at: "2026-01-01T11:45:00Z" }],
  },
);
export type UpdateIncidentBody = Static<typeof UpdateIncidentBody>;

export const AddUpdateBody = Type.Object(
  {
    body: UpdateText,
    status: Type.Optional(IncidentStatusText),
    components: Type.Optional(NamedComponents),
    display_at: Type.Optional(
      InstantText({ description: "Time at which it takes effect. Default: now." }),
    ),
    notify: Type.Optional(Notify),
  },
  {
    additionalProperties: false,
    examples: [{ status: "resolved", body: "A bad deployment was rolled back." }],
  },
);
export type AddUpdateBody = Static<typeof AddUpdateBody>;

export const EditUpdateBody = Type.Object(
  { body: Type.Optional(UpdateText), display_at: Type.Optional(InstantText()) },
  { additionalProperties: false, minProperties: 1, examples: [{ body: "The database was full." }] },
);
export type EditUpdateBody = Static<typeof EditUpdateBody>;

/** A whole incident of another product. */
export const ImportIncidentBody = Type.Object(
  {
    name: NameText,
    impact_override: Nullable(ImpactText),
    external_ref: ExternalRef,
    started_at: InstantText(),
    updates: Type.Array(
      Type.Object({
        status: IncidentStatusText,
        body: UpdateText,
        display_at: InstantText(),
        components: NamedComponents,
      }),
      { minItems: 1, maxItems: UPDATES_MAX },
    ),
    postmortem: Nullable(Type.Object({ body: PostmortemText, published_at: InstantText() })),
  },
  { additionalProperties: false },
);
export type ImportIncidentBody = Static<typeof ImportIncidentBody>;

export const PutPostmortemBody = Type.Object(
  {
    body: PostmortemText,
    publish: Type.Optional(
      Type.Boolean({
        description: "True publishes it, false withdraws it. By default nothing changes.",
      }),
    ),
    notify: Type.Optional(Notify),
  },
  {
    additionalProperties: false,
    examples: [{ body: "## What happened\n\nA disk was full.", publish: true }],
  },
);
export type PutPostmortemBody = Static<typeof PutPostmortemBody>;

/** The monitors that `splitOff` moves into an incident of their own. */
export const SplitOffBody = Type.Object(
  {
    monitors: Type.Array(Type.String({ maxLength: 100 }), {
      minItems: 1,
      maxItems: 1_000,
      uniqueItems: true,
      description: "Ids of the monitors whose outages become an incident of their own.",
    }),
    notify: Type.Optional(Notify),
  },
  { additionalProperties: false },
);
export type SplitOffBody = Static<typeof SplitOffBody>;

/* Data of events. */

const COMPONENTS_MAX = 100;

const { updates: _updates, ...Fields } = Incident.properties;

/** The data of an incident's event. */
export const IncidentEventData = Type.Object(
  {
    ...Fields,
    postmortem: Nullable(
      Type.Object({
        body: Type.String({ description: "Markdown." }),
        published_at: Fields.resolved_at,
        truncated: Truncated,
      }),
    ),
    ...eventFields(IncidentUpdate, "IncidentEventUpdate"),
  },
  { title: "IncidentEventData" },
);

/** An incident without updates, for its event. */
export type EventRecord = Omit<IncidentRecord, "updates">;

/**
 * Returns the data of an incident's event: the resource of the API with one update instead of all.
 * At most 4,000 code points of each text and 100 components are kept. Both limits are halved until
 * the data is small enough. Parts with something left out have `truncated: true`.
 */
export function eventData(
  record: EventRecord,
  latest: UpdateRecord | undefined,
  notify: boolean,
  baseUrl: string,
): Record<string, unknown> {
  const incident = presentWithoutUpdates(record, baseUrl);
  const update = latest ? presentUpdate(latest) : null;
  const isTruncated = record.isTruncated === true;
  for (let share = 1; ; share /= 2) {
    const text = Math.floor(EVENT_TEXT_MAX * share);
    const list = Math.floor(COMPONENTS_MAX * share);
    const data = { ...truncate(incident, update, { text, list, isTruncated }), notify };
    if (text === 0 || jsonBytes(data) <= EVENT_DATA_MAX_BYTES) return data;
  }
}

function truncate(
  incident: Omit<Incident, "updates">,
  update: IncidentUpdate | null,
  limits: { text: number; list: number; isTruncated: boolean },
): Record<string, unknown> {
  const { components, postmortem } = incident;
  return {
    ...incident,
    components: components.slice(0, limits.list),
    ...(limits.isTruncated || components.length > limits.list ? { truncated: true } : {}),
    postmortem: postmortem && { ...postmortem, ...truncateText(postmortem.body, limits.text) },
    latest_update: update && {
      ...update,
      components: update.components.slice(0, limits.list),
      ...(update.components.length > limits.list ? { truncated: true } : {}),
      ...truncateText(update.body, limits.text),
    },
  };
}
