import type { Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import type { CauseSource } from "../../domain/component-status";
import { endManualCauses, insertCauses } from "./cause-store";
import type { ComponentRow } from "./store";

/**
 * Replaces the causes of manual statuses by those that the rows carry. A manual status is a cause like any
 * other while it is not operational, so that history can be folded. `at`, in unix ms, is when it begins.
 */
export function replaceManualCauses(
  tx: Tx,
  rows: readonly ComponentRow[],
  by: { source: CauseSource; actor: Actor; at: number },
): void {
  if (rows.length === 0) return;
  endManualCauses(tx, { ids: JSON.stringify(rows.map(({ id }) => id)), endedAt: by.at });
  insertCauses(
    tx,
    rows
      .filter(({ baselineStatus }) => baselineStatus !== "operational")
      .map(({ id, baselineStatus }) => ({
        componentId: id,
        source: by.source,
        sourceId: by.actor.id ?? by.actor.kind,
        status: baselineStatus,
        startedAt: by.at,
      })),
  );
}
