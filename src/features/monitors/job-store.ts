/*
 * Tokens, signals and open runs of monitored jobs. Runs often: `saveHeartbeat` at each call of a job, and `touchToken` once
 * a minute for each token; both find their row by its key. What is written about runs and signals is only for jobs
 * that report starts, exit codes or messages.
 */
import { and, asc, desc, eq, sql } from "drizzle-orm";
import type { TokenKind } from "../../base/status";
import { deleteBy, listBy, setBy } from "../../db/rows";
import { replaceIn } from "../../db/replace";
import { insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import {
  heartbeatRuns,
  heartbeatSignals,
  monitors,
  monitorStates,
  monitorTokens,
} from "../../db/tables/monitors";

/** Token that a job used. */
export interface TokenKey {
  kind: TokenKind;
  hash: Buffer;
}

export const insertMonitorToken = insertInto(monitorTokens);

/** Lists the hashes of tokens of a kind, with their monitors. */
export const listMonitorTokens = selectMany((orm, $: { kind: TokenKind }) =>
  orm
    .select({
      hash: monitorTokens.hash,
      monitorId: monitorTokens.monitorId,
      type: monitors.type,
    })
    .from(monitorTokens)
    .innerJoin(monitors, eq(monitors.id, monitorTokens.monitorId))
    .where(eq(monitorTokens.kind, $.kind)),
);

export const findMonitorToken = selectOne((orm, $: { kind: TokenKind; hash: Buffer }) =>
  orm
    .select({ monitorId: monitorTokens.monitorId })
    .from(monitorTokens)
    .where(and(eq(monitorTokens.kind, $.kind), eq(monitorTokens.hash, $.hash))),
);

/** Deletes the tokens of a monitor: those of one kind, or all if that is null. */
export const deleteMonitorTokens = mutate((orm, $: { monitorId: string; kind: TokenKind | null }) =>
  orm
    .delete(monitorTokens)
    .where(
      and(
        eq(monitorTokens.monitorId, $.monitorId),
        sql`(${$.kind} IS NULL OR ${monitorTokens.kind} = ${$.kind})`,
      ),
    ),
);

/** Lists the tokens of a monitor, oldest first. */
export const listTokensOf = listBy(monitorTokens, ["monitorId"], {
  order: [asc(monitorTokens.createdAt), asc(monitorTokens.kind), asc(monitorTokens.hash)],
});

/** Deletes one token. */
export const deleteToken = deleteBy(monitorTokens, ["kind", "hash"]);

/** Records the use of a token at a time (unix ms). */
export const touchToken = setBy(monitorTokens, ["kind", "hash"], ["lastUsedAt"]);

/** Saves the time of a job's call. */
export const saveHeartbeat = setBy(monitorStates, ["monitorNum"], ["heartbeatAt"]);

/** A signal as the last ones of a monitor are listed. */
export type SignalRow = typeof heartbeatSignals.$inferSelect;

/** Stores a signal after the earlier ones of its monitor. */
export const insertSignal = mutate((orm, $: Omit<SignalRow, "position">) =>
  orm.insert(heartbeatSignals).values({
    monitorNum: $.monitorNum,
    position: sql`(SELECT coalesce(max(s.position), 0) + 1 FROM heartbeat_signals AS s
      WHERE s.monitor_num = ${$.monitorNum})`,
    at: $.at,
    kind: $.kind,
    rid: $.rid,
    exitCode: $.exitCode,
    startedAt: $.startedAt,
    durationMs: $.durationMs,
    message: $.message,
  }),
);

/** Deletes all signals of a monitor except the newest. */
export const trimSignals = mutate((orm, $: { monitorNum: number; kept: number }) =>
  orm.delete(heartbeatSignals).where(
    and(
      eq(heartbeatSignals.monitorNum, $.monitorNum),
      sql`${heartbeatSignals.position} <= (SELECT max(s.position) FROM heartbeat_signals AS s
        WHERE s.monitor_num = ${$.monitorNum}) - ${$.kept}`,
    ),
  ),
);

/** Lists the last signals of a monitor, newest first. */
export const listSignals = selectMany((orm, $: { monitorNum: number; limit: number }) =>
  orm
    .select()
    .from(heartbeatSignals)
    .where(eq(heartbeatSignals.monitorNum, $.monitorNum))
    .orderBy(desc(heartbeatSignals.position))
    .limit($.limit),
);

/** Opens a run; a run with the same id starts again. */
export const saveRun = replaceIn(heartbeatRuns, ["monitorNum", "rid"]);

/** Ends the open run with an id, or all runs of a monitor if that is null. */
export const deleteRuns = mutate((orm, $: { monitorNum: number; rid: string | null }) =>
  orm
    .delete(heartbeatRuns)
    .where(
      and(
        eq(heartbeatRuns.monitorNum, $.monitorNum),
        sql`(${$.rid} IS NULL OR ${heartbeatRuns.rid} = ${$.rid})`,
      ),
    ),
);

/** Lists the open runs of a monitor, the newest first. */
export const listRuns = listBy(heartbeatRuns, ["monitorNum"], {
  order: [desc(heartbeatRuns.startedAt), desc(heartbeatRuns.rid)],
});
