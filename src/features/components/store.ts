import { and, asc, desc, eq, getTableColumns, isNull, lt, sql } from "drizzle-orm";
import { compareValues } from "../../db/orders";
import { declareParts } from "../../db/parts";
import { findBy, listBy, setBy } from "../../db/rows";
import {
  insertInto,
  mutate,
  mutateByIds,
  type Orm,
  type Reader,
  selectByIds,
  selectMany,
  selectOne,
  type Tx,
  updateById,
} from "../../db/statements";
import { componentGroups, components } from "../../db/tables/components";
import { pages } from "../../db/tables/pages";
import { isFound, type PartSearch } from "../../db/word-search";

export type GroupRow = typeof componentGroups.$inferSelect;

export type ComponentRow = typeof components.$inferSelect;

/** A component with the slug of its page. */
export type ComponentOnPage = ComponentRow & { pageSlug: string };

export const insertGroup = insertInto(componentGroups);

export const updateGroupRow = updateById(componentGroups);

export const insertComponent = insertInto(components);

export const updateComponentRow = updateById(components);

const updateStatuses = mutateByIds(
  (orm, isOneOf, $: Pick<ComponentRow, "status" | "baselineStatus" | "updatedAt">) =>
    orm
      .update(components)
      .set({
        status: $.status,
        baselineStatus: $.baselineStatus,
        version: sql`${components.version} + 1`,
        updatedAt: $.updatedAt,
      })
      .where(isOneOf(components.id)),
);

/**
 * Writes the statuses of components at the time `updatedAt` (unix ms), and raises their versions. Other
 * columns and their indexes are not touched.
 */
export function updateShownStatuses(
  tx: Tx,
  rows: readonly Pick<ComponentRow, "id" | "status" | "baselineStatus">[],
  updatedAt: number,
): void {
  const alike = Map.groupBy(rows, ({ status, baselineStatus }) => `${status} ${baselineStatus}`);
  for (const group of alike.values()) {
    const [first] = group;
    if (!first) continue;
    const { status, baselineStatus } = first;
    const ids = group.map(({ id }) => id);
    updateStatuses(tx, ids, { status, baselineStatus, updatedAt });
  }
}

/** Saves the day from which a component is known. */
export const saveStartDate = setBy(components, ["id"], ["startDate"]);

const isGroupThere = { where: isNull(componentGroups.deletedAt) };

export const findGroup = findBy(componentGroups, ["id"], isGroupThere);
export const findGroupByRef = findBy(componentGroups, ["pageId", "ref"], isGroupThere);

/** In the page's order. */
export const listGroups = listBy(componentGroups, ["pageId"], {
  ...isGroupThere,
  order: [asc(componentGroups.position), asc(componentGroups.id)],
});

const selectOnPage = (orm: Orm) =>
  orm
    .select({ ...getTableColumns(components), pageSlug: pages.slug })
    .from(components)
    .innerJoin(pages, eq(pages.id, components.pageId));

/** Condition of `selectOnPage`. Components of a deleted page count as deleted. */
const isThere = and(isNull(components.deletedAt), isNull(pages.deletedAt));

/** Counts the components of each page and status. */
export const countStatuses = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({
      pageId: components.pageId,
      status: components.status,
      count: sql<number>`count(*)`,
    })
    .from(components)
    .where(isNull(components.deletedAt))
    .groupBy(components.pageId, components.status),
);

export const findComponent = selectOne((orm, $: { id: string }) =>
  selectOnPage(orm).where(and(eq(components.id, $.id), isThere)),
);

const listComponentsById = selectByIds((orm, isOneOf) =>
  selectOnPage(orm).where(and(isOneOf(components.id), isThere)),
);

/** Finds components by id, in the order of the ids. */
export function findComponents(
  reader: Reader,
  ids: readonly string[],
): ReadonlyMap<string, ComponentOnPage> {
  const rows = listComponentsById(reader, ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    ids.flatMap((id) => {
      const row = byId.get(id);
      return row ? [[id, row]] : [];
    }),
  );
}

export const findComponentByRef = findBy(components, ["pageId", "ref"], {
  where: isNull(components.deletedAt),
});

/** In the page's order. */
export const listComponentsOfPage = listBy(components, ["pageId"], {
  where: isNull(components.deletedAt),
  order: [asc(components.position), asc(components.id)],
});

/** Finds the component of a page at an offset, to compare their number with it without counting all. */
export const findComponentAt = selectOne((orm, $: { pageId: string; offset: number }) =>
  orm
    .select({ id: components.id, name: components.name })
    .from(components)
    .where(and(eq(components.pageId, $.pageId), isNull(components.deletedAt)))
    .limit(1)
    .offset($.offset),
);

/** Lists components of all pages with ids below `before`, newest first. */
export const listComponentsBefore = selectMany((orm, $: { before: string; limit: number }) =>
  selectOnPage(orm)
    .where(and(isThere, lt(components.id, $.before)))
    .orderBy(desc(components.id))
    .limit($.limit),
);

/** Lists the components of one page with ids below `before`, newest first. */
export const listPageComponentsBefore = selectMany(
  (orm, $: { pageId: string; before: string; limit: number }) =>
    selectOnPage(orm)
      .where(
        and(
          eq(components.pageId, $.pageId),
          isNull(components.deletedAt),
          lt(components.id, $.before),
        ),
      )
      .orderBy(desc(components.id))
      .limit($.limit),
);

export const ungroupComponents = mutate((orm, $: { groupId: string; now: number }) =>
  orm
    .update(components)
    .set({ groupId: null, version: sql`${components.version} + 1`, updatedAt: $.now })
    .where(eq(components.groupId, $.groupId)),
);

/** Deletes the components of a page. */
export const deleteComponentRowsOfPage = mutate((orm, $: { pageId: string; now: number }) =>
  orm
    .update(components)
    .set({ version: sql`${components.version} + 1`, updatedAt: $.now, deletedAt: $.now })
    .where(and(eq(components.pageId, $.pageId), isNull(components.deletedAt))),
);

/** Deletes the groups of a page. */
export const deleteGroupRowsOfPage = mutate((orm, $: { pageId: string; now: number }) =>
  orm
    .update(componentGroups)
    .set({ version: sql`${componentGroups.version} + 1`, updatedAt: $.now, deletedAt: $.now })
    .where(and(eq(componentGroups.pageId, $.pageId), isNull(componentGroups.deletedAt))),
);

/* Search of components on all pages. Not hot: every component is read once, in parts. */
const foldedName = sql<string>`lower(${components.name})`;

const searchPart = selectMany((orm, $: PartSearch) =>
  orm
    .select({
      id: components.id,
      name: components.name,
      status: components.status,
      order: foldedName,
      pageName: pages.name,
    })
    .from(components)
    .innerJoin(pages, eq(pages.id, components.pageId))
    .where(
      and(
        isNull(components.deletedAt),
        isNull(pages.deletedAt),
        isFound(
          components.id,
          sql`${components.name} || ' ' || ${pages.name} || ' ' || ${components.ref} || ' ' || ${components.id}`,
          $,
        ),
      ),
    )
    .orderBy(asc(foldedName), asc(components.id))
    .limit($.limit),
);

type Found = ReturnType<typeof searchPart>[number];

/** Order by name, then by id. */
function compare(a: Found, b: Found): number {
  return compareValues(a.order, b.order) || compareValues(a.id, b.id);
}

/**
 * Lists the components whose name, page, ref or id contains the words (`wordsOf`), by name, in several turns.
 */
export const searchComponents = declareParts(components, searchPart, compare);

/** Lists the components of all pages except the sample page, by page, in the order of the page. */
export const listWatchedComponents = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({
      id: components.id,
      pageId: components.pageId,
      groupId: components.groupId,
      name: components.name,
      status: components.status,
      updatedAt: components.updatedAt,
    })
    .from(pages)
    .innerJoin(components, eq(components.pageId, pages.id))
    .where(and(isNull(pages.deletedAt), eq(pages.isSample, false), isNull(components.deletedAt)))
    .orderBy(asc(pages.id), asc(components.position), asc(components.id)),
);
