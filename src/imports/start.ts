import type { Actor } from "../base/actor";
import { notFound } from "../base/errors";
import type { ImportTarget } from "../base/import-report";
import { plural } from "../base/text";
import { composed } from "../base/validation";
import type { Ctx } from "../context";
import type { Reader, Tx } from "../db/statements";
import { audit } from "../events/audit";
import { findMonitor } from "../features/monitors/store";
import { resumeMonitor } from "../features/monitors/monitors";
import { findWebhook } from "../features/webhooks/store";
import { updateWebhook } from "../features/webhooks/webhooks";
import { targetOf } from "./objects";
import { silent } from "./run";
import { findImport, listPausedRefs, type RefRow, saveRef } from "./store";

type Target = ImportTarget & { id: string };

/** Monitors and webhooks of an import that were started, and those that stay as they are since they were edited. */
export interface Started {
  started: Target[];
  kept: Target[];
}

/**
 * Starts the monitors and webhooks that an import created switched off and that are as it left them. The audit log
 * has one entry. Throws `not_found`.
 */
export function startImport(services: Ctx, tx: Tx, importId: string, author: Actor): Started {
  if (!findImport(tx, { id: importId })) throw notFound("import");
  const ctx = silent(services);
  const action = "import.start";
  const actor = { ...author, partOf: action };
  const outcome: Started = { started: [], kept: [] };
  for (const noted of listPausedRefs(tx, { importId })) {
    const before = findSwitchedOff(tx, noted);
    if (!before) continue;
    const target = targetOf(noted.kind, before);
    if (before.version !== noted.mark) {
      outcome.kept.push(target);
      continue;
    }
    const { row } =
      noted.kind === "monitor"
        ? resumeMonitor(ctx, tx, noted.id, actor)
        : updateWebhook(ctx, tx, noted.id, composed({ enabled: true }), actor, { isSilent: true });
    saveRef(tx, { ...noted, mark: row.version, pausedBy: null });
    outcome.started.push(target);
  }
  const { length } = outcome.started;
  if (length > 0) {
    audit(ctx, tx, author, action, importId, `Started ${startedInWords(outcome)}`);
  }
  return outcome;
}

/** Returns the number of objects that an import created switched off and that are as it left them. */
export function countPaused(reader: Reader, importId: string): number {
  const refs = listPausedRefs(reader, { importId });
  return refs.filter((noted) => findSwitchedOff(reader, noted)?.version === noted.mark).length;
}

/** Returns what was started as a phrase, such as "3 monitors and 1 webhook". */
export function startedInWords({ started }: Started): string {
  const count = (kind: ImportTarget["kind"]) => started.filter((one) => one.kind === kind).length;
  const monitors = plural(count("monitor"), "monitor");
  const webhooks = count("webhook");
  return webhooks === 0 ? monitors : `${monitors} and ${plural(webhooks, "webhook")}`;
}

/** Finds a monitor that is paused, or a webhook that is disabled. */
function findSwitchedOff(reader: Reader, { kind, id }: RefRow) {
  if (kind === "monitor") {
    const row = findMonitor(reader, { id });
    return row?.paused ? row : undefined;
  }
  const row = kind === "webhook" ? findWebhook(reader, { id }) : undefined;
  return row && !row.enabled ? row : undefined;
}
