import type { Tx } from "../../db";
import { conflict } from "../../errors";
import type { Actor } from "../../domain/actor";
import { changedRow, type Services, recordMonitorChange } from "./changes";
import type { NewMonitor } from "./create";
import { getMonitorRecord } from "./records";
import { updateMonitorRow } from "./store";
import { generateHeartbeatToken } from "./token";

/**
 * Gives a push monitor another token; the one before is refused from now on. Throws `not_found`, or
 * `conflict` for a monitor of another type.
 */
export function rotateToken(
  ctx: Services,
  tx: Tx,
  id: string,
  actor: Actor,
): Required<NewMonitor> & { token: string } {
  const { row } = getMonitorRecord(tx, id);
  if (row.type !== "push") {
    throw conflict(`The monitor is of the type ${row.type}; only push monitors have a token.`);
  }
  const { token, hash } = generateHeartbeatToken(ctx.random);
  updateMonitorRow(tx, { ...changedRow(ctx, row), tokenHash: hash });
  recordMonitorChange(ctx, tx, row, {
    action: "monitor.rotate_token",
    summary: `Gave the monitor “${row.name}” another token`,
    actor,
  });
  return { record: getMonitorRecord(tx, id), token };
}
