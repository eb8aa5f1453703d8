/*
 * Incidents that Allclear opened, and the outages of monitors that joined or are linked to incidents. Open
 * outages leave out deleted components. The statements by monitor run at each transition. At the end are the readers
 * of an incident's outages.
 */
import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { notFound } from "../../base/errors";
import { replaceIn } from "../../db/replace";
import { areEqual, deleteBy, findBy, listBy, setBy } from "../../db/rows";
import {
  insertInto,
  isAmong,
  mutate,
  type Reader,
  selectMany,
  selectOne,
} from "../../db/statements";
import { components } from "../../db/tables/components";
import { incidents, incidentUpdates } from "../../db/tables/incidents";
import {
  automaticIncidents,
  incidentOutages,
  monitors,
  monitorStates,
} from "../../db/tables/monitors";
import type { Automation } from "./rules";
import { type IncidentRow, isPublished } from "./store";

export type AutomaticRow = typeof automaticIncidents.$inferSelect;

export type OutageRow = typeof incidentOutages.$inferSelect;

/** Condition: an outage joined its incident, and gives its component a status. */
const isJoined = eq(incidentOutages.kind, "joined");

export const findAutomatic = findBy(automaticIncidents, ["incidentId"]);

/**
 * Lists the outages of an incident with their monitors and components, oldest first. The state of a deleted monitor
 * is its last one.
 */
export const listOutagesOfIncident = selectMany((orm, $: { incidentId: string }) =>
  orm
    .select({
      outage: incidentOutages,
      monitorName: monitors.name,
      isMonitorDeleted: sql<number>`${monitors.deletedAt} IS NOT NULL`,
      monitorState: monitorStates.state,
      componentName: components.name,
      componentPosition: components.position,
      isComponentDeleted: sql<number>`${components.deletedAt} IS NOT NULL`,
    })
    .from(incidentOutages)
    .innerJoin(monitors, eq(monitors.id, incidentOutages.monitorId))
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .where(eq(incidentOutages.incidentId, $.incidentId))
    .orderBy(
      asc(incidentOutages.startedAt),
      asc(components.position),
      asc(components.id),
      asc(incidentOutages.monitorId),
    ),
);

/**
 * Lists the monitors that still fail although their incident was resolved or deleted. Nothing reopens until one of
 * them fails again after a recovery.
 */
export const listFailingWithoutIncident = selectMany((orm, _$: Record<string, never>) =>
  orm
    .selectDistinct({
      monitorId: monitors.id,
      monitorName: monitors.name,
      monitorState: monitorStates.state,
      incidentId: incidents.id,
      incidentName: incidents.name,
      isDeleted: sql<number>`${incidents.deletedAt} IS NOT NULL`,
    })
    .from(incidentOutages)
    .innerJoin(incidents, eq(incidents.id, incidentOutages.incidentId))
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .innerJoin(monitors, eq(monitors.id, incidentOutages.monitorId))
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(
      and(
        isNull(incidentOutages.endedAt),
        isNull(components.deletedAt),
        sql`(${incidents.status} = 'resolved' OR ${incidents.deletedAt} IS NOT NULL)`,
      ),
    )
    .orderBy(asc(monitors.id), asc(incidents.id)),
);

export const insertAutomatic = insertInto(automaticIncidents);

export const saveAutomatic = setBy(
  automaticIncidents,
  ["incidentId"],
  ["name", "startedAt", "openedAt", "resolvedAt", "takenOverAt", "updateDueAt"],
);

/** Lists those incidents (`ids`: a JSON list) that Allclear opened. */
export const listAutomatic = selectMany((orm, $: { ids: string }) =>
  orm.select().from(automaticIncidents).where(isAmong(automaticIncidents.incidentId, $.ids)),
);

/** Lists the outages that joined incidents (`ids`: a JSON list), in the order of their components. */
export const listJoinedOutages = selectMany((orm, $: { ids: string }) =>
  orm
    .select({
      incidentId: incidentOutages.incidentId,
      componentId: incidentOutages.componentId,
      name: components.name,
      isDeleted: sql<number>`${components.deletedAt} IS NOT NULL`,
      status: incidentOutages.status,
      startedAt: incidentOutages.startedAt,
      endedAt: incidentOutages.endedAt,
    })
    .from(incidentOutages)
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .where(and(isAmong(incidentOutages.incidentId, $.ids), isJoined))
    .orderBy(asc(components.position), asc(components.id), asc(incidentOutages.startedAt)),
);

/** Lists the outages of a component that joined an incident. */
export const listJoinedOfComponent = listBy(incidentOutages, ["incidentId", "componentId"], {
  where: isJoined,
});

/** Badness of a status that an outage gives, for comparisons. */
const badness = (status: SQL | SQLiteColumn) =>
  sql`CASE ${status} WHEN 'major_outage' THEN 3 WHEN 'partial_outage' THEN 2 ELSE 1 END`;

/**
 * Finds another open outage that gives the same component at least the same status, since the time `at` (unix ms) or
 * earlier. Then an outage that begins or ends at `at` changes nothing.
 */
export const findCoveringOutage = selectOne(
  (
    orm,
    $: { incidentId: string; componentId: string; monitorId: string; status: string; at: number },
  ) =>
    orm
      .select({ monitorId: incidentOutages.monitorId })
      .from(incidentOutages)
      .where(
        and(
          areEqual(incidentOutages, ["incidentId", "componentId"], $, isJoined),
          ne(incidentOutages.monitorId, $.monitorId),
          isNull(incidentOutages.endedAt),
          lte(incidentOutages.startedAt, $.at),
          sql`${badness(incidentOutages.status)} >= ${badness(sql`${$.status}`)}`,
        ),
      )
      .limit(1),
);

/** Finds an outage of a component in an incident with at least a status. */
export const findSimilarOutage = selectOne(
  (orm, $: { incidentId: string; componentId: string; status: string }) =>
    orm
      .select({ startedAt: incidentOutages.startedAt })
      .from(incidentOutages)
      .where(
        and(
          areEqual(incidentOutages, ["incidentId", "componentId"], $, isJoined),
          sql`${badness(incidentOutages.status)} >= ${badness(sql`${$.status}`)}`,
        ),
      )
      .limit(1),
);

/** Stores an outage, or replaces one that began at the same time. */
export const saveOutage = replaceIn(incidentOutages, [
  "incidentId",
  "componentId",
  "monitorId",
  "startedAt",
  "kind",
]);

/** Opens the last outage of a kind of a monitor's component in an incident again. Returns 0 if there was none. */
export const reopenOutage = mutate(
  (orm, $: Pick<OutageRow, "incidentId" | "componentId" | "monitorId" | "kind">) =>
    orm
      .update(incidentOutages)
      .set({ endedAt: null, hasLeft: false })
      .where(
        and(
          areEqual(incidentOutages, ["incidentId", "componentId", "monitorId", "kind"], $),
          sql`${incidentOutages.startedAt} = (
            SELECT max(l.started_at) FROM incident_outages AS l
            WHERE l.incident_id = ${$.incidentId} AND l.component_id = ${$.componentId}
              AND l.monitor_id = ${$.monitorId} AND l.kind = ${$.kind})`,
        ),
      ),
);

/** Ends an outage at a time (unix ms), never before its start. */
export const endOutage = mutate(
  (orm, $: Omit<OutageRow, "status" | "endedAt"> & { endedAt: number }) =>
    orm
      .update(incidentOutages)
      .set({
        endedAt: sql`max(${incidentOutages.startedAt}, ${$.endedAt})`,
        hasLeft: sql`${$.hasLeft}`,
      })
      .where(
        areEqual(
          incidentOutages,
          ["incidentId", "componentId", "monitorId", "startedAt", "kind"],
          $,
        ),
      ),
);

/** Lists the open outages of a monitor with the pages of their components, those of deleted components included. */
export const listOpenOutagesOf = selectMany((orm, $: { monitorId: string }) =>
  orm
    .select({
      outage: incidentOutages,
      // Null for a deleted component.
      pageId: sql<string | null>`iif(${components.deletedAt} IS NULL, ${components.pageId}, NULL)`,
    })
    .from(incidentOutages)
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .where(and(eq(incidentOutages.monitorId, $.monitorId), isNull(incidentOutages.endedAt)))
    .orderBy(asc(incidentOutages.componentId)),
);

/** Finds an open outage of an incident. */
export const findOpenOutage = selectOne((orm, $: { incidentId: string }) =>
  orm
    .select({ monitorId: incidentOutages.monitorId })
    .from(incidentOutages)
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .where(
      and(
        eq(incidentOutages.incidentId, $.incidentId),
        isNull(incidentOutages.endedAt),
        isNull(components.deletedAt),
      ),
    )
    .limit(1),
);

/** Finds the last recovery of an incident's monitors; null if there was none. */
export const findLastRecovery = selectOne((orm, $: { incidentId: string }) =>
  orm
    .select({ at: sql<number | null>`max(${incidentOutages.endedAt})` })
    .from(incidentOutages)
    .where(and(eq(incidentOutages.incidentId, $.incidentId), eq(incidentOutages.hasLeft, false))),
);

export const findNewestOutageStart = selectOne((orm, $: { incidentId: string }) =>
  orm
    .select({ startedAt: sql<number | null>`max(${incidentOutages.startedAt})` })
    .from(incidentOutages)
    .where(eq(incidentOutages.incidentId, $.incidentId)),
);

export const countOutages = selectOne((orm, $: { incidentId: string }) =>
  orm
    .select({ count: sql<number>`count(*)` })
    .from(incidentOutages)
    .where(eq(incidentOutages.incidentId, $.incidentId)),
);

/** Finds the time (unix ms) at which the newest update of an incident was written, and the number of updates. */
export const findLastWritten = selectOne((orm, $: { incidentId: string }) =>
  orm
    .select({
      at: sql<number | null>`max(${incidentUpdates.createdAt})`,
      count: sql<number>`count(*)`,
    })
    .from(incidentUpdates)
    .where(eq(incidentUpdates.incidentId, $.incidentId)),
);

/** Lists the first components of an incident's outages in their order, with their worst statuses and the number of all. */
export const listTitleComponents = selectMany((orm, $: { incidentId: string; limit: number }) =>
  orm
    .select({
      name: components.name,
      badness: sql<number>`max(${badness(incidentOutages.status)})`,
      // A window function takes twice as long.
      count: sql<number>`(SELECT count(DISTINCT component_id) FROM incident_outages
        WHERE incident_id = ${$.incidentId} AND kind = 'joined')`,
    })
    .from(incidentOutages)
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .where(and(eq(incidentOutages.incidentId, $.incidentId), isJoined))
    .groupBy(incidentOutages.componentId)
    .orderBy(asc(components.position), asc(components.id))
    .limit($.limit),
);

/**
 * Lists the monitors of an incident with the pages of their events. `componentIds` is a JSON list; null for those of
 * all components.
 */
export const listMonitorsOfEvents = selectMany(
  (orm, $: { incidentId: string; componentIds: string | null }) =>
    orm
      .selectDistinct({
        id: incidentOutages.monitorId,
        pageId: sql<string | null>`(
          SELECT CASE WHEN count(DISTINCT k.page_id) = 1 THEN min(k.page_id) END
          FROM monitor_components AS w
          CROSS JOIN components AS k ON k.id = w.component_id AND k.deleted_at IS NULL
          CROSS JOIN pages AS p ON p.id = k.page_id AND p.deleted_at IS NULL
          WHERE w.monitor_id = incident_outages.monitor_id)`,
      })
      .from(incidentOutages)
      .where(
        and(
          eq(incidentOutages.incidentId, $.incidentId),
          sql`(${$.componentIds} IS NULL OR ${incidentOutages.componentId} IN (
            SELECT value FROM json_each(${$.componentIds})))`,
        ),
      ),
);

/**
 * Finds the incident whose update has been due for longest at `now` (unix ms). One that is due after `latest`, the end
 * of the longest wait, was planned before the clock was set back.
 */
export const findDueIncident = selectOne((orm, $: { now: number; latest: number }) =>
  orm
    .select()
    .from(automaticIncidents)
    .where(
      and(
        sql`${automaticIncidents.updateDueAt} IS NOT NULL`,
        sql`(${automaticIncidents.updateDueAt} <= ${$.now} OR ${automaticIncidents.updateDueAt} > ${$.latest})`,
      ),
    )
    .orderBy(asc(automaticIncidents.updateDueAt))
    .limit(1),
);

const AUTOMATIC = { automatic: automaticIncidents, incident: incidents };

/**
 * Lists the open incidents of a page that are Allclear's, and that it opened or reopened between two times (unix ms,
 * both excluded), newest first: at most 5, since one may have no room. `draft` is 1 for drafts, else 0.
 */
export const listJoinable = selectMany(
  (orm, $: { pageId: string; draft: number; from: number; to: number }) =>
    orm
      .select(AUTOMATIC)
      .from(automaticIncidents)
      .innerJoin(incidents, eq(incidents.id, automaticIncidents.incidentId))
      .where(
        and(
          eq(automaticIncidents.pageId, $.pageId),
          gt(automaticIncidents.openedAt, $.from),
          lt(automaticIncidents.openedAt, $.to),
          isNull(automaticIncidents.takenOverAt),
          sql`${incidents.status} <> 'resolved'`,
          sql`${incidents.draft} = ${$.draft}`,
          isNull(incidents.deletedAt),
        ),
      )
      .orderBy(desc(automaticIncidents.openedAt), asc(automaticIncidents.incidentId))
      .limit(5),
);

/**
 * Lists the incidents of a page that are Allclear's, have joined outages of some components (`componentIds`: a JSON
 * list), and are open or were resolved from `resolvedFrom` on (unix ms). Newest first, at most 20.
 */
export const listReopenable = selectMany(
  (orm, $: { pageId: string; componentIds: string; resolvedFrom: number }) =>
    orm
      .select(AUTOMATIC)
      .from(
        sql`(SELECT id FROM incidents
            WHERE page_id = ${$.pageId} AND status <> 'resolved' AND deleted_at IS NULL
          UNION ALL SELECT id FROM incidents
            WHERE page_id = ${$.pageId} AND resolved_at >= ${$.resolvedFrom}) AS recent`,
      )
      .crossJoin(automaticIncidents)
      .crossJoin(incidents)
      .where(
        and(
          sql`${automaticIncidents.incidentId} = recent.id AND ${incidents.id} = recent.id`,
          isNull(automaticIncidents.takenOverAt),
          isNull(incidents.deletedAt),
          sql`EXISTS (SELECT 1 FROM incident_outages AS o
            WHERE o.incident_id = recent.id AND o.kind = 'joined'
              AND o.component_id IN (SELECT value FROM json_each(${$.componentIds})))`,
        ),
      )
      .orderBy(desc(automaticIncidents.incidentId))
      .limit(20),
);

/** Finds an outage of a monitor in an incident. */
export const findOutageOfMonitor = selectOne((orm, $: { incidentId: string; monitorId: string }) =>
  orm
    .select({ startedAt: incidentOutages.startedAt })
    .from(incidentOutages)
    .where(areEqual(incidentOutages, ["monitorId", "incidentId"], $))
    .limit(1),
);

/** Deletes the outages of an incident, before a draft moves to another outage. */
export const deleteOutages = deleteBy(incidentOutages, ["incidentId"]);

/** Moves the outages of monitors (`monitorIds`: a JSON list) into another incident. */
export const moveOutages = mutate((orm, $: { from: string; to: string; monitorIds: string }) =>
  orm
    .update(incidentOutages)
    .set({ incidentId: $.to })
    .where(
      and(eq(incidentOutages.incidentId, $.from), isAmong(incidentOutages.monitorId, $.monitorIds)),
    ),
);

/**
 * Finds an open incident of a page that an outage of a component has joined, and whose updates name it: a published
 * one that no one has taken over. The outage began at `startedFrom` (unix ms) or later, and is open or the update about
 * its end waits.
 */
export const findJoinedIncident = selectOne(
  (orm, $: { pageId: string; componentId: string; startedFrom: number }) =>
    orm
      .select({ id: incidents.id })
      .from(incidents)
      .crossJoin(automaticIncidents)
      .crossJoin(incidentOutages)
      .where(
        and(
          eq(incidents.pageId, $.pageId),
          // Written as in the partial index of open incidents.
          sql`${incidents.status} <> 'resolved'`,
          isPublished,
          eq(automaticIncidents.incidentId, incidents.id),
          isNull(automaticIncidents.takenOverAt),
          eq(incidentOutages.incidentId, incidents.id),
          eq(incidentOutages.componentId, $.componentId),
          isJoined,
          gte(incidentOutages.startedAt, $.startedFrom),
          or(isNull(incidentOutages.endedAt), isNotNull(automaticIncidents.updateDueAt)),
        ),
      )
      .limit(1),
);

/** Counts the monitors of incidents (`ids`: a JSON list), and those that fail. */
export const countOutagesOfIncidents = selectMany((orm, $: { ids: string }) =>
  orm
    .select({
      incidentId: incidentOutages.incidentId,
      monitors: sql<number>`count(DISTINCT ${incidentOutages.monitorId})`,
      open: sql<number>`count(DISTINCT CASE
        WHEN ${incidentOutages.endedAt} IS NULL AND ${components.deletedAt} IS NULL
        THEN ${incidentOutages.monitorId} END)`,
    })
    .from(incidentOutages)
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .where(isAmong(incidentOutages.incidentId, $.ids))
    .groupBy(incidentOutages.incidentId),
);

/** Lists the incidents to which the present outage of a monitor belongs, newest first. */
export const listIncidentsOfOutage = selectMany((orm, $: { monitorId: string }) =>
  orm
    .selectDistinct({
      incidentId: incidents.id,
      incidentName: incidents.name,
      status: incidents.status,
      isDraft: incidents.draft,
      isDeleted: sql<number>`${incidents.deletedAt} IS NOT NULL`,
    })
    .from(incidentOutages)
    .innerJoin(incidents, eq(incidents.id, incidentOutages.incidentId))
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .where(
      and(
        eq(incidentOutages.monitorId, $.monitorId),
        isNull(incidentOutages.endedAt),
        isNull(components.deletedAt),
      ),
    )
    .orderBy(desc(incidents.id)),
);

/** Returns the row of an incident that Allclear opened. Throws `not_found` for any other. */
export function getAutomatic(reader: Reader, incidentId: string): AutomaticRow {
  const automatic = findAutomatic(reader, { incidentId });
  if (!automatic) throw notFound("incident");
  return automatic;
}

/** Returns the outages of an incident that Allclear opened; undefined for any other. */
export function automationOf(
  reader: Reader,
  row: Pick<IncidentRow, "id" | "source">,
): Automation | undefined {
  return automationsOf(reader, [row]).get(row.id);
}

/** Returns the outages of those incidents that Allclear opened, by incident id. */
export function automationsOf(
  reader: Reader,
  rows: readonly Pick<IncidentRow, "id" | "source">[],
): Map<string, Automation> {
  const opened = rows.filter(({ source }) => source === "monitor");
  if (opened.length === 0) return new Map();
  const ids = JSON.stringify(opened.map(({ id }) => id));
  const outages = Map.groupBy(listJoinedOutages(reader, { ids }), ({ incidentId }) => incidentId);
  return new Map(
    listAutomatic(reader, { ids }).map(({ incidentId, startedAt, takenOverAt }) => [
      incidentId,
      { startedAt, takenOverAt, outages: outages.get(incidentId) ?? [] },
    ]),
  );
}

/** An outage of an incident, with the names of its monitor and component. */
export type ShownOutage = ReturnType<typeof listOutagesOfIncident>[number];

/** Outages of an incident, and what follows from them. */
export interface IncidentOutages {
  /** Oldest first. */
  outages: readonly ShownOutage[];
  /** True while monitors that fail join the incident and their recovery resolves it. */
  isAutomatic: boolean;
  /** Time at which a person or a key took over an incident that Allclear opened, in unix ms. */
  takenOverAt: number | null;
  /** Time at which an update about what changed since the last one is written, in unix ms. */
  updateDueAt: number | null;
  /** Ids of the monitors with an open outage. */
  failingMonitorIds: readonly string[];
  /** True for an open incident of which all outages have ended, and which Allclear does not resolve by itself. */
  isOver: boolean;
  /** True if `splitOff` can move some of the outages into an incident of their own. */
  canSplitOff: boolean;
}

/** Returns the outages of an incident. */
export function readOutages(
  reader: Reader,
  { id, status }: Pick<IncidentRow, "id" | "status">,
): IncidentOutages {
  const outages = listOutagesOfIncident(reader, { incidentId: id });
  const automatic = findAutomatic(reader, { incidentId: id });
  const takenOverAt = automatic?.takenOverAt ?? null;
  const isAutomatic = automatic !== undefined && takenOverAt === null;
  const open = outages.filter(
    ({ outage, isComponentDeleted }) => outage.endedAt === null && isComponentDeleted === 0,
  );
  const failing = new Set(open.map(({ outage }) => outage.monitorId));
  const isOpen = status !== "resolved";
  return {
    outages,
    isAutomatic,
    takenOverAt,
    updateDueAt: automatic?.updateDueAt ?? null,
    failingMonitorIds: [...failing],
    isOver: isOpen && outages.length > 0 && failing.size === 0,
    canSplitOff: isAutomatic && isOpen && failing.size > 1,
  };
}
