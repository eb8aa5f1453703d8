/*
 * Results of checks, and the rollups made of them. Runs often: `insertCheck` at every check, which writes one row by its key.
 * Reads take a range of the primary key, so their time does not depend on other monitors.
 */
import { and, asc, desc, eq, gt, gte, lt, ne, sql } from "drizzle-orm";
import { HOUR_MS } from "../../base/time";
import { setBy } from "../../db/rows";
import { insertMissingInto, mutate, selectMany, selectOne } from "../../db/statements";
import { monitorChecks, monitorRollups, monitorStates } from "../../db/tables/monitors";

export type CheckRow = typeof monitorChecks.$inferSelect;

/**
 * Stores a result. Returns 0 if the monitor has a result of the same millisecond, which is kept:
 * after two checks at once, or when the clock was set back.
 */
export const insertCheck = mutate((orm, $: CheckRow) =>
  orm
    .insert(monitorChecks)
    .values({
      monitorNum: $.monitorNum,
      at: $.at,
      outcome: $.outcome,
      latencyMs: $.latencyMs,
      message: $.message,
    })
    .onConflictDoNothing(),
);

/** Lists results older than `before` (unix ms), newest first. */
export const listChecksBefore = selectMany(
  (orm, $: { monitorNum: number; before: number; limit: number }) =>
    orm
      .select()
      .from(monitorChecks)
      .where(and(eq(monitorChecks.monitorNum, $.monitorNum), lt(monitorChecks.at, $.before)))
      .orderBy(desc(monitorChecks.at))
      .limit($.limit),
);

/** Lists the last stored result of monitors (`nums`: a JSON list). */
export const listLastChecks = selectMany((orm, $: { nums: string }) =>
  orm
    .select({ row: monitorChecks })
    .from(sql`json_each(${$.nums}) AS j`)
    .crossJoin(monitorChecks)
    .where(
      sql`${monitorChecks.monitorNum} = j.value AND ${monitorChecks.at} = (
        SELECT max(c.at) FROM monitor_checks AS c WHERE c.monitor_num = j.value)`,
    ),
);

/** Lists the `each` newest results until a time of monitors (`nums`: a JSON list), oldest first per monitor. */
export const listNewestChecks = selectMany(
  (orm, $: { nums: string; each: number; until: number }) =>
    orm
      .select({ row: monitorChecks })
      .from(sql`json_each(${$.nums}) AS j`)
      .crossJoin(monitorChecks)
      .where(
        sql`${monitorChecks.monitorNum} = j.value AND ${monitorChecks.at} >= coalesce((
        SELECT c.at FROM monitor_checks AS c WHERE c.monitor_num = j.value AND c.at <= ${$.until}
        ORDER BY c.at DESC LIMIT 1 OFFSET ${$.each} - 1), 0) AND ${monitorChecks.at} <= ${$.until}`,
      ),
);

/*
 * Results by hour, and rollups. None is hot: rollups are made once an hour per monitor, latencies
 * are read on demand. All statements take ranges of primary keys; monitors that are due are found
 * by `monitor_states_by_rolled_until`.
 */
export type RollupRow = typeof monitorRollups.$inferSelect;

const inSpan = ($: { monitorNum: number; from: number; to: number }) =>
  and(
    eq(monitorChecks.monitorNum, $.monitorNum),
    gte(monitorChecks.at, $.from),
    lt(monitorChecks.at, $.to),
  );

/**
 * Lists the monitors that are rolled up to a time before `due` (unix ms), the furthest behind
 * first.
 */
export const listBehind = selectMany((orm, $: { due: number; limit: number }) =>
  orm
    .select({ monitorNum: monitorStates.monitorNum, rolledUntil: monitorStates.rolledUntil })
    .from(monitorStates)
    .where(lt(monitorStates.rolledUntil, $.due))
    .orderBy(asc(monitorStates.rolledUntil))
    .limit($.limit),
);

/**
 * Sets the progress of monitors that are rolled up beyond `at` (unix ms) back to it, after the
 * clock was set back.
 */
export const returnTo = mutate((orm, $: { at: number }) =>
  orm.update(monitorStates).set({ rolledUntil: $.at }).where(gt(monitorStates.rolledUntil, $.at)),
);

export const saveRolledUntil = setBy(monitorStates, ["monitorNum"], ["rolledUntil"]);

/** Finds the time of the first result within a span; null without one. */
export const findFirstCheck = selectOne(
  (orm, $: { monitorNum: number; from: number; to: number }) =>
    orm
      .select({ at: sql<number | null>`min(${monitorChecks.at})` })
      .from(monitorChecks)
      .where(inSpan($)),
);

/** Lists the results of a span with a known outcome, oldest first. */
export const listResults = selectMany((orm, $: { monitorNum: number; from: number; to: number }) =>
  orm
    .select({
      at: monitorChecks.at,
      outcome: monitorChecks.outcome,
      latencyMs: monitorChecks.latencyMs,
    })
    .from(monitorChecks)
    .where(and(inSpan($), ne(monitorChecks.outcome, "unknown")))
    .orderBy(asc(monitorChecks.at)),
);

/** Stores a rollup, replacing an earlier one of the same time. */
export const saveRollup = mutate((orm, $: RollupRow) =>
  orm
    .insert(monitorRollups)
    .values({
      monitorNum: $.monitorNum,
      size: $.size,
      at: $.at,
      checks: $.checks,
      failures: $.failures,
      answers: $.answers,
      latencySum: $.latencySum,
      latencyMin: $.latencyMin,
      latencyMax: $.latencyMax,
      sketch: $.sketch,
    })
    .onConflictDoUpdate({
      target: [monitorRollups.monitorNum, monitorRollups.size, monitorRollups.at],
      set: {
        checks: sql`excluded.checks`,
        failures: sql`excluded.failures`,
        answers: sql`excluded.answers`,
        latencySum: sql`excluded.latency_sum`,
        latencyMin: sql`excluded.latency_min`,
        latencyMax: sql`excluded.latency_max`,
        sketch: sql`excluded.sketch`,
      },
    }),
);

/**
 * Lists the rollups of one monitor and size, from `from` to before `to` (unix ms), oldest first.
 */
export const listRollups = selectMany(
  (orm, $: { monitorNum: number; size: number; from: number; to: number }) =>
    orm
      .select()
      .from(monitorRollups)
      .where(
        and(
          eq(monitorRollups.monitorNum, $.monitorNum),
          eq(monitorRollups.size, $.size),
          gte(monitorRollups.at, $.from),
          lt(monitorRollups.at, $.to),
        ),
      )
      .orderBy(asc(monitorRollups.at)),
);

/** Deletes results of a monitor older than `before` (unix ms), oldest first, at most `limit`. */
export const deleteChecksBefore = mutate(
  (orm, $: { monitorNum: number; before: number; limit: number }) =>
    orm.delete(monitorChecks).where(
      and(
        eq(monitorChecks.monitorNum, $.monitorNum),
        lt(monitorChecks.at, $.before),
        sql`${monitorChecks.at} < coalesce((SELECT c.at FROM monitor_checks AS c
            WHERE c.monitor_num = ${$.monitorNum} ORDER BY c.at LIMIT 1 OFFSET ${$.limit}), ${$.before})`,
      ),
    ),
);

/** Deletes rollups of one size older than `before` (unix ms), oldest first, at most `limit`. */
export const deleteRollupsBefore = mutate(
  (orm, $: { monitorNum: number; size: number; before: number; limit: number }) =>
    orm.delete(monitorRollups).where(
      and(
        eq(monitorRollups.monitorNum, $.monitorNum),
        eq(monitorRollups.size, $.size),
        lt(monitorRollups.at, $.before),
        sql`${monitorRollups.at} < coalesce((SELECT r.at FROM monitor_rollups AS r
            WHERE r.monitor_num = ${$.monitorNum} AND r.size = ${$.size}
            ORDER BY r.at LIMIT 1 OFFSET ${$.limit}), ${$.before})`,
      ),
    ),
);

/** Finds the earliest time up to which monitors (`nums`: a JSON list) are rolled up. */
export const findLeastRolledUntil = selectOne((orm, $: { nums: string }) =>
  orm
    .select({ at: sql<number | null>`min(${monitorStates.rolledUntil})` })
    .from(monitorStates)
    .where(sql`${monitorStates.monitorNum} IN (SELECT value FROM json_each(${$.nums}))`),
);

/** Lists the rollups of monitors (`nums`: a JSON list) in one size, from `from` to before `to`. */
export const listRollupsOfMonitors = selectMany(
  (orm, $: { nums: string; size: number; from: number; to: number }) =>
    orm
      .select({ row: monitorRollups })
      .from(sql`json_each(${$.nums}) AS j`)
      .crossJoin(monitorStates)
      .crossJoin(monitorRollups)
      .where(
        and(
          sql`${monitorStates.monitorNum} = j.value AND ${monitorRollups.monitorNum} = j.value`,
          eq(monitorRollups.size, $.size),
          gte(monitorRollups.at, $.from),
          lt(monitorRollups.at, $.to),
          // Later times are read from results. After the clock was set back, both may contain the
          // same checks.
          sql`${monitorRollups.at} <= ${monitorStates.rolledUntil} - ${$.size}`,
        ),
      ),
);

/** Lists the results of monitors (`nums`: a JSON list) in a span that are not rolled up yet. */
export const listUnrolledResults = selectMany(
  (orm, $: { nums: string; from: number; to: number }) =>
    orm
      .select({
        at: monitorChecks.at,
        outcome: monitorChecks.outcome,
        latencyMs: monitorChecks.latencyMs,
      })
      .from(sql`json_each(${$.nums}) AS j`)
      .crossJoin(monitorStates)
      .crossJoin(monitorChecks)
      .where(
        and(
          sql`${monitorStates.monitorNum} = j.value AND ${monitorChecks.monitorNum} = j.value`,
          sql`${monitorChecks.at} >= max(${monitorStates.rolledUntil}, ${$.from})`,
          lt(monitorChecks.at, $.to),
          ne(monitorChecks.outcome, "unknown"),
        ),
      ),
);

/*
 * Times before a monitor was created here, which an import writes. Rows that are there stay as they are. An import
 * writes millions of rows, so many are inserted by one statement.
 */
export const insertPastChecks = insertMissingInto(monitorChecks);
export const insertPastRollups = insertMissingInto(monitorRollups);

/** Lets the results of a monitor from a time on (unix ms) be rolled up again. */
export const rollUpAgainFrom = mutate((orm, $: { monitorNum: number; at: number }) =>
  orm
    .update(monitorStates)
    .set({ rolledUntil: $.at })
    .where(and(eq(monitorStates.monitorNum, $.monitorNum), gt(monitorStates.rolledUntil, $.at))),
);

/** Lists the average response times of monitors (`nums`: a JSON list) by hour from `from` on. */
export const listHourAverages = selectMany((orm, $: { nums: string; from: number }) =>
  orm
    .select({
      monitorNum: monitorRollups.monitorNum,
      at: monitorRollups.at,
      latencySum: monitorRollups.latencySum,
      answers: monitorRollups.answers,
    })
    .from(sql`json_each(${$.nums}) AS j`)
    .crossJoin(monitorRollups)
    .where(
      sql`${monitorRollups.monitorNum} = j.value AND ${monitorRollups.size} = ${sql.raw(String(HOUR_MS))}
        AND ${monitorRollups.at} >= ${$.from}`,
    ),
);
