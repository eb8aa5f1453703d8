import { type Static, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { notFound } from "../../base/errors";
import { Instant, Nullable, OneOf } from "../../base/schema";
import {
  COMPONENT_STATUSES,
  IMPACTS,
  INCIDENT_STATUSES,
  MAINTENANCE_STATUSES,
  worstStatus,
} from "../../base/status";
import { toIso, toIsoOrNull } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader } from "../../db/statements";
import {
  type IncidentRecord,
  listNewestIncidents,
  type ReadRecords,
} from "../../features/incidents/records";
import { listMaintenance, listMaintenanceForPage } from "../../features/maintenance/records";
import { isUnderWay } from "../../features/maintenance/rules";
import type { MaintenanceRecord } from "../../features/maintenance/store";
import { INDICATORS } from "../../base/status";
import type { Snapshot, Snapshots } from "../../features/status/snapshots";
import { createVia, VIA } from "../../features/monitors/via";
import { declareRoutes } from "../../http/elysia";
import { operation } from "../../http/operation";
import type { RequestContext } from "../../http/request-context";
import { PUBLIC_JSON, publicJson } from "../site";
import type { Visitors } from "../visitors";

/**
 * Atlassian Statuspage's public JSON: `/api/v2/` for the default page or the page of the custom domain,
 * `/status/{slug}/api/v2/` for every page. Earlier slugs answer too, without a redirect, as under
 * `/api/v1`.
 */
export function v2Routes(
  ctx: Ctx,
  snapshots: Snapshots,
  visitors: Visitors,
  readIncidents: ReadRecords,
) {
  const answer = (
    json: ReturnType<typeof publicJson>,
    slug: string,
    request: Request,
    at: RequestContext,
  ) =>
    snapshots.whenReady(slug, at.now, () => {
      const response = json(visitors.getForPrograms(slug, at)).respond(request, at);
      const via = viaOf();
      if (via !== undefined) response.headers.set(VIA, via);
      return response;
    });
  const viaOf = createVia(ctx);
  const routes = declareRoutes();
  for (const document of V2_DOCUMENTS) {
    const json = publicJson((snapshot) =>
      document.make({ snapshot, reader: ctx.db, readIncidents, now: ctx.clock.now() }),
    );
    routes.get(
      `/api/v2/${document.path}`,
      ({ request, requestContext }) => {
        const slug = visitors.homeSlug(requestContext);
        if (slug === undefined) throw notFound("status page");
        return answer(json, slug, request, requestContext);
      },
      declare(document, "Default", "of the default page"),
    );
    routes.get(
      `/status/:slug/api/v2/${document.path}`,
      ({ params, request, requestContext }) => answer(json, params.slug, request, requestContext),
      declare(document, "", "of a page"),
    );
  }
  return routes;
}

function declare({ name, summary, schema }: V2Document, scope: string, page: string) {
  return operation({
    ...PUBLIC_JSON,
    id: `getV2${scope}${name}`,
    summary: `${summary}, ${page}`,
    description: "In the shape of Atlassian Statuspage's public API, version 2.",
    answers: { 200: { description: `${summary}.`, schema } },
  });
}

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

const V2Component = Type.Object(
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
type V2Component = Static<typeof V2Component>;

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

const V2Incident = shape("StatuspageIncident", {
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
type V2Incident = Static<typeof V2Incident>;

const V2Maintenance = shape("StatuspageMaintenance", {
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
type V2Maintenance = Static<typeof V2Maintenance>;

const components = Type.Array(V2Component);
const incidents = Type.Array(V2Incident);
const scheduled_maintenances = Type.Array(V2Maintenance);
const page = V2Page;
const status = V2Status;

/* Schemas of the documents. */
const V2StatusDocument = shape("StatuspageStatusDocument", { page, status });
const V2ComponentsDocument = shape("StatuspageComponents", { page, components });
const V2IncidentsDocument = shape("StatuspageIncidents", { page, incidents });
const V2MaintenanceDocument = shape("StatuspageMaintenances", {
  page,
  scheduled_maintenances,
});
const V2SummaryDocument = shape("StatuspageSummary", {
  page,
  components,
  incidents,
  scheduled_maintenances,
  status,
});

/** Number of incidents or maintenances in lists. */
const LISTED_MAX = 50;

/** Sources of a document: the snapshot of a page, and readers of further data. */
interface Source {
  snapshot: Snapshot;
  reader: Reader;
  readIncidents?: ReadRecords;
  /** Unix ms. */
  now: number;
}

/** One document of Statuspage's public API. */
interface V2Document {
  /** Path below `api/v2/`. */
  path: string;
  /** End of its operation id in the OpenAPI document. */
  name: string;
  summary: string;
  schema: TSchema;
  make(source: Source): object;
}

export const V2_DOCUMENTS: readonly V2Document[] = [
  {
    path: "summary.json",
    name: "Summary",
    summary: "Status, components, unresolved incidents, upcoming and active maintenance",
    schema: V2SummaryDocument,
    make: (source) => ({
      page: pageOf(source.snapshot),
      components: presentComponents(source.snapshot),
      incidents: unresolved(source),
      scheduled_maintenances: presentAll(source, notEnded(source)),
      status: source.snapshot.document.status,
    }),
  },
  {
    path: "status.json",
    name: "Status",
    summary: "The headline",
    schema: V2StatusDocument,
    make: ({ snapshot }) => ({ page: pageOf(snapshot), status: snapshot.document.status }),
  },
  {
    path: "components.json",
    name: "Components",
    summary: "Components and groups",
    schema: V2ComponentsDocument,
    make: ({ snapshot }) => ({
      page: pageOf(snapshot),
      components: presentComponents(snapshot),
    }),
  },
  {
    path: "incidents.json",
    name: "Incidents",
    summary: "The 50 newest incidents",
    schema: V2IncidentsDocument,
    make: (source) => ({ page: pageOf(source.snapshot), incidents: newest(source) }),
  },
  {
    path: "incidents/unresolved.json",
    name: "UnresolvedIncidents",
    summary: "Unresolved incidents",
    schema: V2IncidentsDocument,
    make: (source) => ({ page: pageOf(source.snapshot), incidents: unresolved(source) }),
  },
  maintenanceDocument("scheduled-maintenances.json", {
    name: "Maintenances",
    summary: "The 50 newest maintenances",
    list: newestMaintenance,
  }),
  maintenanceDocument("scheduled-maintenances/upcoming.json", {
    name: "UpcomingMaintenances",
    summary: "Upcoming maintenance",
    list: (source) => notEnded(source).filter(({ row }) => !isUnderWay(row.status)),
  }),
  maintenanceDocument("scheduled-maintenances/active.json", {
    name: "ActiveMaintenances",
    summary: "Active maintenance",
    list: (source) => notEnded(source).filter(({ row }) => isUnderWay(row.status)),
  }),
];

function maintenanceDocument(
  path: string,
  of: { name: string; summary: string; list(source: Source): MaintenanceRecord[] },
): V2Document {
  const { name, summary } = of;
  const make = (source: Source) => ({
    page: pageOf(source.snapshot),
    scheduled_maintenances: presentAll(source, of.list(source)),
  });
  return { path, name, summary, schema: V2MaintenanceDocument, make };
}

function pageOf({ document }: Snapshot) {
  const { id, name, url, time_zone } = document.page;
  return { id, name, url, time_zone, updated_at: document.updated_at };
}

function unresolved({ snapshot }: Source) {
  const context = contextOf(snapshot);
  return withinLimit(snapshot.records.incidents.map((record) => presentIncident(record, context)));
}

function newest({ snapshot, reader, readIncidents }: Source) {
  const context = contextOf(snapshot);
  const pageId = snapshot.document.page.id;
  const records = listNewestIncidents(reader, { pageId, limit: LISTED_MAX }, readIncidents);
  return withinLimit(records.map((record) => presentIncident(record, context)));
}

function presentAll({ snapshot }: Source, records: readonly MaintenanceRecord[]) {
  const context = contextOf(snapshot);
  return withinLimit(records.map((record) => presentMaintenance(record, context)));
}

/** Bytes of the texts of all updates in one list. */
const TEXTS_MAX_BYTES = 1_048_576;
/** Bytes of them that each entry has for the beginning of its newest update and a link. */
const BEGINNING_BYTES = 1_500;
/** Length of that beginning, in code points of up to four bytes. */
const BEGINNING_MAX = 280;

interface Updated {
  shortlink: string;
  incident_updates: { body: string }[];
}

/**
 * Returns entries, newest first, with at most 1 MiB of texts. The texts of the first entries are used first. If an
 * update does not fit, it and the older ones of its entry are left out, and the text before it ends with a link
 * to the entry. Of the newest update of an entry at least the beginning is kept.
 */
function withinLimit<T extends Updated>(entries: readonly T[]): T[] {
  let left = Math.max(0, TEXTS_MAX_BYTES - entries.length * BEGINNING_BYTES);
  return entries.map((entry) => {
    const updates = entry.incident_updates;
    let whole = 0;
    for (const { body } of updates) {
      const bytes = Buffer.byteLength(body);
      if (bytes > left) break;
      left -= bytes;
      whole += 1;
    }
    const last = updates[Math.max(0, whole - 1)];
    if (whole === updates.length || last === undefined) return entry;
    // Enough UTF-16 units for all code points of the beginning.
    const points = Array.from(last.body.slice(0, 2 * BEGINNING_MAX));
    const text = whole > 0 ? last.body : `${points.slice(0, BEGINNING_MAX).join("")}…`;
    const cut = { ...last, body: `${text}\n\n[Further updates](${entry.shortlink})` };
    return { ...entry, incident_updates: [...updates.slice(0, Math.max(0, whole - 1)), cut] };
  });
}

/** Returns all maintenance that has not ended. The page itself shows only the next 30 days. */
function notEnded({ snapshot, reader, now }: Source): MaintenanceRecord[] {
  const pageId = snapshot.document.page.id;
  return listMaintenanceForPage(reader, { pageId, now, until: Number.MAX_SAFE_INTEGER });
}

/** Returns the maintenance that was planned last, with the next occurrence of each schedule only. */
function newestMaintenance(source: Source): MaintenanceRecord[] {
  const pageId = source.snapshot.document.page.id;
  const query = { pageId, isCancelled: 0, isOccurrence: 0, limit: LISTED_MAX };
  const next = notEnded(source).filter(
    ({ row }) => row.scheduleId !== null && row.status === "scheduled",
  );
  return [...listMaintenance(source.reader, query), ...next]
    .toSorted((a, b) => (a.row.id < b.row.id ? 1 : -1))
    .slice(0, LISTED_MAX);
}

function contextOf(snapshot: Snapshot): DocumentContext {
  const components = presentComponents(snapshot).filter(({ group }) => !group);
  return {
    components: new Map(components.map((component) => [component.id, component])),
    pageUrl: snapshot.document.page.url,
  };
}

/**
 * Returns the components of a page as in Statuspage: those without a group, then each group as an item,
 * followed by its components.
 */
function presentComponents({ document, records }: Snapshot): V2Component[] {
  const byGroup = Map.groupBy(document.components, (component) => component.group_id);
  const rowsOf = (groupId: string | null) => (byGroup.get(groupId) ?? []).map(presentComponent);
  const groups = records.groups.flatMap((group): V2Component[] => {
    const own = rowsOf(group.id);
    const row = {
      id: group.id,
      name: group.name,
      status: worstStatus(own.map((component) => component.status)),
      created_at: toIso(group.createdAt),
      updated_at: toIso(group.updatedAt),
      position: group.position,
      description: group.description,
      showcase: false,
      start_date: null,
      group_id: null,
      page_id: group.pageId,
      group: true,
      only_show_if_degraded: false,
      components: own.map(({ id }) => id),
    };
    return [row, ...own];
  });
  return [...rowsOf(null), ...groups];
}

function presentComponent(component: Snapshot["document"]["components"][number]): V2Component {
  const { id, name, status, position, description, showcase, start_date } = component;
  const { created_at, updated_at, group_id, page_id, only_show_if_degraded } = component;
  return {
    id,
    name,
    status,
    created_at,
    updated_at,
    position,
    description,
    showcase,
    start_date,
    group_id,
    page_id,
    group: false,
    only_show_if_degraded,
  };
}

/** Data of the page that incidents and maintenances refer to. */
interface DocumentContext {
  /** Components of the page by id. Deleted ones are missing and are left out. */
  components: ReadonlyMap<string, V2Component>;
  /** URL of the page, without a slash at the end. */
  pageUrl: string;
}

function presentIncident(
  { row, components, updates }: IncidentRecord,
  context: DocumentContext,
): V2Incident {
  return {
    id: row.id,
    name: row.name,
    status: row.postmortemPublishedAt === null ? row.status : "postmortem",
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
    monitoring_at: toIsoOrNull(row.monitoringAt),
    resolved_at: toIsoOrNull(row.resolvedAt),
    impact: row.impact,
    shortlink: `${context.pageUrl}/incidents/${row.id}`,
    started_at: toIso(row.startedAt),
    page_id: row.pageId,
    components: rowsOf(components, context),
    incident_updates: updates.map((update) => ({
      ...presentUpdate(update, row.id),
      status: update.status,
      affected_components:
        update.components.length === 0
          ? null
          : update.components.map((named) => ({
              code: named.componentId,
              name: named.name,
              old_status: named.oldStatus,
              new_status: named.newStatus,
            })),
    })),
  };
}

function presentMaintenance(
  { row, components, updates }: MaintenanceRecord,
  context: DocumentContext,
): V2Maintenance {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
    monitoring_at: null,
    resolved_at: toIsoOrNull(row.completedAt),
    impact: "maintenance",
    shortlink: `${context.pageUrl}/maintenance/${row.id}`,
    // Clients expect a time even if the maintenance has not started.
    started_at: toIso(row.startedAt ?? row.scheduledFor),
    page_id: row.pageId,
    scheduled_for: toIso(row.scheduledFor),
    scheduled_until: toIso(row.scheduledUntil),
    components: rowsOf(components, context),
    incident_updates: updates.map((update) => ({
      ...presentUpdate(update, row.id),
      status: update.status,
      affected_components: null,
    })),
  };
}

function rowsOf(named: readonly { id: string }[], { components }: DocumentContext): V2Component[] {
  return named.flatMap(({ id }) => components.get(id) ?? []);
}

function presentUpdate(
  update: {
    id: string;
    body: string;
    notify: boolean;
    displayAt: number;
    createdAt: number;
    /** Missing for updates of maintenance, which cannot be edited. */
    updatedAt?: number;
  },
  incidentId: string,
) {
  return {
    id: update.id,
    body: update.body,
    incident_id: incidentId,
    created_at: toIso(update.createdAt),
    updated_at: toIso(update.updatedAt ?? update.createdAt),
    display_at: toIso(update.displayAt),
    deliver_notifications: update.notify,
    custom_tweet: null,
    tweet_id: null,
  };
}
