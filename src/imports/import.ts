import type { Actor } from "../base/actor";
import {
  digestOf,
  type Imported,
  type ImportReport,
  PRODUCTS,
  verdictsInWords,
} from "../base/import-report";
import type { Ctx } from "../context";
import type { Db } from "../db/database";
import { OperatorError } from "../db/errors";
import type { Tx } from "../db/statements";
import { createEgress } from "../egress/egress";
import { audit } from "../events/audit";
import type { Found, FoundObject, LeftOut } from "./found";
import { planHistory } from "./history/write";
import { monitorWriter, parentsFirst, withOwnIds } from "./monitors";
import { findTarget, importObjects, type targetOf, type Writer } from "./objects";
import {
  componentWriter,
  groupWriter,
  INTERNAL_TYPE,
  InternalPage,
  PagePlaces,
  pageWriter,
} from "./pages";
import type { ImportOptions, ImportPart } from "./options";
import { ImportRun, silent } from "./run";
import { incidentWriter, maintenanceWriter, oldestFirst, scheduleWriter } from "./timeline";
import { findReceivers, WebhookImport } from "./webhooks";

/** Rolls back the transaction of a dry run and carries its report. */
class DryRun extends Error {
  constructor(readonly report: ImportReport) {
    super("a dry run is rolled back");
  }
}

/** Error of an import that would not do what its plan says. */
const NOT_AS_PLANNED =
  "The source, or what was imported from it, has changed since the plan, so nothing was imported. Make a new plan.";

/**
 * Imports in one transaction of `write`. A dry run does the same and is rolled back, so that it reports the same. Names
 * of receivers of webhooks are resolved before it. Throws an OperatorError if a plan was confirmed that differs.
 */
export async function performImport(
  ctx: Ctx,
  write: Db["write"],
  found: Found,
  options: ImportOptions,
  author: Actor,
): Promise<ImportReport> {
  const receivers = await findReceivers(createEgress(ctx), found);
  try {
    return await write((tx) => {
      const report = importFound(ctx, tx, found, { ...options, receivers }, author);
      if (options.isDryRun) throw new DryRun(report);
      const { planned } = options;
      if (planned !== undefined && planned !== digestOf(report)) {
        throw new OperatorError(NOT_AS_PLANNED);
      }
      return report;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.report;
    throw error;
  }
}

/** Part of an import to which each kind of objects belongs. */
const PARTS: Readonly<Record<Imported, ImportPart>> = {
  page: "pages",
  group: "pages",
  component: "pages",
  monitor: "monitors",
  webhook: "webhooks",
  schedule: "pages",
  maintenance: "pages",
  incident: "pages",
};

/**
 * Imports what was found, and returns the report. A dry run does the same, and its caller rolls it back. Nobody
 * is notified, and the audit log has one entry. Throws `conflict` if the name of the source is that of another
 * installation.
 */
export function importFound(
  services: Ctx,
  tx: Tx,
  found: Found,
  options: ImportOptions,
  author: Actor,
): ImportReport {
  const action = "import.run";
  const ctx = silent(services);
  const run = new ImportRun(ctx, tx, { ...author, partOf: action }, options, found);
  const places = new PagePlaces(run);
  const internal = new InternalPage(run, places);
  const webhooks = new WebhookImport(run);
  importKind(run, pageWriter(run, found.pages), found.pages);
  importKind(run, groupWriter(run, places), found.groups);
  importKind(run, componentWriter(run, places), found.components);
  const monitors = parentsFirst(withOwnIds(found.monitors));
  importKind(run, monitorWriter(run, found.components, internal), monitors);
  importKind(run, webhooks, found.webhooks);
  webhooks.finish();
  importKind(run, scheduleWriter(run), found.schedules);
  importKind(run, maintenanceWriter(run), found.maintenance);
  importKind(run, incidentWriter(run), oldestFirst(found.incidents));
  for (const one of found.leftOut) reportLeftOut(run, one);
  reportMissing(run);
  const report = run.finish(found, planHistory(run, found));
  if (report.id !== null) {
    const summary = `Imported from ${PRODUCTS[found.kind]} (${options.source}): ${verdictsInWords(report.counts)}`;
    audit(ctx, tx, author, action, report.id, summary);
  }
  return report;
}

/** Imports objects of one kind, unless the import is limited to others. */
function importKind<Found extends FoundObject<unknown>, Row extends Parameters<typeof targetOf>[1]>(
  run: ImportRun,
  writer: Writer<Found, Row>,
  objects: readonly Found[],
): void {
  const { only } = run.options;
  if (only === undefined || only === PARTS[writer.kind]) {
    importObjects(run, writer, objects);
    return;
  }
  const reason =
    only === "history" ? "Only the history is imported." : `Only ${only} are imported.`;
  for (const { foreign } of objects) reportLeftOut(run, { foreign, reason });
}

/** Reports an object that is not moved. What it became at an earlier import stays. */
function reportLeftOut(run: ImportRun, { foreign, reason }: LeftOut): void {
  const noted = run.isReported(foreign) ? undefined : run.findRef(foreign);
  const target = noted ? findTarget(run.tx, noted) : null;
  run.report(target ? "kept" : "not_moved", foreign, { target, reason });
}

/** Reports objects that are still here and no longer in the source. */
function reportMissing(run: ImportRun): void {
  for (const noted of run.listUnreported()) {
    const target = noted.foreignType === INTERNAL_TYPE ? null : findTarget(run.tx, noted);
    if (!target) continue;
    const foreign = { type: noted.foreignType, id: noted.foreignId, name: target.name };
    run.report("kept", foreign, { target, reason: "It is no longer in the source." });
  }
}
