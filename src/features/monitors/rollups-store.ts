/*
 * Raw results by the hour and what they were rolled up to. Hot: none; rolling up runs once an hour for
 * each monitor, reading latencies when somebody looks. All of it takes ranges of the primary keys, and
 * what is due is found by `monitor_states_by_rolled_until`.
 */
import { and, asc, eq, gt, gte, lt, ne, sql } from "drizzle-orm";
import { mutate, selectMany, selectOne } from "../../db";
import { monitorChecks, monitorRollups, monitorStates } from "../../db/tables/monitors";

type RollupRow = typeof monitorRollups.$inferSelect;

const inSpan = ($: { monitorNum: number; from: number; to: number }) =>
  and(
    eq(monitorChecks.monitorNum, $.monitorNum),
    gte(monitorChecks.at, $.from),
    lt(monitorChecks.at, $.to),
  );

/** The monitors that are rolled up until before `due` (unix ms), the furthest behind first. */
export const listBehind = selectMany((orm, $: { due: number; limit: number }) =>
  orm
    .select({ monitorNum: monitorStates.monitorNum, rolledUntil: monitorStates.rolledUntil })
    .from(monitorStates)
    .where(lt(monitorStates.rolledUntil, $.due))
    .orderBy(asc(monitorStates.rolledUntil))
    .limit($.limit),
);

/** Takes back what was rolled up beyond a moment (unix ms): the clock was set back. */
export const returnTo = mutate((orm, $: { at: number }) =>
  orm.update(monitorStates).set({ rolledUntil: $.at }).where(gt(monitorStates.rolledUntil, $.at)),
);

export const saveRolledUntil = mutate((orm, $: { monitorNum: number; at: number }) =>
  orm
    .update(monitorStates)
    .set({ rolledUntil: $.at })
    .where(eq(monitorStates.monitorNum, $.monitorNum)),
);

/** Finds the time of the first result within a span; null without one. */
export const findFirstCheck = selectOne(
  (orm, $: { monitorNum: number; from: number; to: number }) =>
    orm
      .select({ at: sql<number | null>`min(${monitorChecks.at})` })
      .from(monitorChecks)
      .where(inSpan($)),
);

/** The results of a span that say something, oldest first. */
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

/** Takes the place of what was rolled up for the same time before. */
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

/** Of one monitor and size, from `from` to before `to` (unix ms), oldest first. */
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

/** Deletes a monitor's results from before `before` (unix ms), the oldest first and at most `limit`. */
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

/** The same of what was rolled up in one size. */
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

/** Up to when each of some monitors (`nums`: a JSON list) is rolled up. */
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
          // Beyond it, raw results are asked: after a clock was set back, the same checks are in both.
          sql`${monitorRollups.at} <= ${monitorStates.rolledUntil} - ${$.size}`,
        ),
      ),
);

/** The results of several monitors (`nums`: a JSON list) in a span that were not rolled up yet. */
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
