import type { Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { notFound } from "../../errors";
import { audit } from "../../events";
import { plural } from "../../kernel/text";
import { findMonitor, type MonitorRow, resumeMonitor } from "../monitors";
import type { Services } from "./run";
import { findImport, listPausedRefs, saveRef } from "./store";

/** Monitors of an import that were started, and those that stay paused since they were edited. */
export interface Started {
  started: MonitorRow[];
  kept: MonitorRow[];
}

/**
 * Starts the monitors that an import created paused and that are as it left them. The audit log has one entry.
 * Throws `not_found`.
 */
export function startImport(ctx: Services, tx: Tx, importId: string, author: Actor): Started {
  if (!findImport(tx, { id: importId })) throw notFound("import");
  const action = "import.start";
  const outcome: Started = { started: [], kept: [] };
  for (const noted of listPausedRefs(tx, { importId })) {
    const before = findMonitor(tx, noted);
    if (!before?.paused) continue;
    if (before.version !== noted.version) {
      outcome.kept.push(before);
      continue;
    }
    const { row } = resumeMonitor(ctx, tx, before.id, { ...author, partOf: action });
    saveRef(tx, { ...noted, version: row.version, pausedBy: null });
    outcome.started.push(row);
  }
  const { length } = outcome.started;
  if (length > 0) {
    audit(ctx, tx, author, action, importId, `Started ${plural(length, "imported monitor")}`);
  }
  return outcome;
}
