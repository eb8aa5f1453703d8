/*
 * Results of checks, and the rollups made of them: of monitors by this server, and of their evaluations at other
 * locations. Runs often: `insertCheck` at every check, which writes one row by its key. Reads take a range of the
 * primary key, so their time does not depend on other monitors.
 */
import { and, asc, desc, eq, gt, gte, lt, ne, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { HOUR_MS } from "../../base/time";
import { replaceIn } from "../../db/replace";
import { insertMissingInto, mutate, selectMany, selectOne } from "../../db/statements";
import { locationChecks, locationRollups, locationStates } from "../../db/tables/locations";
import { monitorChecks, monitorRollups, monitorStates } from "../../db/tables/monitors";

export type CheckRow = typeof monitorChecks.$inferSelect;
export type RollupRow = typeof monitorRollups.$inferSelect;

/** Tables of results with the same columns. */
interface ResultTables {
  checks: typeof monitorChecks;
  rollups: typeof monitorRollups;
  states: typeof monitorStates;
  /** Column of `states` that results name. */
  key: typeof monitorStates.monitorNum;
}

/** Statements of results. `monitorNum` is the number of a monitor, or of an evaluation at another location. */
export type Results = ReturnType<typeof declareResults>;

function declareResults(tables: ResultTables) {
  return {
    ...declareChecks(tables),
    ...declareProgress(tables),
    ...declareRollUp(tables),
    ...declareDeletions(tables),
    ...declareFigures(tables),
  };
}

/** Name of the first column, which the text of a statement needs below an alias. */
const numOf = (checks: ResultTables["checks"]) => sql.identifier(checks.monitorNum.name);

/** Single results. */
function declareChecks({ checks }: ResultTables) {
  const num = numOf(checks);

  return {
    /** Stores a result, unless there is one of the same millisecond: after two checks at once, or a clock set back. */
    insertCheck: mutate((orm, $: CheckRow) =>
      orm
        .insert(checks)
        .values({
          monitorNum: $.monitorNum,
          at: $.at,
          outcome: $.outcome,
          latencyMs: $.latencyMs,
          message: $.message,
        })
        .onConflictDoNothing(),
    ),

    /** Lists results older than `before` (unix ms), newest first. */
    listChecksBefore: selectMany((orm, $: { monitorNum: number; before: number; limit: number }) =>
      orm
        .select()
        .from(checks)
        .where(and(eq(checks.monitorNum, $.monitorNum), lt(checks.at, $.before)))
        .orderBy(desc(checks.at))
        .limit($.limit),
    ),

    /** Lists the last stored result of monitors (`nums`: a JSON list). */
    listLastChecks: selectMany((orm, $: { nums: string }) =>
      orm
        .select({ row: checks })
        .from(sql`json_each(${$.nums}) AS j`)
        .crossJoin(checks)
        .where(
          sql`${checks.monitorNum} = j.value AND ${checks.at} = (
          SELECT max(c.at) FROM ${checks} AS c WHERE c.${num} = j.value)`,
        ),
    ),

    /** Lists the `each` newest results until a time of monitors (`nums`: a JSON list), oldest first per monitor. */
    listNewestChecks: selectMany((orm, $: { nums: string; each: number; until: number }) =>
      orm
        .select({ row: checks })
        .from(sql`json_each(${$.nums}) AS j`)
        .crossJoin(checks)
        .where(
          sql`${checks.monitorNum} = j.value AND ${checks.at} >= coalesce((
          SELECT c.at FROM ${checks} AS c WHERE c.${num} = j.value AND c.at <= ${$.until}
          ORDER BY c.at DESC LIMIT 1 OFFSET ${$.each} - 1), 0) AND ${checks.at} <= ${$.until}`,
        ),
    ),
  };
}

/** Times up to which results are rolled up. Monitors that are due are found by an index. */
function declareProgress({ states, key }: ResultTables) {
  return {
    /**
     * Lists the monitors that are rolled up to a time before `due` (unix ms), the furthest behind
     * first.
     */
    listBehind: selectMany((orm, $: { due: number; limit: number }) =>
      orm
        .select({ monitorNum: key, rolledUntil: states.rolledUntil })
        .from(states)
        .where(lt(states.rolledUntil, $.due))
        .orderBy(asc(states.rolledUntil))
        .limit($.limit),
    ),

    /**
     * Sets the progress of monitors that are rolled up beyond `at` (unix ms) back to it, after the
     * clock was set back.
     */
    returnTo: mutate((orm, $: { at: number }) =>
      orm.update(states).set({ rolledUntil: $.at }).where(gt(states.rolledUntil, $.at)),
    ),

    saveRolledUntil: mutate((orm, $: { monitorNum: number; rolledUntil: number }) =>
      orm.update(states).set({ rolledUntil: $.rolledUntil }).where(eq(key, $.monitorNum)),
    ),

    /** Finds the earliest time up to which monitors (`nums`: a JSON list) are rolled up. */
    findLeastRolledUntil: selectOne((orm, $: { nums: string }) =>
      orm
        .select({ at: sql<number | null>`min(${states.rolledUntil})` })
        .from(states)
        .where(sql`${key} IN (SELECT value FROM json_each(${$.nums}))`),
    ),
  };
}

/** Results by hour, and the rollups that are made of them once an hour. */
function declareRollUp({ checks, rollups }: ResultTables) {
  const inSpan = ($: { monitorNum: number; from: number; to: number }) =>
    and(eq(checks.monitorNum, $.monitorNum), gte(checks.at, $.from), lt(checks.at, $.to));
  return {
    /** Finds the time of the first result within a span; null without one. */
    findFirstCheck: selectOne((orm, $: { monitorNum: number; from: number; to: number }) =>
      orm
        .select({ at: sql<number | null>`min(${checks.at})` })
        .from(checks)
        .where(inSpan($)),
    ),

    /** Lists the results of a span with a known outcome, oldest first. */
    listResults: selectMany((orm, $: { monitorNum: number; from: number; to: number }) =>
      orm
        .select({
          at: checks.at,
          outcome: checks.outcome,
          latencyMs: checks.latencyMs,
        })
        .from(checks)
        .where(and(inSpan($), ne(checks.outcome, "unknown")))
        .orderBy(asc(checks.at)),
    ),

    /** Stores a rollup, replacing an earlier one of the same time. */
    saveRollup: replaceIn(rollups, ["monitorNum", "size", "at"]),

    /**
     * Lists the rollups of one monitor and size, from `from` to before `to` (unix ms), oldest first.
     */
    listRollups: selectMany(
      (orm, $: { monitorNum: number; size: number; from: number; to: number }) =>
        orm
          .select()
          .from(rollups)
          .where(
            and(
              eq(rollups.monitorNum, $.monitorNum),
              eq(rollups.size, $.size),
              gte(rollups.at, $.from),
              lt(rollups.at, $.to),
            ),
          )
          .orderBy(asc(rollups.at)),
    ),
  };
}

/** Deletion of what is old. */
function declareDeletions({ checks, rollups }: ResultTables) {
  const num = numOf(checks);
  return {
    /** Deletes results of a monitor older than `before` (unix ms), oldest first, at most `limit`. */
    deleteChecksBefore: mutate((orm, $: { monitorNum: number; before: number; limit: number }) =>
      orm.delete(checks).where(
        and(
          eq(checks.monitorNum, $.monitorNum),
          lt(checks.at, $.before),
          sql`${checks.at} < coalesce((SELECT c.at FROM ${checks} AS c
              WHERE c.${num} = ${$.monitorNum} ORDER BY c.at LIMIT 1 OFFSET ${$.limit}), ${$.before})`,
        ),
      ),
    ),

    /** Deletes rollups of one size older than `before` (unix ms), oldest first, at most `limit`. */
    deleteRollupsBefore: mutate(
      (orm, $: { monitorNum: number; size: number; before: number; limit: number }) =>
        orm.delete(rollups).where(
          and(
            eq(rollups.monitorNum, $.monitorNum),
            eq(rollups.size, $.size),
            lt(rollups.at, $.before),
            sql`${rollups.at} < coalesce((SELECT r.at FROM ${rollups} AS r
              WHERE r.${num} = ${$.monitorNum} AND r.size = ${$.size}
              ORDER BY r.at LIMIT 1 OFFSET ${$.limit}), ${$.before})`,
          ),
        ),
    ),
  };
}

/** Response times, which are read on demand. */
function declareFigures({ checks, rollups, states, key }: ResultTables) {
  return {
    /** Lists the rollups of monitors (`nums`: a JSON list) in one size, from `from` to before `to`. */
    listRollupsOfMonitors: selectMany(
      (orm, $: { nums: string; size: number; from: number; to: number }) =>
        orm
          .select({ row: rollups })
          .from(sql`json_each(${$.nums}) AS j`)
          .crossJoin(states)
          .crossJoin(rollups)
          .where(
            and(
              sql`${key} = j.value AND ${rollups.monitorNum} = j.value`,
              eq(rollups.size, $.size),
              gte(rollups.at, $.from),
              lt(rollups.at, $.to),
              // Later times are read from results. After the clock was set back, both may contain the
              // same checks.
              sql`${rollups.at} <= ${states.rolledUntil} - ${$.size}`,
            ),
          ),
    ),

    /** Lists the results of monitors (`nums`: a JSON list) in a span that are not rolled up yet. */
    listUnrolledResults: selectMany((orm, $: { nums: string; from: number; to: number }) =>
      orm
        .select({
          at: checks.at,
          outcome: checks.outcome,
          latencyMs: checks.latencyMs,
        })
        .from(sql`json_each(${$.nums}) AS j`)
        .crossJoin(states)
        .crossJoin(checks)
        .where(
          and(
            sql`${key} = j.value AND ${checks.monitorNum} = j.value`,
            sql`${checks.at} >= max(${states.rolledUntil}, ${$.from})`,
            lt(checks.at, $.to),
            ne(checks.outcome, "unknown"),
          ),
        ),
    ),

    /** Lists the average response times of monitors (`nums`: a JSON list) by hour from `from` on. */
    listHourAverages: selectMany((orm, $: { nums: string; from: number }) =>
      orm
        .select({
          monitorNum: rollups.monitorNum,
          at: rollups.at,
          latencySum: rollups.latencySum,
          answers: rollups.answers,
        })
        .from(sql`json_each(${$.nums}) AS j`)
        .crossJoin(rollups)
        .where(
          sql`${rollups.monitorNum} = j.value AND ${rollups.size} = ${sql.raw(String(HOUR_MS))}
          AND ${rollups.at} >= ${$.from}`,
        ),
    ),
  };
}

/** Results of this server. */
export const ofMonitors = declareResults({
  checks: monitorChecks,
  rollups: monitorRollups,
  states: monitorStates,
  key: monitorStates.monitorNum,
});

// Only names of tables and columns differ.
const LOCATION_TABLES = {
  checks: locationChecks,
  rollups: locationRollups,
  states: locationStates,
  key: locationStates.num,
} satisfies {
  checks: { $inferSelect: CheckRow };
  rollups: { $inferSelect: RollupRow };
  states: object;
  key: SQLiteColumn;
};

/** Results from other locations. */
export const ofLocations = declareResults(LOCATION_TABLES as unknown as ResultTables);

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
