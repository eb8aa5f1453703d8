import { and, asc, desc, eq, gt, isNull, lt, sql } from "drizzle-orm";
import { insertInto, mutate, type Reader, selectMany, selectOne, updateById } from "../../db";
import {
  componentCauses,
  componentChanges,
  componentGroups,
  components,
} from "../../db/tables/components";
import { incidents } from "../../db/tables/incidents";
import { maintenances } from "../../db/tables/maintenances";
import { monitors } from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";
import type { CauseSource } from "../../kernel/component-status";

export type GroupRow = typeof componentGroups.$inferSelect;
export type ComponentRow = typeof components.$inferSelect;
export type CauseRow = typeof componentCauses.$inferSelect;
export type ChangeRow = typeof componentChanges.$inferSelect;

export const insertGroup = insertInto(componentGroups);
export const updateGroupRow = updateById(componentGroups);
export const insertComponent = insertInto(components);
export const updateComponentRow = updateById(components);
export const insertCause = insertInto(componentCauses);
export const updateCauseRow = updateById(componentCauses);
export const insertChange = insertInto(componentChanges);

export const findGroup = selectOne((orm, $: { id: string }) =>
  orm
    .select()
    .from(componentGroups)
    .where(and(eq(componentGroups.id, $.id), isNull(componentGroups.deletedAt))),
);

export const findGroupByRef = selectOne((orm, $: { pageId: string; ref: string }) =>
  orm
    .select()
    .from(componentGroups)
    .where(
      and(
        eq(componentGroups.pageId, $.pageId),
        eq(componentGroups.ref, $.ref),
        isNull(componentGroups.deletedAt),
      ),
    ),
);

/** In the page's order. */
export const listGroups = selectMany((orm, $: { pageId: string }) =>
  orm
    .select()
    .from(componentGroups)
    .where(and(eq(componentGroups.pageId, $.pageId), isNull(componentGroups.deletedAt)))
    .orderBy(asc(componentGroups.position), asc(componentGroups.id)),
);

/** A component whose page is gone is gone with it. */
const isThere = () =>
  and(
    isNull(components.deletedAt),
    sql`${components.pageId} IN (SELECT id FROM pages WHERE deleted_at IS NULL)`,
  );

export const findComponent = selectOne((orm, $: { id: string }) =>
  orm
    .select()
    .from(components)
    .where(and(eq(components.id, $.id), isThere())),
);

const listComponentsById = selectMany((orm, $: { ids: string }) =>
  orm
    .select()
    .from(components)
    .where(and(sql`${components.id} IN (SELECT value FROM json_each(${$.ids}))`, isThere())),
);

/** The same of several, by their ids, in the order in which these are given. */
export function findComponents(
  reader: Reader,
  ids: readonly string[],
): ReadonlyMap<string, ComponentRow> {
  const rows = listComponentsById(reader, { ids: JSON.stringify(ids) });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    ids.flatMap((id) => {
      const row = byId.get(id);
      return row ? [[id, row]] : [];
    }),
  );
}

export const findComponentByRef = selectOne((orm, $: { pageId: string; ref: string }) =>
  orm
    .select()
    .from(components)
    .where(
      and(eq(components.pageId, $.pageId), eq(components.ref, $.ref), isNull(components.deletedAt)),
    ),
);

/** In the page's order. */
export const listComponentsOfPage = selectMany((orm, $: { pageId: string }) =>
  orm
    .select()
    .from(components)
    .where(and(eq(components.pageId, $.pageId), isNull(components.deletedAt)))
    .orderBy(asc(components.position), asc(components.id)),
);

/** Of every page, newest first, with the slug of the page; those older than `before`. */
export const listComponentsBefore = selectMany((orm, $: { before: string; limit: number }) =>
  orm
    .select({ component: components, pageSlug: pages.slug })
    .from(components)
    .innerJoin(pages, eq(pages.id, components.pageId))
    .where(and(isNull(components.deletedAt), isNull(pages.deletedAt), lt(components.id, $.before)))
    .orderBy(desc(components.id))
    .limit($.limit),
);

/** The same, of one page. */
export const listPageComponentsBefore = selectMany(
  (orm, $: { pageId: string; before: string; limit: number }) =>
    orm
      .select({ component: components, pageSlug: pages.slug })
      .from(components)
      .innerJoin(pages, eq(pages.id, components.pageId))
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

export const listOpenCauses = selectMany((orm, $: { componentId: string }) =>
  orm
    .select()
    .from(componentCauses)
    .where(and(eq(componentCauses.componentId, $.componentId), isNull(componentCauses.endedAt)))
    .orderBy(asc(componentCauses.id)),
);

/** The same of several: `ids` is a JSON array. */
export const listOpenCausesOf = selectMany((orm, $: { ids: string }) =>
  orm
    .select()
    .from(componentCauses)
    .where(
      and(
        sql`${componentCauses.componentId} IN (SELECT value FROM json_each(${$.ids}))`,
        isNull(componentCauses.endedAt),
      ),
    )
    .orderBy(asc(componentCauses.id)),
);

/** What marked the components of a page and ended behind a moment (unix ms). */
export const listEndedCausesOfPage = selectMany((orm, $: { pageId: string; since: number }) =>
  orm
    .select({
      componentId: componentCauses.componentId,
      status: componentCauses.status,
      startedAt: componentCauses.startedAt,
      endedAt: componentCauses.endedAt,
    })
    .from(componentCauses)
    .innerJoin(components, eq(components.id, componentCauses.componentId))
    .where(
      and(
        eq(components.pageId, $.pageId),
        isNull(components.deletedAt),
        gt(componentCauses.endedAt, $.since),
      ),
    ),
);

/** What marks the components of a page now, with the name of the incident, maintenance or monitor that does. */
export const listOpenCausesOfPage = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({
      cause: componentCauses,
      name: sql<string | null>`coalesce(${incidents.name}, ${maintenances.name}, ${monitors.name})`,
    })
    .from(componentCauses)
    .innerJoin(components, eq(components.id, componentCauses.componentId))
    .leftJoin(
      incidents,
      and(eq(componentCauses.source, "incident"), eq(incidents.id, componentCauses.sourceId)),
    )
    .leftJoin(
      maintenances,
      and(eq(componentCauses.source, "maintenance"), eq(maintenances.id, componentCauses.sourceId)),
    )
    .leftJoin(
      monitors,
      and(eq(componentCauses.source, "monitor"), eq(monitors.id, componentCauses.sourceId)),
    )
    .where(
      and(
        eq(components.pageId, $.pageId),
        isNull(components.deletedAt),
        isNull(componentCauses.endedAt),
      ),
    )
    .orderBy(asc(componentCauses.id)),
);

/** All that one source ever marked. */
export const listCausesOfSource = selectMany((orm, $: { source: CauseSource; sourceId: string }) =>
  orm
    .select()
    .from(componentCauses)
    .where(and(eq(componentCauses.source, $.source), eq(componentCauses.sourceId, $.sourceId)))
    .orderBy(asc(componentCauses.id)),
);

/** What one source marks now. */
export const listOpenCausesOfSource = selectMany(
  (orm, $: { source: CauseSource; sourceId: string }) =>
    orm
      .select()
      .from(componentCauses)
      .where(
        and(
          eq(componentCauses.source, $.source),
          eq(componentCauses.sourceId, $.sourceId),
          isNull(componentCauses.endedAt),
        ),
      )
      .orderBy(asc(componentCauses.id)),
);

export const deleteCause = mutate((orm, $: { id: number }) =>
  orm.delete(componentCauses).where(eq(componentCauses.id, $.id)),
);

/** Where a wall clock was set back, or a time is given, a cause ends no earlier than it began. */
const endAt = (endedAt: number) => sql<number>`max(${componentCauses.startedAt}, ${endedAt})`;

export const endCausesOf = mutate(
  (orm, $: { componentId: string; source: CauseSource; endedAt: number }) =>
    orm
      .update(componentCauses)
      .set({ endedAt: endAt($.endedAt) })
      .where(
        and(
          eq(componentCauses.componentId, $.componentId),
          eq(componentCauses.source, $.source),
          isNull(componentCauses.endedAt),
        ),
      ),
);

export const endOpenCausesOfSource = mutate(
  (orm, $: { componentId: string; source: CauseSource; sourceId: string; endedAt: number }) =>
    orm
      .update(componentCauses)
      .set({ endedAt: endAt($.endedAt) })
      .where(
        and(
          eq(componentCauses.componentId, $.componentId),
          eq(componentCauses.source, $.source),
          eq(componentCauses.sourceId, $.sourceId),
          isNull(componentCauses.endedAt),
        ),
      ),
);

export const endAllCauses = mutate((orm, $: { componentId: string; endedAt: number }) =>
  orm
    .update(componentCauses)
    .set({ endedAt: endAt($.endedAt) })
    .where(and(eq(componentCauses.componentId, $.componentId), isNull(componentCauses.endedAt))),
);

export const ungroupComponents = mutate((orm, $: { groupId: string; now: number }) =>
  orm
    .update(components)
    .set({ groupId: null, version: sql`${components.version} + 1`, updatedAt: $.now })
    .where(eq(components.groupId, $.groupId)),
);

/** A component's changes, newest first; those before the change `before`. */
export const listChanges = selectMany(
  (orm, $: { componentId: string; before: number; limit: number }) =>
    orm
      .select()
      .from(componentChanges)
      .where(
        and(eq(componentChanges.componentId, $.componentId), lt(componentChanges.id, $.before)),
      )
      .orderBy(desc(componentChanges.id))
      .limit($.limit),
);
