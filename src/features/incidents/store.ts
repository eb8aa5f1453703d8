import { and, asc, desc, eq, exists, isNull, or, type SQL, sql } from "drizzle-orm";
import { insertInto, mutate, type Reader, selectMany, selectOne, updateById } from "../../db";
import { incidents, incidentUpdateComponents, incidentUpdates } from "../../db/tables/incidents";
import { pageAddress, pages } from "../../db/tables/pages";
import type { IncidentStatus } from "../../domain/incident-status";

export type IncidentRow = typeof incidents.$inferSelect;
export type UpdateRow = typeof incidentUpdates.$inferSelect;
export type NamingRow = typeof incidentUpdateComponents.$inferSelect;

export const insertIncident = insertInto(incidents);
export const updateIncidentRow = updateById(incidents);
export const insertUpdate = insertInto(incidentUpdates);
export const updateUpdateRow = updateById(incidentUpdates);
export const insertNaming = insertInto(incidentUpdateComponents);

const COLUMNS = { row: incidents, page: pageAddress };

/** An incident whose page is gone is gone with it. */
export const findIncident = selectOne((orm, $: { id: string }) =>
  orm
    .select(COLUMNS)
    .from(incidents)
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .where(and(eq(incidents.id, $.id), isNull(incidents.deletedAt), isNull(pages.deletedAt))),
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

const { id, incidentId, status, displayAt, notify, createdAt, updatedAt } = incidentUpdates;

/** An update without its text. */
export const UPDATE_HEAD = { id, incidentId, status, displayAt, notify, createdAt, updatedAt };

/** Condition: a column is among `ids`, a JSON list. */
export const isOneOf = (column: typeof id | typeof incidentId, ids: string) =>
  sql`${column} IN (SELECT value FROM json_each(${ids}))`;

/** The updates of some incidents (`ids`: a JSON list), all of them, without their texts. */
export const listUpdateHeads = selectMany((orm, $: { ids: string }) =>
  orm.select(UPDATE_HEAD).from(incidentUpdates).where(isOneOf(incidentId, $.ids)),
);

/** The texts of some updates (`ids`: a JSON list). */
export const listUpdateBodies = selectMany((orm, $: { ids: string }) =>
  orm.select({ id, body: incidentUpdates.body }).from(incidentUpdates).where(isOneOf(id, $.ids)),
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
  /** Started then or later, and before. */
  since: number | null;
  until: number | null;
  /** 1 for drafts, too; else 0. */
  draftsToo: number;
  /** 1 for drafts alone; else 0. */
  draftsOnly: number;
  /** A part of the name. */
  name: string | null;
  /** Ids below this one: where the page before ended. */
  before: string;
  limit: number;
}

const naming = incidentUpdateComponents;

/**
 * One statement for each choice of what decides which index to walk; the rest is a condition on the
 * rows met. Their texts are constant, as prepared statements want them.
 */
function listStatement(by: { page: boolean; component: boolean; open?: boolean | undefined }) {
  // The few that are open have an index of their own, which SQLite takes where ids promise no order.
  const position = by.open === true ? sql`+${incidents.id}` : sql`${incidents.id}`;
  return selectMany((orm, $: ListParams) => {
    const conditions: (SQL | undefined)[] = [
      sql`${position} < ${$.before}`,
      isNull(incidents.deletedAt),
      isNull(pages.deletedAt),
      or(eq(incidents.draft, false), sql`${$.draftsToo}`),
      or(eq(incidents.draft, true), sql`NOT ${$.draftsOnly}`),
      sql`(${$.name} IS NULL OR instr(lower(${incidents.name}), lower(${$.name})) > 0)`,
      sql`(${$.status} IS NULL OR ${incidents.status} = ${$.status})`,
      sql`(${$.since} IS NULL OR ${incidents.startedAt} >= ${$.since})`,
      sql`(${$.until} IS NULL OR ${incidents.startedAt} < ${$.until})`,
    ];
    if (by.page) conditions.push(sql`${incidents.pageId} = ${$.pageId}`);
    // Said as the index of open incidents says it.
    if (by.open === true) conditions.push(sql`${incidents.status} <> 'resolved'`);
    if (by.open === false) conditions.push(sql`${incidents.status} = 'resolved'`);
    const isNamed = sql`${naming.componentId} = ${$.componentId}`;
    if (by.component && by.open !== true) {
      // Several updates of one incident may name the component; in groups they keep the index's order,
      // so that as many are read as are shown.
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
    return orm
      .select(COLUMNS)
      .from(incidents)
      .innerJoin(pages, eq(pages.id, incidents.pageId))
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

type Wanted = Omit<ListParams, "draftsOnly" | "name"> &
  Partial<ListParams> & { open: boolean | undefined };

/** Newest first. `open` narrows to those that are not, or that are, resolved. */
export function listIncidentRows(reader: Reader, { open: desired, ...narrowed }: Wanted) {
  const params: ListParams = { draftsOnly: 0, name: null, ...narrowed };
  const isOpenStatus = params.status !== null && params.status !== "resolved";
  const open = desired ?? (isOpenStatus || undefined);
  const list = LISTS.get(nameOf(params.pageId !== null, params.componentId !== null, open));
  return list?.(reader, params) ?? [];
}

/** Condition: an incident is public. */
export const isPublished = and(eq(incidents.draft, false), isNull(incidents.deletedAt));

/** The published, open incidents of a page, newest start first; 50 at most. */
export const listOpenRows = selectMany((orm, $: { pageId: string }) =>
  orm
    .select(COLUMNS)
    .from(incidents)
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .where(and(eq(incidents.pageId, $.pageId), sql`${incidents.status} <> 'resolved'`, isPublished))
    .orderBy(desc(incidents.startedAt), desc(incidents.id))
    .limit(50),
);

/** Lists the impacts of a page's published open incidents. */
export const listOpenImpacts = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({ impact: incidents.impact })
    .from(incidents)
    .where(
      and(eq(incidents.pageId, $.pageId), sql`${incidents.status} <> 'resolved'`, isPublished),
    ),
);

/** The published, open incidents of a page, unordered. */
export const listAllOpenRows = selectMany((orm, $: { pageId: string }) =>
  orm
    .select(COLUMNS)
    .from(incidents)
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .where(
      and(eq(incidents.pageId, $.pageId), sql`${incidents.status} <> 'resolved'`, isPublished),
    ),
);

/** Deletes some incidents (`ids`: a JSON list) at a moment (unix ms), each at a new version. */
export const deleteIncidentRows = mutate((orm, $: { ids: string; at: number }) =>
  orm
    .update(incidents)
    .set({ version: sql`${incidents.version} + 1`, updatedAt: $.at, deletedAt: $.at })
    .where(sql`${incidents.id} IN (SELECT value FROM json_each(${$.ids}))`),
);

/** The published incidents of a page that started last, newest start first. */
export const listNewestRows = selectMany((orm, $: { pageId: string; limit: number }) =>
  orm
    .select(COLUMNS)
    .from(incidents)
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .where(and(eq(incidents.pageId, $.pageId), isPublished))
    .orderBy(desc(incidents.startedAt), desc(incidents.id))
    .limit($.limit),
);
