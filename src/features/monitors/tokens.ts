import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { conflict, notFound } from "../../base/errors";
import type { Actor } from "../../base/actor";
import type { TokenKind } from "../../base/status";
import { recordMonitorChange } from "./changes";
import type { NewMonitor } from "./monitors";
import { deleteToken, listTokensOf, updateMonitorRow } from "./store";
import { giveToken } from "./heartbeats";
import { getMonitorRecord, type MonitorRecord } from "./records";

/** Number of hexadecimal digits of a token's hash that name it within its monitor. */
const KEY_LENGTH = 16;

/** A token of a push monitor, without its value. */
export interface MonitorToken {
  /** Start of its hash, which names it. */
  key: string;
  kind: TokenKind;
  createdAt: number;
  /** Unix ms, exact to a minute; null before the first use. */
  lastUsedAt: number | null;
  /** True for one of another product that can be guessed. */
  isShort: boolean;
}

/** Lists the tokens of a monitor, oldest first. */
export function tokensOf(reader: Reader, monitorId: string): MonitorToken[] {
  return listTokensOf(reader, { monitorId }).map(
    ({ hash, kind, createdAt, lastUsedAt, isShort }) => ({
      key: keyOf(hash),
      kind,
      createdAt,
      lastUsedAt,
      isShort: isShort === true,
    }),
  );
}

/**
 * Gives a push monitor another generated token; the earlier one is refused from now on. Throws
 * `not_found`, or `conflict` for other types.
 */
export function rotateToken(
  ctx: Ctx,
  tx: Tx,
  id: string,
  actor: Actor,
): Required<NewMonitor> & { token: string } {
  const { row } = getMonitorRecord(tx, id);
  if (row.type !== "push") {
    throw conflict(`The monitor has the type ${row.type}. Only push monitors have a token.`);
  }
  updateMonitorRow(tx, changedRow(ctx, row));
  const token = giveToken(ctx, tx, id);
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.rotate_token",
    summary: `Gave the monitor “${row.name}” another token`,
    actor,
  });
  return { record: getMonitorRecord(tx, id), token };
}

/** Ends a token of a monitor, which is refused from now on. Throws `not_found`. */
export function endToken(ctx: Ctx, tx: Tx, id: string, key: string, actor: Actor): MonitorRecord {
  const { row } = getMonitorRecord(tx, id);
  const token = listTokensOf(tx, { monitorId: id }).find(({ hash }) => keyOf(hash) === key);
  if (!token) throw notFound("token");
  deleteToken(tx, token);
  updateMonitorRow(tx, changedRow(ctx, row));
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.end_token",
    summary: `Ended a token of the monitor “${row.name}” (${token.kind})`,
    actor,
  });
  return getMonitorRecord(tx, id);
}

function keyOf(hash: Buffer): string {
  return hash.toString("hex").slice(0, KEY_LENGTH);
}
