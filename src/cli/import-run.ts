import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { OperatorError } from "../db";
import { hasInstallation } from "../db/data-directory";
import { CLI_ACTOR } from "../domain/actor";
import { type ImportReport, PRODUCTS, type Verdict } from "../domain/import-report";
import { RefText } from "../domain/refs";
import { schemaErrors } from "../errors";
import {
  findImport,
  type Found,
  IMPORT_PARTS,
  importFound,
  type ImportOptions,
  listImports,
  readHealthchecks,
  startedInWords,
  startImport,
  verdictsInWords,
} from "../features/imports";
import { followSettings } from "../features/settings";
import type { Installation } from "../installation";
import { toIso } from "../kernel/time";
import { type ExitCode, type Invocation, UsageError } from "./command";
import { printReport } from "./import-report";
import { printJson, printTable } from "./output";
import { withInstallation } from "./with-installation";

const PING_KEY = /^[A-Za-z0-9_-]{1,100}$/;

/** Imports checks of Healthchecks. */
export async function runHealthchecks(invocation: Invocation): Promise<ExitCode> {
  const [path = ""] = invocation.positionals;
  const pingKey = invocation.value("ping-key");
  // Not shown, since it is a secret.
  const problems = pingKey === undefined || PING_KEY.test(pingKey) ? [] : ["--ping-key is no key."];
  return runImport("import healthchecks", invocation, problems, () =>
    readHealthchecks(path, { pingKey }),
  );
}

/** Reads a source, and imports it after the person has seen the plan. `problems` are those of further flags. */
async function runImport(
  name: string,
  invocation: Invocation,
  problems: readonly string[],
  read: () => Promise<Found>,
): Promise<ExitCode> {
  const { isSet, output } = invocation;
  const options = readOptions(invocation, problems);
  const found = await read();
  const access = { canCreate: true, fields: { flags: { slug: "--internal-page" } } };
  using place = placeOf(invocation, options);
  return await withInstallation({ name }, place.invocation, access, async (installation) => {
    // Links in events contain the public address.
    followSettings(installation.ctx);
    const isAsked = !options.isDryRun && !isSet("yes");
    const plan = isAsked && (await importOnce(installation, found, { ...options, isDryRun: true }));
    if (plan) {
      printReport(output, plan);
      if (hasWork(plan)) await requireYes(invocation);
    }
    const file = invocation.value("report");
    // Before the import, so that one without its report is rare.
    if (file !== undefined) toReportFile(file, "", () => closeSync(openSync(file, "a", 0o600)));
    const report = await importOnce(installation, found, options);
    if (file !== undefined) {
      const text = `${JSON.stringify(report, null, 2)}\n`;
      toReportFile(file, `${resultInWords(report)} `, () => writeFileSync(file, text));
    }
    if (isSet("json")) printJson(output, report);
    else if (!plan) printReport(output, report);
    output.err(resultInWords(report));
  });
}

/** Asks the person. Throws an OperatorError for any other answer than yes. */
async function requireYes({ input, output }: Invocation): Promise<void> {
  output.err("Import this? Type yes to go on.");
  if (!/^y(es)?$/i.test((await input.line()).trim())) {
    throw new OperatorError("Nothing was imported.");
  }
}

/** Returns the invocation, for a dry run without a database with a temporary data directory. */
function placeOf(invocation: Invocation, { isDryRun }: ImportOptions) {
  const { config, output } = invocation;
  if (!isDryRun || hasInstallation(config.dataDir)) return { invocation, [Symbol.dispose]() {} };
  output.err(`There is no database in ${config.dataDir}: this is the plan for a new one.`);
  const dataDir = mkdtempSync(join(tmpdir(), "allclear-plan-"));
  return {
    invocation: { ...invocation, config: { ...config, dataDir } },
    [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

/** Returns the options of an import. Throws a UsageError with all problems. */
function readOptions(
  { isSet, value, input, positionals }: Invocation,
  problems: readonly string[],
): ImportOptions {
  const { source = "default", only } = { source: value("source"), only: value("only") };
  const all = [...problems];
  const [fault] = schemaErrors(RefText, source);
  if (fault) all.push(`--source ${fault.detail}.`);
  const part = IMPORT_PARTS.find((each) => each === only);
  if (only !== undefined && !part) all.push(`--only is one of ${IMPORT_PARTS.join(", ")}.`);
  const [path = ""] = positionals;
  const file = value("report");
  if (file !== undefined && resolve(file) === resolve(path)) {
    all.push("--report is the source, which is only read.");
  }
  const isDryRun = isSet("dry-run");
  if (!isDryRun && !isSet("yes")) {
    if (isSet("json")) all.push("--json needs --dry-run or --yes.");
    else if (!input.isTerminal) all.push("Without a terminal, --dry-run or --yes is required.");
  }
  if (all.length > 0) throw new UsageError(all);
  const page = value("internal-page") ?? "internal";
  const internalPage = page === "none" ? null : page;
  return {
    source,
    isDryRun,
    isPaused: isSet("paused"),
    only: part,
    internalPage,
    takesDomains: isSet("take-domains"),
  };
}

/** Rolls back the transaction of a dry run and carries its report. */
class DryRun extends Error {
  readonly report: ImportReport;

  constructor(report: ImportReport) {
    super("a dry run is rolled back");
    this.report = report;
  }
}

/** Imports in one transaction. A dry run does the same and is rolled back, so that it reports the same. */
async function importOnce(
  { ctx }: Installation,
  found: Found,
  options: ImportOptions,
): Promise<ImportReport> {
  try {
    return await ctx.db.write((tx) => {
      const report = importFound(ctx, tx, found, options, CLI_ACTOR);
      if (options.isDryRun) throw new DryRun(report);
      return report;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.report;
    throw error;
  }
}

/** Verdicts of objects that an import does not change. */
const IDLE: ReadonlySet<string> = new Set(["unchanged", "kept", "not_moved"] satisfies Verdict[]);

/** Returns true if an import changes something. */
function hasWork({ counts }: ImportReport): boolean {
  return Object.keys(counts).some((verdict) => !IDLE.has(verdict));
}

function resultInWords(report: ImportReport): string {
  if (!hasWork(report)) return "Nothing to change.";
  return report.dry_run ? "A dry run: nothing was written." : `Imported as ${report.id}.`;
}

/**
 * Writes to the file of a report, which only this user can read if it is new. Throws an OperatorError that begins
 * with the result of the import.
 */
function toReportFile(path: string, result: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new OperatorError(
      `${result}The report cannot be written to ${path}: ${(error as Error).message}.`,
    );
  }
}

const READS = { canCreate: false, fields: { flags: {} } };

/** Lists imports. */
export async function runList(invocation: Invocation): Promise<ExitCode> {
  const { output, isSet } = invocation;
  return withInstallation({ name: "import list" }, invocation, READS, async ({ ctx }) => {
    const imports = listImports(ctx.db, {}).map(({ id, kind, name, finishedAt, counts }) => ({
      id,
      source: { kind, name },
      finished_at: toIso(finishedAt),
      counts: JSON.parse(counts) as ImportReport["counts"],
    }));
    if (isSet("json")) printJson(output, imports);
    else {
      const rows = imports.map(({ id, source, finished_at, counts }) => [
        id,
        `${PRODUCTS[source.kind]} (${source.name})`,
        finished_at,
        verdictsInWords(counts),
      ]);
      printTable(output, ["ID", "SOURCE", "FINISHED", "RESULT"], rows);
    }
  });
}

/** Prints the report of an import. */
export async function runShow(invocation: Invocation): Promise<ExitCode> {
  const { output, isSet, positionals } = invocation;
  const [id = ""] = positionals;
  return withInstallation({ name: "import show" }, invocation, READS, async ({ ctx }) => {
    const row = findImport(ctx.db, { id });
    if (!row) throw new OperatorError(`There is no import ${id}.`);
    if (isSet("json")) printJson(output, row.report);
    else printReport(output, row.report);
  });
}

/** Starts the monitors and webhooks of an import. */
export async function runStart(invocation: Invocation): Promise<ExitCode> {
  const { output, isSet, positionals } = invocation;
  const [id = ""] = positionals;
  return withInstallation({ name: "import start" }, invocation, READS, async ({ ctx }) => {
    const { started, kept } = await ctx.db.write((tx) => startImport(ctx, tx, id, CLI_ACTOR));
    const refsOf = (targets: typeof started) => targets.map(({ ref }) => ref ?? "");
    if (isSet("json")) printJson(output, { started: refsOf(started), kept: refsOf(kept) });
    else for (const ref of refsOf(started)) output.out(ref);
    output.err(`Started ${startedInWords({ started, kept })}.`);
    if (kept.length > 0) output.err(`Edited since, and left: ${refsOf(kept).join(", ")}.`);
  });
}
