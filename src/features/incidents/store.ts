import {
  and,
  asc,
  desc,
  eq,
  exists,
  getTableColumns,
  isNull,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import {
  insertAllInto,
  insertInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import type { Orm } from "../../db/statement-cache";
import { incidents, incidentUpdateComponents, incidentUpdates } from "../../db/tables/incidents";
import { pageAddress, pages } from "../../db/tables/pages";
import type { Impact, IncidentStatus } from "../../domain/incident-status";
import { isSearched } from "./search-store";

export type IncidentRow = typeof incidents.$inferSelect;
export type UpdateRow = typeof incidentUpdates.$inferSelect;
export type NamingRow = typeof incidentUpdateComponents.$inferSelect;

export const insertIncident = insertInto(incidents);
export const updateIncidentRow = updateById(incidents);
export const insertUpdate = insertInto(incidentUpdates);
export const updateUpdateRow = updateById(incidentUpdates);
/** Deletes all updates of an incident with the statuses that they gave. */
export const deleteUpdates = mutate((orm, $: { incidentId: string }) =>
  orm.delete(incidentUpdates).where(eq(incidentUpdates.incidentId, $.incidentId)),
);
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

export const findIncidentByRef = selectOne((orm, $: { pageId: string; externalRef: string }) =>
  orm
    .select({ id: incidents.id, draft: incidents.draft })
    .from(incidents)
    .where(
      and(
        eq(incidents.pageId, $.pageId),
        eq(incidents.externalRef, $.externalRef),
        isNull(incidents.deletedAt),
      ),
    ),
);

const { body, ...withoutBody } = getTableColumns(incidentUpdates);
const { id, incidentId } = withoutBody;

/** Columns of an update without its text. */
export const UPDATE_SUMMARY = withoutBody;

/** Condition: a column is among `ids`, a JSON list. */
export const isOneOf = (column: SQLiteColumn, ids: string) =>
  sql`${column} IN (SELECT value FROM json_each(${ids}))`;

/** Lists all updates of incidents (`ids`: a JSON list) without their texts, in no order. */
export const listUpdatesWithoutBody = selectMany((orm, $: { ids: string }) =>
  orm.select(UPDATE_SUMMARY).from(incidentUpdates).where(isOneOf(incidentId, $.ids)),
);

/** Lists the texts of updates (`ids`: a JSON list). */
export const listUpdateBodies = selectMany((orm, $: { ids: string }) =>
  orm.select({ id, body }).from(incidentUpdates).where(isOneOf(id, $.ids)),
);

/** Lists the component statuses of all updates of incidents (`ids`: a JSON list). */
export const listNamings = selectMany((orm, $: { ids: string }) =>
  orm
    .select({ naming: incidentUpdateComponents })
    .from(incidentUpdates)
    .innerJoin(incidentUpdateComponents, eq(incidentUpdateComponents.updateId, id))
    .where(isOneOf(incidentId, $.ids))
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
    .where(isOneOf(incidents.id, $.ids)),
);

/** Lists the published incidents of a page that started last, newest start first. */
export const listNewestRows = selectMany((orm, $: { pageId: string; limit: number }) =>
  selectWithPage(orm)
    .where(and(eq(incidents.pageId, $.pageId), isPublished))
    .orderBy(desc(incidents.startedAt), desc(incidents.id))
    .limit($.limit),
);
