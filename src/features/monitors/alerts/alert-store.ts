/*
 * Open alerts, and those that matched nothing. Runs often, for each report: `listReported` by the index of senders, and
 * `saveOpenAlert` and `deleteOpenAlert` by keys. `listLevels` and `findFirstAlert` judge a monitor by one index.
 */
import { and, asc, desc, eq, gt, isNull, lte, ne, or, type SQLWrapper, sql } from "drizzle-orm";
import type { AlertLevel } from "../../../base/status";
import { HOUR_MS, MINUTE_MS } from "../../../base/time";
import { deleteBy, listBy, setBy } from "../../../db/rows";
import { mutate, selectMany, selectOne } from "../../../db/statements";
import { openAlerts, unmatchedAlerts } from "../../../db/tables/alerts";
import { monitors, monitorStates } from "../../../db/tables/monitors";

type Nothing = Record<string, never>;

export type OpenAlertRow = typeof openAlerts.$inferSelect;
export type UnmatchedAlertRow = typeof unmatchedAlerts.$inferSelect;

/** Lists the monitors of the type alert. */
export const listAlertMonitors = selectMany((orm, _$: Nothing) =>
  orm
    .select({
      id: monitors.id,
      num: monitors.num,
      config: monitors.config,
      createdAt: monitors.createdAt,
    })
    .from(monitors)
    .where(and(eq(monitors.type, "alert"), isNull(monitors.deletedAt)))
    .orderBy(asc(monitors.id)),
);

/** Lists the open alerts of a sender with some fingerprints (a JSON list). */
export const listReported = selectMany((orm, $: { sender: string; fingerprints: string }) =>
  orm
    .select({ monitorNum: openAlerts.monitorNum, fingerprint: openAlerts.fingerprint })
    .from(openAlerts)
    .where(
      and(
        eq(openAlerts.sender, $.sender),
        sql`${openAlerts.fingerprint} IN (SELECT value FROM json_each(${$.fingerprints}))`,
      ),
    ),
);

/** Lists the times of the last reports to monitors (`nums`: a JSON list), null before the first. */
export const listLastReports = selectMany((orm, $: { nums: string }) =>
  orm
    .select({ monitorNum: monitorStates.monitorNum, heartbeatAt: monitorStates.heartbeatAt })
    .from(monitorStates)
    .where(sql`${monitorStates.monitorNum} IN (SELECT value FROM json_each(${$.nums}))`),
);

/** Time for which the last report of an alert may be older than noted. */
export const SEEN_EXACT_MS = MINUTE_MS;

/**
 * Opens an alert, or notes that an open one was reported again, which keeps its start. Changes nothing if the last note
 * is less than that old and says the same.
 */
export const saveOpenAlert = mutate((orm, $: OpenAlertRow) =>
  orm
    .insert(openAlerts)
    .values({
      monitorNum: $.monitorNum,
      sender: $.sender,
      fingerprint: $.fingerprint,
      labels: $.labels,
      level: $.level,
      startedAt: $.startedAt,
      lastSeenAt: $.lastSeenAt,
      title: $.title,
    })
    .onConflictDoUpdate({
      target: [openAlerts.monitorNum, openAlerts.sender, openAlerts.fingerprint],
      set: { level: $.level, labels: $.labels, lastSeenAt: $.lastSeenAt, title: $.title },
      setWhere: or(
        ne(openAlerts.level, $.level),
        ne(openAlerts.title, $.title),
        isOlder(openAlerts.lastSeenAt, $.lastSeenAt, SEEN_EXACT_MS),
      ),
    }),
);

/** Condition of a time that is at least `ms` before another one, or after it, since the clock was set back. */
function isOlder(time: SQLWrapper, than: number, ms: number) {
  return sql`${than} - ${time} NOT BETWEEN 0 AND ${sql.raw(String(ms - 1))}`;
}

export const deleteOpenAlert = deleteBy(openAlerts, ["monitorNum", "sender", "fingerprint"]);
export const deleteOpenAlertsOf = deleteBy(openAlerts, ["monitorNum"]);

/** Deletes the alerts of a monitor without a report since a time (unix ms), if another one is open. */
export const deleteStaleAlerts = mutate((orm, $: { monitorNum: number; seenBy: number }) =>
  orm.delete(openAlerts).where(
    and(
      eq(openAlerts.monitorNum, $.monitorNum),
      lte(openAlerts.lastSeenAt, $.seenBy),
      sql`EXISTS (SELECT 1 FROM open_alerts AS o WHERE o.monitor_num = ${$.monitorNum}
        AND o.last_seen_at > ${$.seenBy} AND o.level <> 'none')`,
    ),
  ),
);

/** Deletes the alerts of a monitor beyond a number, those of the worst level and the newest reports last. */
export const trimOpenAlerts = mutate((orm, $: { monitorNum: number; kept: number }) =>
  orm.delete(openAlerts).where(
    // Most monitors have fewer, and sorting takes longer than counting.
    sql`(SELECT count(*) FROM open_alerts AS c WHERE c.monitor_num = ${$.monitorNum}) > ${$.kept}
      AND rowid IN (SELECT o.rowid FROM open_alerts AS o WHERE o.monitor_num = ${$.monitorNum}
      ORDER BY CASE o.level WHEN 'down' THEN 0 WHEN 'degraded' THEN 1 ELSE 2 END,
        o.last_seen_at DESC LIMIT -1 OFFSET ${$.kept})`,
  ),
);

/** Summarises the alerts of a monitor by level: those that were reported after a time (unix ms), and the others. */
export const listLevels = selectMany((orm, $: { monitorNum: number; seenBy: number }) =>
  orm
    .select({
      level: openAlerts.level,
      live: sql<number>`coalesce(sum(${openAlerts.lastSeenAt} > ${$.seenBy}), 0)`,
      stale: sql<number>`coalesce(sum(${openAlerts.lastSeenAt} <= ${$.seenBy}), 0)`,
      oldestReport: sql<number | null>`min(
        CASE WHEN ${openAlerts.lastSeenAt} > ${$.seenBy} THEN ${openAlerts.lastSeenAt} END)`,
    })
    .from(openAlerts)
    .where(and(eq(openAlerts.monitorNum, $.monitorNum), ne(openAlerts.level, "none")))
    .groupBy(openAlerts.level),
);

/** Finds the alert of a level that began first, of those that were reported after a time (unix ms). */
export const findFirstAlert = selectOne(
  (orm, $: { monitorNum: number; level: AlertLevel; seenBy: number }) =>
    orm
      .select({ title: openAlerts.title, startedAt: openAlerts.startedAt })
      .from(openAlerts)
      .where(
        and(
          eq(openAlerts.monitorNum, $.monitorNum),
          eq(openAlerts.level, $.level),
          gt(openAlerts.lastSeenAt, $.seenBy),
        ),
      )
      .orderBy(asc(openAlerts.startedAt))
      .limit(1),
);

/** Lists all alerts of a monitor. */
export const listAlertsOf = listBy(openAlerts, ["monitorNum"], {
  order: [asc(openAlerts.startedAt), asc(openAlerts.sender), asc(openAlerts.fingerprint)],
});

/** Lists the open alerts of a monitor for its screen, the worst and newest first. */
export const listShownAlerts = selectMany((orm, $: { monitorNum: number; limit: number }) =>
  orm
    .select()
    .from(openAlerts)
    .where(and(eq(openAlerts.monitorNum, $.monitorNum), ne(openAlerts.level, "none")))
    .orderBy(desc(openAlerts.level), desc(openAlerts.startedAt), asc(openAlerts.fingerprint))
    .limit($.limit),
);

export const setAlertLevel = setBy(openAlerts, ["monitorNum", "sender", "fingerprint"], ["level"]);

/** Keeps an alert that matched nothing. Changes nothing if it was kept within an hour. */
export const saveUnmatched = mutate((orm, $: UnmatchedAlertRow) =>
  orm
    .insert(unmatchedAlerts)
    .values({
      sender: $.sender,
      fingerprint: $.fingerprint,
      format: $.format,
      labels: $.labels,
      title: $.title,
      isTest: $.isTest,
      seenAt: $.seenAt,
    })
    .onConflictDoUpdate({
      target: [unmatchedAlerts.sender, unmatchedAlerts.fingerprint],
      set: { seenAt: $.seenAt, title: $.title, labels: $.labels },
      setWhere: isOlder(unmatchedAlerts.seenAt, $.seenAt, HOUR_MS),
    }),
);

/** Lists the alerts that matched nothing since a time (unix ms), the last ones first. */
export const listUnmatchedAlerts = selectMany((orm, $: { since: number; limit: number }) =>
  orm
    .select()
    .from(unmatchedAlerts)
    .where(gt(unmatchedAlerts.seenAt, $.since))
    .orderBy(desc(unmatchedAlerts.seenAt))
    .limit($.limit),
);

/** Deletes those beyond the last `kept`, and those from before a time (unix ms). */
export const trimUnmatched = mutate((orm, $: { kept: number; before: number }) =>
  orm.delete(unmatchedAlerts).where(
    sql`${unmatchedAlerts.seenAt} <= ${$.before} OR rowid IN (
      SELECT u.rowid FROM unmatched_alerts AS u ORDER BY u.seen_at DESC LIMIT -1 OFFSET ${$.kept})`,
  ),
);
