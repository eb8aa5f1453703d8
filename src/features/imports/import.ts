import type { Tx } from "../../db";
import type { Actor } from "../../domain/actor";
import { type ImportReport, type ImportTarget, PRODUCTS } from "../../domain/import-report";
import { audit } from "../../events";
import { findMonitor } from "../monitors";
import { importMonitors } from "./monitors";
import { type ImportOptions, ImportRun, type Services } from "./run";
import type { Found, LeftOut } from "./source";
import type { RefRow } from "./store";
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
  for (const one of found.leftOut) reportLeftOut(run, one);
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
        held === undefined && components === "internal" && dependsOn.length === 0,
    );
  if (!isWritable)
    throw new Error(`an import from ${found.kind} has objects that cannot be written`);
}

/** Reports an object that is not moved. The monitor that it became at an earlier import stays. */
function reportLeftOut(run: ImportRun, { foreign, reason }: LeftOut): void {
  const noted = run.isReported(foreign) ? undefined : run.findRef(foreign);
  const target = noted ? monitorOf(run, noted) : null;
  run.report(target ? "kept" : "not_moved", foreign, { target, reason });
}

/** Reports monitors that are still here and no longer in the source. */
function reportMissing(run: ImportRun): void {
  for (const noted of run.listUnreported()) {
    const target = monitorOf(run, noted);
    if (!target) continue;
    const foreign = { type: noted.foreignType, id: noted.foreignId, name: target.name };
    run.report("kept", foreign, { target, reason: "It is no longer in the source." });
  }
}

/** Returns the monitor of an earlier import; null if it was deleted here, and for other objects. */
function monitorOf({ tx }: ImportRun, { kind, id }: RefRow): ImportTarget | null {
  const row = kind === "monitor" ? findMonitor(tx, { id }) : undefined;
  return row ? { kind: "monitor", id, ref: row.ref, name: row.name } : null;
}
