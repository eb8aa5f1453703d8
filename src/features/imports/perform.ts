import type { Actor } from "../../domain/actor";
import type { ImportReport } from "../../domain/import-report";
import type { Db } from "../../db";
import type * as WriteHistory from "./history/write";
import { createEgress } from "../../egress";
import type { ImportOptions, Services } from "./run";
import type { Found } from "./source";

/** Rolls back the transaction of a dry run and carries its report. */
class DryRun extends Error {
  readonly report: ImportReport;

  constructor(report: ImportReport) {
    super("a dry run is rolled back");
    this.report = report;
  }
}

/**
 * Imports in one transaction of `write`. A dry run does the same and is rolled back, so that it reports the same. Names
 * of receivers of webhooks are resolved before it. The code of imports is loaded here.
 */
export async function performImport(
  ctx: Services,
  write: Db["write"],
  found: Found,
  options: ImportOptions,
  author: Actor,
): Promise<ImportReport> {
  const { importFound } = await import("./import");
  const { findReceivers } = await import("./receivers");
  const receivers = await findReceivers(createEgress(ctx), found);
  try {
    return await write((tx) => {
      const report = importFound(ctx, tx, found, { ...options, receivers }, author);
      if (options.isDryRun) throw new DryRun(report);
      return report;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.report;
    throw error;
  }
}

/**
 * Writes the history that an import has left to be written, in many transactions, and returns its report with it. What
 * an interrupted one has written stays, and the next import of the source goes on there.
 */
export async function performHistory(
  ...args: Parameters<typeof WriteHistory.importHistory>
): Promise<ImportReport> {
  const { importHistory } = await import("./history/write");
  return importHistory(...args);
}
