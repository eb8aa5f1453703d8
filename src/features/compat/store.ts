/*
 * Numbers and kept keys of objects, and what other products show of monitors. All are found by keys; lists
 * are as long as one page, or as all monitors for metrics.
 */
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { replaceIn } from "../../db/replace";
import { mutate, selectMany, selectOne } from "../../db/statements";
import { compatKeys, compatNumbers } from "../../db/tables/imports";
import { components } from "../../db/tables/components";
import {
  monitorChecks,
  monitorComponents,
  monitors,
  monitorStates,
} from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";
import type { CompatProduct } from "../../base/compat";

/** Lists the numbers of objects (`ids`: a JSON list). */
export const listNumbers = selectMany((orm, $: { ids: string }) =>
  orm
    .select({ id: compatNumbers.id, number: compatNumbers.number })
    .from(sql`json_each(${$.ids}) AS j`)
    .crossJoin(compatNumbers)
    .where(sql`${compatNumbers.id} = j.value`),
);

/** Finds the monitor or component with a number. */
export const findNumbered = selectOne((orm, $: { number: number }) =>
  orm
    .select({ id: compatNumbers.id })
    .from(compatNumbers)
    .where(and(eq(compatNumbers.range, "entry"), eq(compatNumbers.number, $.number))),
);

/** Gives an object the number that it had in another product. Fails if another object has it. */
export const keepNumber = mutate((orm, $: { id: string; number: number }) =>
  orm.update(compatNumbers).set({ number: $.number }).where(eq(compatNumbers.id, $.id)),
);

/** Finds the object of a range with a number. */
export const findNumber = selectOne(
  (orm, $: Pick<typeof compatNumbers.$inferSelect, "range" | "number">) =>
    orm
      .select({ id: compatNumbers.id })
      .from(compatNumbers)
      .where(and(eq(compatNumbers.range, $.range), eq(compatNumbers.number, $.number))),
);

/** Keeps the key that a component had in another product. */
export const keepKey = replaceIn(compatKeys, ["componentId"]);

/** Condition: a page is public and can be read in the format of a product. */
const isReadableAs = (product: CompatProduct) =>
  and(
    eq(pages.visibility, "public"),
    isNull(pages.deletedAt),
    sql`EXISTS (SELECT 1 FROM json_each(${pages.compat}) WHERE value = ${sql.raw(`'${product}'`)})`,
  );

/**
 * Lists the slugs of the pages for Uptime Kuma's clients with a component, or with a component of a monitor, by
 * its id; oldest page first.
 */
export const listPagesWith = selectMany((orm, $: { id: string }) =>
  orm
    .selectDistinct({ id: pages.id, slug: pages.slug })
    .from(components)
    .innerJoin(pages, eq(pages.id, components.pageId))
    .where(
      and(
        sql`(${components.id} = ${$.id} OR ${components.id} IN
          (SELECT m.component_id FROM monitor_components AS m WHERE m.monitor_id = ${$.id}))`,
        isNull(components.deletedAt),
        isReadableAs("uptime-kuma"),
      ),
    )
    .orderBy(asc(pages.id)),
);

/** Lists the monitors of a page's components, oldest first, with what other products show of them. */
export const listWatchers = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({
      componentId: monitorComponents.componentId,
      id: monitors.id,
      num: monitors.num,
      type: monitors.type,
      failureThreshold: monitors.failureThreshold,
      state: monitorStates.state,
      certificateExpiresAt: monitorStates.certificateExpiresAt,
    })
    .from(components)
    .innerJoin(monitorComponents, eq(monitorComponents.componentId, components.id))
    .innerJoin(monitors, eq(monitors.id, monitorComponents.monitorId))
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(
      and(
        eq(components.pageId, $.pageId),
        isNull(components.deletedAt),
        isNull(monitors.deletedAt),
      ),
    )
    .orderBy(asc(monitors.id)),
);

/** Lists the kept keys of a page's components. */
export const listKeptKeys = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({ componentId: compatKeys.componentId, key: compatKeys.key })
    .from(components)
    .innerJoin(compatKeys, eq(compatKeys.componentId, components.id))
    .where(and(eq(components.pageId, $.pageId), isNull(components.deletedAt))),
);

/** Returns the component with a kept key on a page for Gatus' clients; undefined without one. */
export const findKeptKey = selectOne((orm, $: { key: string }) =>
  orm
    .select({ componentId: compatKeys.componentId })
    .from(compatKeys)
    .innerJoin(components, eq(components.id, compatKeys.componentId))
    .innerJoin(pages, eq(pages.id, components.pageId))
    .where(and(eq(compatKeys.key, $.key), isNull(components.deletedAt), isReadableAs("gatus")))
    .limit(1),
);

/** Lists results of a monitor with a known outcome, newest first, without the `skipped` newest. */
export const listResults = selectMany(
  (orm, $: { monitorNum: number; limit: number; skipped: number }) =>
    orm
      .select({
        at: monitorChecks.at,
        outcome: monitorChecks.outcome,
        latencyMs: monitorChecks.latencyMs,
      })
      .from(monitorChecks)
      .where(and(eq(monitorChecks.monitorNum, $.monitorNum), sql`${monitorChecks.outcome} <> 2`))
      .orderBy(sql`${monitorChecks.at} DESC`)
      .limit($.limit)
      .offset($.skipped),
);
