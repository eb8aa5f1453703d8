import type { Actor } from "../base/actor";
import { sha256Hex } from "../base/hash";
import type { ImportReport } from "../base/import-report";
import type { Ctx } from "../context";
import type { Db } from "../db/database";
import { OperatorError } from "../db/errors";
import { createEgress } from "../egress/egress";
import type * as WriteHistory from "./history/write";
import type { ImportOptions } from "./run";
import type { Found } from "./source";

/** Rolls back the transaction of a dry run and carries its report. */
class DryRun extends Error {
  readonly report: ImportReport;

  constructor(report: ImportReport) {
    super("a dry run is rolled back");
    this.report = report;
  }
}

/** Error of an import that would not do what its plan says. */
const NOT_AS_PLANNED =
  "The source, or what was imported from it, has changed since the plan, so nothing was imported. Make a new plan.";

/** Returns the digest of what a plan or a report says of each object. */
export function digestOf({ items }: Pick<ImportReport, "items">): string {
  const verdicts = items.map(({ verdict, foreign: { type, id } }) => [verdict, type, id]);
  return sha256Hex(JSON.stringify(verdicts));
}

/**
 * Imports in one transaction of `write`. A dry run does the same and is rolled back, so that it reports the same. Names
 * of receivers of webhooks are resolved before it. The code of imports is loaded here. Throws an OperatorError if a plan
 * was confirmed that differs.
 */
export async function performImport(
  ctx: Ctx,
  write: Db["write"],
  found: Found,
  options: ImportOptions,
  author: Actor,
): Promise<ImportReport> {
  const { importFound } = await import("./import");
  const { findReceivers } = await import("./webhooks");
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
