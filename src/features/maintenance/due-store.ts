import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { selectMany } from "../../db";
import { maintenances } from "../../db/tables/maintenances";
import { pages } from "../../db/tables/pages";
import { isPending } from "./store";

/**
 * Lists maintenances with a transition due at `now` (unix ms), the longest due first. The condition
 * equals `dueTransitions` in rules.ts.
 */
export const listDue = selectMany((orm, $: { now: number; limit: number }) =>
  orm
    .select({ row: maintenances })
    .from(maintenances)
    .innerJoin(pages, eq(pages.id, maintenances.pageId))
    .where(
      and(
        isPending,
        isNull(pages.deletedAt),
        sql`CASE maintenances.status
          WHEN 'scheduled' THEN (maintenances.auto_start = 1 AND maintenances.scheduled_for <= ${$.now})
            OR (maintenances.reminded_at IS NULL AND maintenances.scheduled_for > ${$.now}
              AND maintenances.scheduled_for - maintenances.remind_minutes_before * 60000 <= ${$.now})
          ELSE maintenances.auto_complete = 1 AND maintenances.scheduled_until <= ${$.now}
            AND maintenances.started_at < maintenances.scheduled_until
          END`,
      ),
    )
    .orderBy(
      sql`CASE
        WHEN maintenances.status <> 'scheduled' THEN maintenances.scheduled_until
        WHEN maintenances.scheduled_for <= ${$.now} THEN maintenances.scheduled_for
        ELSE maintenances.scheduled_for - maintenances.remind_minutes_before * 60000
        END`,
      asc(maintenances.id),
    )
    .limit($.limit),
);
