/*
 * Signals of jobs, their open runs and the use of tokens. Hot: `touchToken` once a minute for each token, which
 * finds its row by its key. The others run only for jobs that report starts, exit codes or messages.
 */
import { and, desc, eq, sql } from "drizzle-orm";
import { mutate, selectMany } from "../../db/statements";
import { heartbeatRuns, heartbeatSignals, monitorTokens } from "../../db/tables/monitors";
import type { TokenKind } from "../../base/status";

/** A signal as the last ones of a monitor are listed. */
export type SignalRow = typeof heartbeatSignals.$inferSelect;

/** Token that a job used. */
export interface TokenKey {
  kind: TokenKind;
  hash: Buffer;
}

const { monitorNum, position } = heartbeatSignals;

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
      eq(monitorNum, $.monitorNum),
      sql`${position} <= (SELECT max(s.position) FROM heartbeat_signals AS s
        WHERE s.monitor_num = ${$.monitorNum}) - ${$.kept}`,
    ),
  ),
);

/** Lists the last signals of a monitor, newest first. */
export const listSignals = selectMany((orm, $: { monitorNum: number; limit: number }) =>
  orm
    .select()
    .from(heartbeatSignals)
    .where(eq(monitorNum, $.monitorNum))
    .orderBy(desc(position))
    .limit($.limit),
);

/** Opens a run; a run with the same id starts again. */
export const saveRun = mutate((orm, $: typeof heartbeatRuns.$inferSelect) =>
  orm
    .insert(heartbeatRuns)
    .values({ monitorNum: $.monitorNum, rid: $.rid, startedAt: $.startedAt })
    .onConflictDoUpdate({
      target: [heartbeatRuns.monitorNum, heartbeatRuns.rid],
      set: { startedAt: sql`excluded.started_at` },
    }),
);

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
export const listRuns = selectMany((orm, $: { monitorNum: number }) =>
  orm
    .select()
    .from(heartbeatRuns)
    .where(eq(heartbeatRuns.monitorNum, $.monitorNum))
    .orderBy(desc(heartbeatRuns.startedAt), desc(heartbeatRuns.rid)),
);

/** Records the use of a token at a time (unix ms). */
export const touchToken = mutate((orm, $: TokenKey & { at: number }) =>
  orm
    .update(monitorTokens)
    .set({ lastUsedAt: $.at })
    .where(and(eq(monitorTokens.kind, $.kind), eq(monitorTokens.hash, $.hash))),
);

/** Lists the tokens of a monitor, oldest first. */
export const listTokensOf = selectMany((orm, $: { monitorId: string }) =>
  orm
    .select()
    .from(monitorTokens)
    .where(eq(monitorTokens.monitorId, $.monitorId))
    .orderBy(monitorTokens.createdAt, monitorTokens.kind, monitorTokens.hash),
);

/** Deletes one token. */
export const deleteToken = mutate((orm, $: TokenKey) =>
  orm
    .delete(monitorTokens)
    .where(and(eq(monitorTokens.kind, $.kind), eq(monitorTokens.hash, $.hash))),
);
