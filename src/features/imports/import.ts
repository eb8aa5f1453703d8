import type { Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { type ImportReport, PRODUCTS } from "../../domain/import-report";
import { audit } from "../../events";
import { findMonitor } from "../monitors";
import { importMonitors } from "./monitors";
import { type ImportOptions, ImportRun, type Services } from "./run";
import type { Found } from "./source";
import { verdictsInWords } from "./words";

/** Kinds of objects that no importer gives yet. */
const NOT_WRITTEN = [
  "pages",
  "groups",
  "components",
  "webhooks",
  "maintenance",
  "schedules",
  "incidents",
] as const satisfies (keyof Found)[];

/**
 * Imports what was found, and returns the report. A dry run does the same, and its caller rolls it back. Nobody
 * is notified, and the audit log has one entry. Throws `conflict` if the name of the source is that of another
 * installation.
 */
export function importFound(
  ctx: Services,
  tx: Tx,
  found: Found,
  options: ImportOptions,
  author: Actor,
): ImportReport {
  requireWritable(found);
  const action = "import.run";
  const run = new ImportRun(ctx, tx, { ...author, partOf: action }, options, found);
  const { only = "monitors" } = options;
  if (only === "monitors") importMonitors(run, found.monitors);
  else {
    const reason = `Only ${only} are imported.`;
    for (const { foreign } of found.monitors) run.report("not_moved", foreign, { reason });
  }
  for (const { foreign, reason } of found.leftOut) run.report("not_moved", foreign, { reason });
  reportMissing(run);
  const report = run.finish(found);
  if (report.id !== null) {
    const summary = `Imported from ${PRODUCTS[found.kind]} (${options.source}): ${verdictsInWords(report.counts)}`;
    audit(ctx, tx, author, action, report.id, summary);
  }
  return report;
}

/** Throws an error for parts of a source that no importer gives yet, so that none is left out silently. */
function requireWritable(found: Found): void {
  const isWritable =
    !found.history &&
    NOT_WRITTEN.every((kind) => found[kind].length === 0) &&
    found.monitors.every(
      ({ held, components, dependsOn }) =>
        held === undefined && components.length === 0 && dependsOn.length === 0,
    );
  if (!isWritable)
    throw new Error(`an import from ${found.kind} has objects that cannot be written`);
}

/** Reports monitors that are still here and no longer in the source. */
function reportMissing(run: ImportRun): void {
  for (const { kind, id, foreignType: type, foreignId } of run.listUnreported()) {
    const row = kind === "monitor" ? findMonitor(run.tx, { id }) : undefined;
    if (!row) continue;
    const { ref, name } = row;
    run.report(
      "kept",
      { type, id: foreignId, name },
      { target: { kind: "monitor", id, ref, name }, reason: "It is no longer in the source." },
    );
  }
}
