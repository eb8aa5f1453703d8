import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { audit } from "../../events/audit";
import { formatBytes } from "../../base/numbers";
import { findSetting, putSetting } from "../settings/store";

const LAST_BACKUP = "last_backup";

/** Last backup from the dashboard or the command line. */
export interface LastBackup {
  /** Unix ms. */
  at: number;
  /** Size of the file. */
  bytes: number;
  /** Name of the user, or "Command line". */
  by: string;
}

/** Records a backup of `bytes`. A setting keeps it longer than the audit log, whose rows expire. */
export function recordBackup(ctx: Ctx, tx: Tx, bytes: number, actor: Actor): void {
  const now = ctx.clock.now();
  const last: LastBackup = { at: now, bytes, by: actor.label };
  putSetting(tx, { name: LAST_BACKUP, value: last, now });
  const verb = actor.kind === "user" ? "Downloaded" : "Wrote";
  const summary = `${verb} a backup of the database, ${formatBytes(bytes)}`;
  audit(ctx, tx, actor, "database.backup", "database", summary);
}

/** Returns the last backup; undefined before the first one. */
export function readLastBackup(reader: Reader): LastBackup | undefined {
  const value = findSetting(reader, { name: LAST_BACKUP })?.value as
    Partial<LastBackup> | undefined;
  const { at, bytes, by } = value ?? {};
  const isComplete = typeof at === "number" && typeof bytes === "number" && typeof by === "string";
  return isComplete ? { at, bytes, by } : undefined;
}
