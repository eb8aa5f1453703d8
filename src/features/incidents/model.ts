import { type Static, Type } from "@sinclair/typebox";
import { IMPACTS, INCIDENT_STATUSES } from "../../domain/incident-status";
import { Instant, Nullable, OneOf } from "../../kernel/schema";
import { toIso, toIsoOrNull } from "../../kernel/time";
import { Status } from "../components/model";
import { pageUrl } from "../pages/address";
import { WrittenMail } from "../timeline/updates";
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
export type IncidentUpdate = Static<typeof IncidentUpdate>;

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

const PostmortemFields = {
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
export type Incident = Static<typeof Incident>;

/** The answer to the request that opens an incident, with its only update. */
export const CreatedIncident = Type.Object(
  {
    ...Incident.properties,
    updates: Type.Array(
      Type.Object({ ...UpdateFields, mail: WrittenMail }, { title: "CreatedIncidentUpdate" }),
      { description: "Its only update." },
    ),
  },
  { title: "CreatedIncident" },
);

/** The answer to the request that changes or publishes an incident. */
export const ChangedIncident = Type.Object(
  {
    ...Incident.properties,
    updates: Type.Array(
      Type.Object(
        { ...UpdateFields, mail: Type.Optional(WrittenMail) },
        { title: "ChangedIncidentUpdate" },
      ),
      { description: "Newest first. The first one has `mail`." },
    ),
  },
  { title: "ChangedIncident" },
);

/** The answer to the request that writes a post-mortem. */
export const IncidentWithPostmortem = Type.Object(
  {
    ...Incident.properties,
    postmortem: Type.Object({ ...PostmortemFields, mail: WrittenMail }),
  },
  { title: "IncidentWithPostmortem" },
);

/** The answer to the request that adds or edits an update. */
export const WrittenUpdate = Type.Object(
  { ...SingleUpdate.properties, mail: WrittenMail },
  { title: "WrittenIncidentUpdate" },
);

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
export function presentWithoutUpdates(
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
  };
}
