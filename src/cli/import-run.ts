import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Db } from "../db/database";
import { OperatorError } from "../db/errors";
import { hasInstallation } from "../db/data-directory";
import { CLI_ACTOR } from "../base/actor";
import { hasWork, type ImportReport, PRODUCTS, verdictsInWords } from "../base/import-report";
import { type ImportOptions, parseOptions } from "../imports/options";
import {
  type ImportSource,
  type OptionValues,
  type ReadContext,
  readSource,
  validateOptions,
} from "../imports/sources";
import { findImport, listImports } from "../imports/store";
import { performImport } from "../imports/import";
import { startedInWords, startImport } from "../imports/start";
import { followSettings } from "../features/settings/settings";
import { openForCommand } from "../installation";
import { systemClock } from "../base/clock";
import { toIso } from "../base/time";
import { type ExitCode, type Invocation, UsageError } from "./command";
import { flagOf } from "./import";
import { writeHistory } from "./import-history";
import { requireWritable, toFile, writeOutputFiles } from "./import-files";
import { aloneIn } from "./import-lock";
import { printReport } from "./import-report";
import { firstLine, printJson, printTable } from "./process";
import { withInstallation } from "./with-installation";

/** Reads a source, and imports it after the person has seen the plan. */
export async function runImport(source: ImportSource, invocation: Invocation): Promise<ExitCode> {
  const { isSet, output } = invocation;
  const name = `import ${source.kind}`;
  const { options, values } = await readOptions(source, invocation);
  const [path = ""] = invocation.positionals;
  const found = await readSource(source.kind, path, values, readContext(source, invocation));
  using _history = found.history;
  const access = { canCreate: true, fields: { flags: { slug: "--internal-page" } } };
  using place = placeOf(invocation, options);
  return await withInstallation({ name }, place.invocation, access, async ({ ctx, directory }) => {
    // Links in events contain the public address.
    followSettings(ctx);
    const write: Db["write"] = (change) => ctx.db.write(change);
    const isAsked = !options.isDryRun && !isSet("yes");
    const plan =
      isAsked &&
      (await performImport(ctx, write, found, { ...options, isDryRun: true }, CLI_ACTOR));
    if (plan) {
      printReport(output, plan);
      if (hasWork(plan)) await requireYes(invocation);
    }
    const file = invocation.value("report");
    if (file !== undefined) requireWritable("report", file);
    const outputs = source.options.filter(({ type }) => type === "output" && !options.isDryRun);
    for (const path of outputs.flatMap(({ name: of }) => values[of] ?? [])) {
      requireWritable("file", path);
    }
    const importAll = async () => {
      const begun = await performImport(ctx, write, found, options, CLI_ACTOR);
      return writeHistory(ctx, found, options, begun, output);
    };
    const report = await (options.isDryRun ? importAll() : aloneIn(directory, importAll));
    if (file !== undefined) {
      const text = `${JSON.stringify(report, null, 2)}\n`;
      toFile("report", file, `${resultInWords(report)} `, () => writeFileSync(file, text));
    }
    if (isSet("json")) printJson(output, report);
    else if (!plan) printReport(output, report);
    output.err(resultInWords(report));
    if (!options.isDryRun) writeOutputFiles(output, found.files?.(report) ?? []);
    if (options.isPaused && report.counts.created !== undefined && report.id !== null) {
      output.err(
        `Its monitors are paused, and their components shown as operational, until: allclear import start ${report.id}`,
      );
    }
  });
}

/** Returns what an importer needs to fetch a source, with the networks that the settings allow. */
function readContext(
  { takes, kind }: ImportSource,
  { config, env, output }: Invocation,
): ReadContext {
  const context = {
    config,
    clock: systemClock(),
    allowedNetworks: config.outboundAllow ?? [],
    environment: env,
    progress: (line: string) => output.err(line),
  };
  if (!takes.includes("url") || !hasInstallation(config.dataDir)) return context;
  const { ctx, close } = openForCommand(config, `import ${kind}`, { canCreate: false });
  try {
    followSettings(ctx);
    return { ...context, allowedNetworks: ctx.allowedNetworks };
  } finally {
    close();
  }
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

/** Returns the options of an import and of its importer. Throws a UsageError with all problems. */
async function readOptions(
  source: ImportSource,
  { isSet, value, input, positionals }: Invocation,
): Promise<{ options: ImportOptions; values: OptionValues }> {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const option of source.options) {
    const flag = flagOf(option);
    const given = option.type === "switch" ? (isSet(flag) ? "yes" : undefined) : value(flag);
    if (given === undefined) continue;
    values[option.name] = option.isInFile ? await firstLineOf(given, flag) : given;
  }
  const { options, errors } = parseOptions({
    source: value("source"),
    only: value("only"),
    history_days: value("history-days"),
    internal_page: value("internal-page"),
    isPaused: isSet("paused"),
    takesDomains: isSet("take-domains"),
    isDryRun: isSet("dry-run"),
  });
  const flags = new Map(source.options.map((option) => [option.name, flagOf(option)]));
  for (const { pointer, detail } of [...validateOptions(source, values), ...errors]) {
    const name = pointer.slice(2);
    problems.push(`--${flags.get(name) ?? name.replaceAll("_", "-")} ${detail}.`);
  }
  const [path = ""] = positionals;
  const file = value("report");
  if (file !== undefined && resolve(file) === resolve(path)) {
    problems.push("--report is the source, which is only read.");
  }
  if (!options.isDryRun && !isSet("yes")) {
    if (isSet("json")) problems.push("--json needs --dry-run or --yes.");
    else if (!input.isTerminal)
      problems.push("Without a terminal, --dry-run or --yes is required.");
  }
  if (problems.length > 0) throw new UsageError(problems);
  return { options, values };
}

/** Reads a secret from the first line of a file. */
async function firstLineOf(path: string, flag: string): Promise<string> {
  try {
    return (await firstLine(Bun.file(path).stream())).trim();
  } catch (error) {
    throw new UsageError([`--${flag} ${path} cannot be read: ${(error as Error).message}.`]);
  }
}

function resultInWords(report: ImportReport): string {
  if (!hasWork(report)) return "Nothing to change.";
  return report.dry_run ? "A dry run: nothing was written." : `Imported as ${report.id}.`;
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
    output.err(
      started.length > 0
        ? `Started ${startedInWords({ started, kept })}.`
        : "Nothing was started: no monitor or webhook waits for the start of this import.",
    );
    if (kept.length > 0) output.err(`Edited since, and left: ${refsOf(kept).join(", ")}.`);
  });
}
