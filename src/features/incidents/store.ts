import {
  and,
  asc,
  desc,
  eq,
  exists,
  getTableColumns,
  gte,
  isNull,
  lt,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { type Impact, IMPACTS, INCIDENT_STATUSES, type IncidentStatus } from "../../base/status";
import { declareOrders, type Place, rankAmong } from "../../db/orders";
import { declareParts } from "../../db/parts";
import { deleteBy, findBy } from "../../db/rows";
import {
  insertAllInto,
  insertInto,
  isAmong,
  mutate,
  type Orm,
  type Reader,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import { incidents, incidentUpdateComponents, incidentUpdates } from "../../db/tables/incidents";
import { pageAddress, pages } from "../../db/tables/pages";
import type { PartSearch } from "../../db/word-search";
import {
  isAmongNewest,
  isFoundOnPages,
  isWithin,
  newestFirst,
  newestStartFirst,
  type SpanParams,
  textSizes,
  type WithinSpan,
} from "../timeline/store";

export type IncidentRow = typeof incidents.$inferSelect;

export type UpdateRow = typeof incidentUpdates.$inferSelect;

export type NamingRow = typeof incidentUpdateComponents.$inferSelect;

export const insertIncident = insertInto(incidents);

export const updateIncidentRow = updateById(incidents);

export const insertUpdate = insertInto(incidentUpdates);

export const updateUpdateRow = updateById(incidentUpdates);

/** Deletes all updates of an incident with the statuses that they gave. */
export const deleteUpdates = deleteBy(incidentUpdates, ["incidentId"]);

export const insertNamings = insertAllInto(incidentUpdateComponents);

const COLUMNS = { row: incidents, page: pageAddress };

const selectWithPage = (orm: Orm) =>
  orm.select(COLUMNS).from(incidents).innerJoin(pages, eq(pages.id, incidents.pageId));

/** Finds an incident, unless its page was deleted. */
export const findIncident = selectOne((orm, $: { id: string }) =>
  selectWithPage(orm).where(
    and(eq(incidents.id, $.id), isNull(incidents.deletedAt), isNull(pages.deletedAt)),
  ),
);

export const findIncidentByRef = findBy(incidents, ["pageId", "externalRef"], {
  where: isNull(incidents.deletedAt),
});

const { body, ...withoutBody } = getTableColumns(incidentUpdates);

const { id, incidentId } = withoutBody;

/** Columns of an update without its text. */
const UPDATE_SUMMARY = withoutBody;

/** Lists all updates of incidents (`ids`: a JSON list) without their texts, in no order. */
export const listUpdatesWithoutBody = selectMany((orm, $: { ids: string }) =>
  orm.select(UPDATE_SUMMARY).from(incidentUpdates).where(isAmong(incidentId, $.ids)),
);

/** Lists the texts of updates (`ids`: a JSON list). */
export const listUpdateBodies = selectMany((orm, $: { ids: string }) =>
  orm.select({ id, body }).from(incidentUpdates).where(isAmong(id, $.ids)),
);

/** Lists the component statuses of all updates of incidents (`ids`: a JSON list). */
export const listNamings = selectMany((orm, $: { ids: string }) =>
  orm
    .select({ naming: incidentUpdateComponents })
    .from(incidentUpdates)
    .innerJoin(incidentUpdateComponents, eq(incidentUpdateComponents.updateId, id))
    .where(isAmong(incidentId, $.ids))
    .orderBy(asc(incidentUpdateComponents.updateId), asc(incidentUpdateComponents.componentId)),
);

/** Filters of the list; null matches everything. Times in unix ms. */
interface ListParams {
  pageId: string | null;
  componentId: string | null;
  status: IncidentStatus | null;
  /** Limits of the start: `since` or later, and before `until`. */
  since: number | null;
  until: number | null;
  /** 1 to include drafts; else 0. */
  draftsToo: number;
  /** 1 for drafts only; else 0. */
  draftsOnly: number;
  impact: Impact | null;
  /** Part of the name of the incident, or of a component that it names. */
  search: string | null;
  /** Id at which the previous page ended: only lower ids match. */
  before: string;
  limit: number;
}

const naming = incidentUpdateComponents;

/**
 * Builds the list statement for the filters that decide which index is read. The other filters are
 * conditions on the rows, so that the text of each statement is constant.
 */
function listStatement(by: { page: boolean; component: boolean; open?: boolean | undefined }) {
  // The plus keeps SQLite from reading ids in order, so that it uses the index of open incidents.
  const position = by.open === true ? sql`+${incidents.id}` : sql`${incidents.id}`;
  return selectMany((orm, $: ListParams) => {
    const conditions: (SQL | undefined)[] = [
      sql`${position} < ${$.before}`,
      isNull(incidents.deletedAt),
      isNull(pages.deletedAt),
      or(eq(incidents.draft, false), sql`${$.draftsToo}`),
      or(eq(incidents.draft, true), sql`NOT ${$.draftsOnly}`),
      isSearched($),
      sql`(${$.impact} IS NULL OR ${incidents.impact} = ${$.impact})`,
      sql`(${$.status} IS NULL OR ${incidents.status} = ${$.status})`,
      sql`(${$.since} IS NULL OR ${incidents.startedAt} >= ${$.since})`,
      sql`(${$.until} IS NULL OR ${incidents.startedAt} < ${$.until})`,
    ];
    if (by.page) conditions.push(sql`${incidents.pageId} = ${$.pageId}`);
    // Written as in the partial index of open incidents.
    if (by.open === true) conditions.push(sql`${incidents.status} <> 'resolved'`);
    if (by.open === false) conditions.push(sql`${incidents.status} = 'resolved'`);
    const isNamed = sql`${naming.componentId} = ${$.componentId}`;
    if (by.component && by.open !== true) {
      // Several updates of one incident may name the component. Groups keep the order of the index, so
      // that no more rows are read than shown.
      return orm
        .select(COLUMNS)
        .from(naming)
        .crossJoin(incidents)
        .innerJoin(pages, eq(pages.id, incidents.pageId))
        .where(
          and(
            isNamed,
            eq(incidents.id, naming.incidentId),
            sql`${naming.incidentId} < ${$.before}`,
            ...conditions,
          ),
        )
        .groupBy(naming.incidentId)
        .orderBy(desc(naming.incidentId))
        .limit($.limit);
    }
    if (by.component) {
      const itself = eq(naming.incidentId, incidents.id);
      conditions.push(
        exists(
          orm
            .select({ one: sql`1` })
            .from(naming)
            .where(and(isNamed, itself)),
        ),
      );
    }
    return selectWithPage(orm)
      .where(and(...conditions))
      .orderBy(desc(position))
      .limit($.limit);
  });
}

type ListStatement = ReturnType<typeof listStatement>;

const OPENNESS = [undefined, true, false] as const;

const nameOf = (page: boolean, component: boolean, open: boolean | undefined) =>
  `${page} ${component} ${open}`;

const LISTS: ReadonlyMap<string, ListStatement> = new Map(
  [true, false].flatMap((page) =>
    [true, false].flatMap((component) =>
      OPENNESS.map((open) => [
        nameOf(page, component, open),
        listStatement({ page, component, open }),
      ]),
    ),
  ),
);

type ListQuery = Omit<ListParams, "draftsOnly" | "impact" | "search"> &
  Partial<ListParams> & { open: boolean | undefined };

/** Lists incidents, newest first: unresolved ones if `open` is true, resolved ones if it is false. */
export function listIncidentRows(reader: Reader, { open: isOpen, ...filters }: ListQuery) {
  const params: ListParams = { draftsOnly: 0, impact: null, search: null, ...filters };
  const isOpenStatus = params.status !== null && params.status !== "resolved";
  const open = isOpen ?? (isOpenStatus || undefined);
  const list = LISTS.get(nameOf(params.pageId !== null, params.componentId !== null, open));
  return list?.(reader, params) ?? [];
}

/** Condition: an incident is public. */
export const isPublished = and(eq(incidents.draft, false), isNull(incidents.deletedAt));

/** Condition: an incident of a page is public and not resolved. */
const isOpenOfPage = (pageId: string) =>
  and(eq(incidents.pageId, pageId), sql`${incidents.status} <> 'resolved'`, isPublished);

/** Lists the published open incidents of a page, newest start first: at most 50. */
export const listOpenRows = selectMany((orm, $: { pageId: string }) =>
  selectWithPage(orm)
    .where(isOpenOfPage($.pageId))
    .orderBy(desc(incidents.startedAt), desc(incidents.id))
    .limit(50),
);

/** Lists the impacts of a page's published open incidents. */
export const listOpenImpacts = selectMany((orm, $: { pageId: string }) =>
  orm.select({ impact: incidents.impact }).from(incidents).where(isOpenOfPage($.pageId)),
);

/** Lists all published open incidents of a page, in no order. */
export const listAllOpenRows = selectMany((orm, $: { pageId: string }) =>
  selectWithPage(orm).where(isOpenOfPage($.pageId)),
);

/** Deletes incidents (`ids`: a JSON list) at a time (unix ms), each with a new version. */
export const deleteIncidentRows = mutate((orm, $: { ids: string; at: number }) =>
  orm
    .update(incidents)
    .set({ version: sql`${incidents.version} + 1`, updatedAt: $.at, deletedAt: $.at })
    .where(isAmong(incidents.id, $.ids)),
);

/** Lists the published incidents of a page that started last, newest start first. */
export const listNewestRows = selectMany((orm, $: { pageId: string; limit: number }) =>
  selectWithPage(orm)
    .where(and(eq(incidents.pageId, $.pageId), isPublished))
    .orderBy(desc(incidents.startedAt), desc(incidents.id))
    .limit($.limit),
);

/**
 * Counts the rows of incidents (`ids`: a JSON list), in its order: one for each component that an
 * update names, one for an update that names none, and one for each outage. Counting stops after `most` rows in total.
 */
export const listRowCounts = selectMany((orm, $: { ids: string; most: number }) =>
  orm
    .select({ id: sql<string>`id`, rows: sql<number>`count(*)` })
    .from(
      sql`(SELECT i.value AS id FROM json_each(${$.ids}) AS i
        CROSS JOIN incident_updates AS u ON u.incident_id = i.value
        LEFT JOIN incident_update_components AS n ON n.update_id = u.id
        UNION ALL SELECT i.value AS id FROM json_each(${$.ids}) AS i
        CROSS JOIN incident_outages AS o ON o.incident_id = i.value
        LIMIT ${$.most})`,
    )
    .groupBy(sql`id`),
);

/** Returns the bytes of the texts of the newest updates of incidents. */
export const listTextSizes = textSizes(incidentUpdates.incidentId);

/** Lists the newest updates of incidents (`ids`: a JSON list) without their texts, at most `each` of one. */
export const listNewestUpdates = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(UPDATE_SUMMARY)
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(incidentUpdates)
    .where(isAmongNewest(incidentUpdates.id, incidentUpdates.incidentId, $.each))
    .orderBy(...newestFirst(incidentUpdates)),
);

/** Lists the first `most` components that updates (`ids`: a JSON list) name, in the order of `ids`. */
export const listFirstNamings = selectMany((orm, $: { ids: string; most: number }) =>
  orm
    .select({ naming })
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(naming)
    .where(sql`${naming.updateId} = i.value`)
    .limit($.most),
);

const SUMMARY = {
  id: incidents.id,
  name: incidents.name,
  status: incidents.status,
  impact: incidents.impact,
  startedAt: incidents.startedAt,
  resolvedAt: incidents.resolvedAt,
  postmortemPublishedAt: incidents.postmortemPublishedAt,
  nameLang: incidents.nameLang,
};

/** Lists published incidents that started within a span, newest start first. */
export const listSummariesBetween = selectMany((orm, $: SpanParams) =>
  orm
    .select(SUMMARY)
    .from(incidents)
    .where(and(...isWithin(incidents, $), isPublished))
    .orderBy(...newestStartFirst(incidents))
    .limit($.limit),
);

/** Lists published incidents that were open within a span, newest start first. */
export const listSummariesWithin = selectMany((orm, $: WithinSpan) =>
  orm
    .select(SUMMARY)
    .from(incidents)
    .where(
      and(
        eq(incidents.pageId, $.pageId),
        lt(incidents.startedAt, $.to),
        sql`(${incidents.resolvedAt} IS NULL OR ${incidents.resolvedAt} >= ${$.from})`,
        isPublished,
      ),
    )
    .orderBy(...newestStartFirst(incidents))
    .limit($.limit),
);

/** Lists published incidents of a page that were resolved at `since` (unix ms) or later, the last first. */
export const listEndedSummaries = selectMany(
  (orm, $: { pageId: string; since: number; limit: number }) =>
    orm
      .select(SUMMARY)
      .from(incidents)
      .where(and(eq(incidents.pageId, $.pageId), gte(incidents.resolvedAt, $.since), isPublished))
      .orderBy(desc(incidents.resolvedAt), desc(incidents.id))
      .limit($.limit),
);

/**
 * Lists the published open incidents of a page before a position, newest start first. Found by the partial
 * index of open incidents.
 */
export const listOpenSummaries = selectMany(
  (orm, $: { pageId: string; beforeAt: number; beforeId: string; limit: number }) =>
    orm
      .select(SUMMARY)
      .from(incidents)
      .where(
        and(
          eq(incidents.pageId, $.pageId),
          // Written as in the partial index.
          sql`${incidents.status} <> 'resolved'`,
          isPublished,
          sql`(${incidents.startedAt}, ${incidents.id}) < (${$.beforeAt}, ${$.beforeId})`,
        ),
      )
      .orderBy(...newestStartFirst(incidents))
      .limit($.limit),
);

/**
 * Finds the names by id of the published incidents of a page, as JSON objects: of open ones, and of those
 * that were resolved at `since` (unix ms) or later and are among the `limit` ones that were resolved last.
 * One row takes a third of the time of many, and half of that without a sorted list of them.
 */
export const findIncidentNames = selectOne(
  (orm, $: { pageId: string; since: number; limit: number }) =>
    orm
      .select({
        open: sql<string>`(SELECT json_group_object(id, name) FROM incidents
          WHERE page_id = ${$.pageId} AND status <> 'resolved' AND draft = 0 AND deleted_at IS NULL)`,
        resolved: sql<string>`(SELECT json_group_object(id, name) FROM incidents
          WHERE page_id = ${$.pageId} AND draft = 0 AND deleted_at IS NULL
            AND resolved_at >= coalesce((SELECT resolved_at FROM incidents
              WHERE page_id = ${$.pageId} AND resolved_at >= ${$.since}
              ORDER BY resolved_at DESC LIMIT 1 OFFSET ${$.limit} - 1), ${$.since}))`,
      })
      .from(sql`(SELECT 1)`),
);

/** Counts the published incidents of a page. */
export const countPublished = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ count: sql<number>`count(*)` })
    .from(incidents)
    .where(and(eq(incidents.pageId, $.pageId), isPublished)),
);

/** Finds the published incident of a page that started first. */
export const findFirstSummary = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ startedAt: incidents.startedAt })
    .from(incidents)
    .where(and(eq(incidents.pageId, $.pageId), isPublished))
    .orderBy(asc(incidents.startedAt))
    .limit(1),
);

/** Lists the component names that incidents (`ids`: a JSON list) used, in the order of effect. */
export const listNames = selectMany((orm, $: { ids: string }) =>
  orm
    .select({
      incidentId: incidentUpdates.incidentId,
      componentId: naming.componentId,
      name: naming.name,
    })
    .from(incidentUpdates)
    .innerJoin(naming, eq(naming.updateId, incidentUpdates.id))
    .where(isAmong(incidentUpdates.incidentId, $.ids))
    .orderBy(asc(incidentUpdates.displayAt), asc(incidentUpdates.id), asc(naming.componentId)),
);

/** Filters of the dashboard's list; null matches everything. */
interface ListFilters {
  pageId: string | null;
  componentId: string | null;
  impact: Impact | null;
  search: string | null;
}

const isListed = ($: ListFilters) =>
  and(
    isNull(incidents.deletedAt),
    sql`${incidents.pageId} IN (SELECT id FROM pages WHERE deleted_at IS NULL)`,
    sql`(${$.pageId} IS NULL OR ${incidents.pageId} = ${$.pageId})`,
    sql`(${$.impact} IS NULL OR ${incidents.impact} = ${$.impact})`,
    sql`(${$.componentId} IS NULL OR ${incidents.id} IN
      (SELECT incident_id FROM incident_update_components WHERE component_id = ${$.componentId}))`,
    isSearched($),
  );

/** Counts the incidents of the dashboard's list. A draft is only a draft. */
export const countRows = selectOne((orm, $: ListFilters) =>
  orm
    .select({
      open: sql<number>`count(*) FILTER (WHERE NOT ${incidents.draft} AND ${incidents.status} <> 'resolved')`,
      drafts: sql<number>`count(*) FILTER (WHERE ${incidents.draft})`,
      resolved: sql<number>`count(*) FILTER (WHERE NOT ${incidents.draft} AND ${incidents.status} = 'resolved')`,
    })
    .from(incidents)
    .where(isListed($)),
);

/**
 * Lists the ids of incidents in the order of a column, after the place of another one. Reads all of them once.
 * `isDraft` and `isOpen` are 0 or 1; null matches both. `now` (unix ms) ends the durations of open ones.
 */
export const listIdsInOrder = declareOrders(
  incidents.id,
  {
    name: sql`lower(${incidents.name})`,
    impact: rankAmong(incidents.impact, IMPACTS),
    status: rankAmong(incidents.status, INCIDENT_STATUSES),
    duration: sql`coalesce(${incidents.resolvedAt}, ${sql.placeholder("now")}) - ${incidents.startedAt}`,
    started: sql`${incidents.startedAt}`,
  },
  ({ value, isAfter, by }) =>
    selectMany(
      (
        orm,
        $: ListFilters &
          Place & {
            status: IncidentStatus | null;
            isDraft: 0 | 1 | null;
            isOpen: 0 | 1 | null;
            now: number;
            limit: number;
          },
      ) =>
        orm
          .select({ id: incidents.id, value })
          .from(incidents)
          .where(
            and(
              isListed($),
              sql`(${$.status} IS NULL OR ${incidents.status} = ${$.status})`,
              sql`(${$.isDraft} IS NULL OR ${incidents.draft} = ${$.isDraft})`,
              sql`(${$.isOpen} IS NULL OR (${incidents.status} <> 'resolved') = ${$.isOpen})`,
              isAfter($),
            ),
          )
          .orderBy(...by)
          .limit($.limit),
    ),
);

/** Counts all incidents, deleted ones included, from an index alone. */
export const countAllRows = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ count: sql<number>`count(*)` }).from(incidents),
);

/** Counts the published open incidents of each page and impact. */
export const countOpenImpacts = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ pageId: incidents.pageId, impact: incidents.impact, count: sql<number>`count(*)` })
    .from(incidents)
    .where(and(sql`${incidents.status} <> 'resolved'`, isPublished))
    .groupBy(incidents.pageId, incidents.impact),
);

/*
 * Incidents of all pages, for the overview. Open incidents of a page are found by their partial index,
 * its last incident by `incidents_by_start`.
 */

/** Lists the open incidents of all pages, drafts included, in no particular order. Times in unix ms. */
export const listAllOpenIncidents = selectMany((orm, $: { limit: number }) =>
  orm
    .select({
      id: incidents.id,
      name: incidents.name,
      isDraft: incidents.draft,
      impact: incidents.impact,
      status: incidents.status,
      pageId: incidents.pageId,
      startedAt: incidents.startedAt,
      createdAt: incidents.createdAt,
      /** Time of the newest update; null without updates. */
      updateAt: sql<number | null>`(
        SELECT max(display_at) FROM incident_updates WHERE incident_id = ${incidents.id})`,
    })
    .from(pages)
    .crossJoin(incidents)
    .where(
      and(
        isNull(pages.deletedAt),
        eq(incidents.pageId, pages.id),
        // Written as in the partial index of open incidents.
        sql`${incidents.status} <> 'resolved'`,
        isNull(incidents.deletedAt),
      ),
    )
    .limit($.limit),
);

/** Finds the latest start of a published incident of any page, in unix ms. */
export const findLastIncidentStart = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({
      at: sql<number | null>`max((
        SELECT i.started_at FROM incidents AS i
        WHERE i.page_id = pages.id AND i.draft = 0 AND i.deleted_at IS NULL
        ORDER BY i.started_at DESC LIMIT 1))`,
    })
    .from(pages)
    .where(isNull(pages.deletedAt)),
);

export type OpenIncident = ReturnType<typeof listAllOpenIncidents>[number];

/* Search of incidents on all pages. Not hot: at most every incident is read once, in parts. */

/**
 * Condition: the name of an incident, or of a component that it names, contains a text; null matches
 * all. The list of incidents with such components is made at most once per statement.
 */
const isSearched = ($: { search: string | null }) =>
  sql`(${$.search} IS NULL OR instr(lower(incidents.name), lower(${$.search})) > 0
    OR incidents.id IN (SELECT n.incident_id FROM components AS c
      CROSS JOIN incident_update_components AS n ON n.component_id = c.id
      WHERE instr(lower(c.name), lower(${$.search})) > 0))`;

const searchPart = selectMany((orm, $: PartSearch) =>
  orm
    .select({
      id: incidents.id,
      name: incidents.name,
      impact: incidents.impact,
      status: incidents.status,
      isDraft: incidents.draft,
      startedAt: incidents.startedAt,
      pageName: pages.name,
    })
    .from(incidents)
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .where(isFoundOnPages(incidents, $))
    .orderBy(desc(incidents.id))
    .limit($.limit),
);

/**
 * Lists the incidents, drafts included, whose name, page or id contains the words (`wordsOf`), newest first, in
 * several turns.
 */
export const searchIncidents = declareParts(incidents, searchPart);
