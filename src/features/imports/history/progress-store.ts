/* Progress of histories. One row per monitor, read at the start of an import and written with each of its steps. */
import { and, eq, isNull } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne } from "../../../db/statements";
import { importHistories, importRefs } from "../../../db/tables/imports";
import { monitors } from "../../../db/tables/monitors";

export type ProgressRow = typeof importHistories.$inferSelect;

export const insertProgress = insertInto(importHistories);

export const findProgress = selectOne((orm, $: { monitorNum: number }) =>
  orm.select().from(importHistories).where(eq(importHistories.monitorNum, $.monitorNum)),
);

/** Replaces the progress that had the `step` before. Returns 0 if another import has changed it. */
export const saveProgress = mutate((orm, $: ProgressRow & { before: number }) =>
  orm
    .update(importHistories)
    .set({
      writtenFrom: $.writtenFrom,
      part: $.part,
      step: $.step,
      rows: $.rows,
      results: $.results,
      firstAt: $.firstAt,
      lastAt: $.lastAt,
      skipped: $.skipped,
    })
    .where(and(eq(importHistories.monitorNum, $.monitorNum), eq(importHistories.step, $.before))),
);

/** Lists the monitors of a source that are still here, with their progress. */
export const listProgress = selectMany((orm, $: { sourceId: string }) =>
  orm
    .select({
      foreignType: importRefs.foreignType,
      foreignId: importRefs.foreignId,
      id: monitors.id,
      num: monitors.num,
      intervalSeconds: monitors.intervalSeconds,
      onDown: monitors.onDown,
      createdAt: monitors.createdAt,
      progress: importHistories,
    })
    .from(importRefs)
    .innerJoin(monitors, eq(monitors.id, importRefs.id))
    .innerJoin(importHistories, eq(importHistories.monitorNum, monitors.num))
    .where(
      and(
        eq(importRefs.sourceId, $.sourceId),
        eq(importRefs.kind, "monitor"),
        isNull(monitors.deletedAt),
      ),
    )
    .orderBy(monitors.num),
);
