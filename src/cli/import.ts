import {
  closeSync,
  fchmodSync,
  fstatSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { CLI_ACTOR } from "../base/actor";
import { type Clock, systemClock } from "../base/clock";
import { PROXY_OPTION_NAMES } from "../base/config/network";
import { optionNames } from "../base/config/options";
import {
  changeValueInWords,
  hasWork,
  type ImportHistory,
  type ImportItem,
  type ImportReport,
  PRODUCTS,
  typeInWords,
  VERDICT_MEANINGS,
  VERDICTS,
  verdictsInWords,
} from "../base/import-report";
import { capitalised, plural, spaced } from "../base/text";
import { MINUTE_MS, SECOND_MS, toIso } from "../base/time";
import { type DataDirectory, hasInstallation, tryImportLock } from "../db/data-directory";
import type { Db } from "../db/database";
import { OperatorError } from "../db/errors";
import { followSettings } from "../features/settings/settings";
import type { Found, OutputFile } from "../imports/found";
import { type HistoryStep, importHistory } from "../imports/history/write";
import { performImport } from "../imports/import";
import { IMPORT_RUNS } from "../imports/jobs";
import {
  flagOf,
  IMPORT_SOURCES,
  type ImportOptions,
  type ImportSource,
  type OptionValues,
  parseOptions,
  type ReadContext,
  readSource,
  type SourceOption,
  validateOptions,
} from "../imports/sources";
import { startedInWords, startImport } from "../imports/start";
import { findImport, listImports } from "../imports/store";
import { type Installation, openForCommand } from "../installation";
import {
  type Command,
  type ExitCode,
  type Flag,
  type Invocation,
  JSON_FLAG,
  type Output,
  UsageError,
} from "./command";
import { printJson, printTable } from "./print";
import { firstLine } from "./process";
import { withInstallation } from "./with-installation";

/** Flags of every import. */
const IMPORT_FLAGS: readonly Flag[] = [
  { name: "dry-run", help: "Print the plan without changing anything." },
  {
    name: "source",
    placeholder: "NAME",
    help: "Name of the source, to tell several of a kind apart; default: default.",
  },
  { name: "paused", help: "Create monitors paused and webhooks disabled, until `import start`." },
  { name: "only", placeholder: "KIND", help: "Only pages, monitors, webhooks or history." },
  {
    name: "history-days",
    placeholder: "N",
    help: "Days of history to import, all, or none; default: all.",
  },
  {
    name: "internal-page",
    placeholder: "SLUG",
    help: "Private page for monitors that are on no page, or none; default: internal.",
  },
  {
    name: "take-domains",
    help: "Give pages their custom domains; without it they are only listed.",
  },
  { name: "yes", help: "Import without asking." },
  { ...JSON_FLAG, help: "Print the report as JSON." },
  { name: "report", placeholder: "FILE", help: "Also write the report to FILE, as JSON." },
];

function declareFlag(option: SourceOption): Flag {
  const { type, placeholder, help } = option;
  return {
    name: flagOf(option),
    ...(type === "switch" || placeholder === undefined ? {} : { placeholder }),
    help,
  };
}

/** Placeholder of the source in the help. */
function placeholderOf({ takes }: ImportSource): string {
  return takes.includes("url") ? "URL|PATH" : "PATH";
}

// The code is loaded on demand, since other commands do not need it.
export const importCommands: readonly Command[] = [
  ...IMPORT_SOURCES.map((source) => ({
    name: `import ${source.kind}`,
    summary: `Import from ${source.product}. ${placeholderOf(source)} is ${source.content}.`,
    positionals: [placeholderOf(source)],
    flags: [...source.options.map(declareFlag), ...IMPORT_FLAGS],
    options: source.takes.includes("url")
      ? [...optionNames("import"), "outboundAllow" as const, ...PROXY_OPTION_NAMES]
      : optionNames("import"),
    run: (invocation: Invocation) => runImport(source, invocation),
  })),
  {
    name: "import list",
    summary: "List imports, newest first.",
    flags: [JSON_FLAG],
    options: optionNames("import"),
    run: runList,
  },
  {
    name: "import show",
    summary: "Print the report of an import.",
    positionals: ["ID"],
    flags: [JSON_FLAG],
    options: optionNames("import"),
    run: runShow,
  },
  {
    name: "import start",
    summary: "Start the monitors and webhooks that an import with --paused created.",
    positionals: ["ID"],
    flags: [JSON_FLAG],
    options: optionNames("import"),
    run: runStart,
  },
];

/** Reads a source, and imports it after the person has seen the plan. */
async function runImport(source: ImportSource, invocation: Invocation): Promise<ExitCode> {
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

/** Interval of lines without a terminal, and of changes on one. */
const LINE_MS = 10 * SECOND_MS;
const SHOWN_MS = 200;
/** Time after which the rest can be estimated. */
const ESTIMATE_AFTER_MS = 3 * SECOND_MS;

/** Writes the history of an import, and shows how far it is. Returns the report with it. */
export async function writeHistory(
  ctx: Installation["ctx"],
  found: Found,
  options: ImportOptions,
  report: ImportReport,
  output: Output,
): Promise<ImportReport> {
  if (report.dry_run || report.history === null) return report;
  using progress = showProgress(output, ctx.clock);
  try {
    return await importHistory(ctx, found, options, report, progress.step);
  } catch (error) {
    output.err("All but the history is imported. Run the same command again to go on with it.");
    throw error;
  }
}

/** Shows how far a history is: on a terminal in one line that changes, else in a line every ten seconds. */
function showProgress(output: Output, clock: Clock) {
  const show = output.show?.bind(output);
  const startedAt = clock.monotonic();
  let shownAt = show ? Number.NEGATIVE_INFINITY : startedAt;
  let firstRows: number | undefined;
  return {
    step(step: HistoryStep): void {
      const now = clock.monotonic();
      firstRows ??= step.rows;
      if (now - shownAt < (show ? SHOWN_MS : LINE_MS)) return;
      shownAt = now;
      const text = describeStep(step, { rows: step.rows - firstRows, ms: now - startedAt });
      if (show) show(text);
      else output.err(text);
    },
    [Symbol.dispose]: () => show?.(""),
  };
}

/** Describes a step. `done` is what this run has read, and the time that took. */
function describeStep(
  { isOlder, monitor, monitors, rows, totalRows }: HistoryStep,
  done: { rows: number; ms: number },
): string {
  const parts = [
    `monitor ${monitor}/${monitors}${isOlder ? " before the last 90 days" : ""}`,
    `${rows.toLocaleString("en")} of ~${totalRows.toLocaleString("en")} beats`,
  ];
  if (done.rows > 0 && done.ms >= ESTIMATE_AFTER_MS) {
    parts.push(`${durationInWords(((totalRows - rows) * done.ms) / done.rows)} left`);
  }
  return parts.join(" · ");
}

function durationInWords(ms: number): string {
  if (ms < MINUTE_MS) return "less than a minute";
  return ms < 100 * MINUTE_MS
    ? `${Math.round(ms / MINUTE_MS)} min`
    : plural(Math.round(ms / (60 * MINUTE_MS)), "hour");
}

/** Writes the files of an import, and prints what they have. Throws an OperatorError. */
export function writeOutputFiles({ err }: Output, files: readonly OutputFile[]): void {
  for (const { path, text, summary } of files) {
    toFile("file", path, "", () => writePrivately(path, text));
    err(summary);
  }
}

/** Throws an OperatorError if a file cannot be written. Called before an import, so that one without its files is rare. */
export function requireWritable(noun: string, path: string): void {
  toFile(noun, path, "", () => closeSync(openSync(path, "a", 0o600)));
}

/** Replaces the content of a file that only this user can read, also if others could read it before. */
function writePrivately(path: string, text: string): void {
  const file = openSync(path, "w", 0o600);
  try {
    // Not the modes of pipes and devices, which others use.
    if (fstatSync(file).isFile()) fchmodSync(file, 0o600);
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes to a file, which only this user can read if it is new. Throws an OperatorError that begins with the result of
 * the import.
 */
function toFile(noun: string, path: string, result: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new OperatorError(
      `${result}The ${noun} cannot be written to ${path}: ${(error as Error).message}.`,
    );
  }
}

/** Longest wait for another import, and pause between two attempts. */
const WAIT_MS = 5_000;
const POLL_MS = 50;

/** Runs an import while no other one runs. Throws an OperatorError if another does not end soon. */
async function aloneIn<Result>(
  directory: DataDirectory,
  work: () => Promise<Result>,
): Promise<Result> {
  let lock = tryImportLock(directory);
  for (let waitedMs = 0; !lock && waitedMs < WAIT_MS; waitedMs += POLL_MS) {
    await Bun.sleep(POLL_MS);
    lock = tryImportLock(directory);
  }
  if (!lock) throw new OperatorError(IMPORT_RUNS);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** Width of the longest verdict. */
const VERDICT_WIDTH = 9;

/** Prints a plan or a report by lines. Objects that stay unchanged are only counted. */
function printReport(output: Output, report: ImportReport): void {
  const { items, not_read: notRead, to_do: toDo } = report;
  const listed = items.filter(({ verdict }) => verdict !== "unchanged");
  for (const [type, ofType] of Map.groupBy(listed, ({ foreign }) => foreign.type)) {
    output.out(`${capitalised(typeInWords(type)[1])}:`);
    for (const item of ofType) printItem(output, item);
  }
  if (report.history) printHistory(output, report.history, report.dry_run);
  printList(output, "Not read, since this version does not know it:", notRead);
  printList(output, "To do:", toDo);
  printList(output, "Verdicts:", explanationsOf(report.counts));
  output.out(`${capitalised(verdictsInWords(report.counts))}.`);
}

/** Returns the meanings of the verdicts that occur, except those that their word explains. */
function explanationsOf(counts: ImportReport["counts"]): string[] {
  const named = VERDICTS.filter((verdict) => !/^(created|updated|unchanged)$/.test(verdict));
  return named.flatMap((verdict) =>
    counts[verdict] === undefined
      ? []
      : [`${spaced(verdict).padEnd(VERDICT_WIDTH)}  ${VERDICT_MEANINGS[verdict]}`],
  );
}

function printHistory(
  output: Output,
  { results, days, from, until, skipped }: ImportHistory,
  isEstimate: boolean,
): void {
  const count = `${isEstimate ? "about " : ""}${results.toLocaleString("en")}`;
  const period = from === null ? "" : ` of ${plural(days, "day")}, from ${from} to ${until}`;
  output.out(`History: ${count} results${period}.`);
  for (const [reason, rows] of Object.entries(skipped)) {
    output.out(`  ${rows.toLocaleString("en")} not taken over: ${reason}`);
  }
}

function printItem(output: Output, { verdict, foreign, target, changes, reason }: ImportItem) {
  const becomes = target ? `  → ${target.kind} ${target.ref ?? ""}`.trimEnd() : "";
  const why = reason === null ? "" : `  ${reason}`;
  output.out(`  ${spaced(verdict).padEnd(VERDICT_WIDTH)}  ${foreign.name}${becomes}${why}`);
  for (const { field, from, to, reason: cause } of changes) {
    output.out(`    ${field}: ${changeValueInWords(from)} → ${changeValueInWords(to)}. ${cause}`);
  }
}

function printList(output: Output, title: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  output.out(title);
  for (const line of lines) output.out(`  ${line}`);
}

const READS = { canCreate: false, fields: { flags: {} } };

/** Lists imports. */
async function runList(invocation: Invocation): Promise<ExitCode> {
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
async function runShow(invocation: Invocation): Promise<ExitCode> {
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
async function runStart(invocation: Invocation): Promise<ExitCode> {
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
