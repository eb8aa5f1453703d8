import { and, desc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { ImportReport } from "../base/import-report";
import { replaceIn } from "../db/replace";
import { insertInto, mutate, selectMany, selectOne } from "../db/statements";
import { importHistories, importRefs, imports, importSources } from "../db/tables/imports";
import { monitors } from "../db/tables/monitors";

export type SourceRow = typeof importSources.$inferSelect;
export type RefRow = typeof importRefs.$inferSelect;

type Nothing = Record<string, never>;

export const insertSource = insertInto(importSources);
export const insertImport = insertInto(imports);

export const findSource = selectOne((orm, $: Pick<SourceRow, "kind" | "name">) =>
  orm
    .select()
    .from(importSources)
    .where(and(eq(importSources.kind, $.kind), eq(importSources.name, $.name))),
);

/** Finds the first source of a kind. */
export const findFirstSource = selectOne((orm, $: Pick<SourceRow, "kind">) =>
  orm
    .select({ id: importSources.id })
    .from(importSources)
    .where(eq(importSources.kind, $.kind))
    .orderBy(importSources.createdAt, importSources.id)
    .limit(1),
);

/** Finds the source from which an object was imported. */
export const findSourceOf = selectOne((orm, $: { id: string }) =>
  orm
    .select({ kind: importSources.kind, name: importSources.name })
    .from(importRefs)
    .innerJoin(importSources, eq(importSources.id, importRefs.sourceId))
    .where(eq(importRefs.id, $.id))
    .limit(1),
);

export const listRefsOfSource = selectMany((orm, $: { sourceId: string }) =>
  orm.select().from(importRefs).where(eq(importRefs.sourceId, $.sourceId)),
);

/** Lists the objects that an import created paused and that were not started. */
export const listPausedRefs = selectMany((orm, $: { importId: string }) =>
  orm
    .select()
    .from(importRefs)
    .where(and(isNotNull(importRefs.pausedBy), eq(importRefs.pausedBy, $.importId)))
    .orderBy(importRefs.id),
);

/** Inserts or replaces a row. */
export const saveRef = replaceIn(importRefs, ["sourceId", "foreignType", "foreignId"]);

/** Lists imports, newest first, without the items of their reports. */
export const listImports = selectMany((orm, _$: Nothing) =>
  orm
    .select({
      id: imports.id,
      kind: importSources.kind,
      name: importSources.name,
      finishedAt: imports.finishedAt,
      counts: sql<string>`json_extract(${imports.report}, '$.counts')`,
    })
    .from(imports)
    .innerJoin(importSources, eq(importSources.id, imports.sourceId))
    .orderBy(desc(imports.id)),
);

export const findImport = selectOne((orm, $: { id: string }) =>
  orm.select({ report: imports.report }).from(imports).where(eq(imports.id, $.id)),
);

/** Replaces the report of an import, which has ended later. */
export const saveReport = mutate(
  (orm, $: { id: string; finishedAt: number; report: ImportReport }) =>
    orm
      .update(imports)
      .set({ finishedAt: $.finishedAt, report: $.report })
      .where(eq(imports.id, $.id)),
);

/* Progress of histories. One row per monitor, read at the start of an import and written with each of its steps. */

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
