import { and, asc, desc, eq, isNull, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db";
import { maintenances } from "../../db/tables/maintenances";
import type { MaintenanceStatus } from "../../domain/incident-status";

/* What lists of the past read: a line of each maintenance, without what was told of it. */

/** Columns of a summary. */
const LINE = {
  id: maintenances.id,
  name: maintenances.name,
  status: maintenances.status,
  startedAt: maintenances.startedAt,
  endedAt: sql<number | null>`CASE WHEN maintenances.status IN ('completed', 'cancelled')
    THEN coalesce(maintenances.completed_at, maintenances.updated_at) END`,
};

export interface MaintenanceLineRow {
  id: string;
  name: string;
  status: MaintenanceStatus;
  startedAt: number | null;
  endedAt: number | null;
}

/** Lists maintenances that started within a span, after a cursor: newest first. */
export const listBegunLines = selectMany(
  (
    orm,
    $: {
      pageId: string;
      from: number;
      to: number;
      beforeAt: number;
      beforeId: string;
      limit: number;
    },
  ) =>
    orm
      .select(LINE)
      .from(maintenances)
      .where(
        and(
          eq(maintenances.pageId, $.pageId),
          sql`maintenances.started_at >= ${$.from} AND maintenances.started_at < ${$.to}`,
          sql`(maintenances.started_at, maintenances.id) < (${$.beforeAt}, ${$.beforeId})`,
          isNull(maintenances.deletedAt),
        ),
      )
      .orderBy(desc(maintenances.startedAt), desc(maintenances.id))
      .limit($.limit),
);

/**
 * Lists maintenances that started at `from` or later and ended at `since` or later (unix ms):
 * newest first.
 */
export const listEndedLines = selectMany(
  (orm, $: { pageId: string; from: number; since: number; limit: number }) =>
    orm
      .select(LINE)
      .from(maintenances)
      .where(
        and(
          eq(maintenances.pageId, $.pageId),
          sql`maintenances.started_at >= ${$.from}`,
          sql`${LINE.endedAt} >= ${$.since}`,
          isNull(maintenances.deletedAt),
        ),
      )
      .orderBy(desc(maintenances.startedAt), desc(maintenances.id))
      .limit($.limit),
);

/** The maintenance of a page that began first. */
export const findFirstBegun = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ startedAt: maintenances.startedAt })
    .from(maintenances)
    .where(
      and(
        eq(maintenances.pageId, $.pageId),
        sql`maintenances.started_at IS NOT NULL`,
        isNull(maintenances.deletedAt),
      ),
    )
    .orderBy(asc(maintenances.startedAt))
    .limit(1),
);
