import { readFileSync } from "node:fs";
import { CLI_ACTOR } from "../base/actor";
import { optionNames } from "../base/config/options";
import { toIso } from "../base/time";
import { OperatorError } from "../db/errors";
import { applyFile, exportFile, writeApplyFile } from "../features/apply/apply";
import { monitorsIn, omitForeignRefs, readApplyFile, type ReadFile } from "../features/apply/read";
import { ApplyFileError, type ApplyOutcome, describeChange } from "../features/apply/run";
import { type ApplyFile, configFileSchema } from "../features/apply/schema";
import { createPasswords } from "../features/auth/passwords";
import { listRefsLeftOut } from "../features/monitors/declared";
import { preparePasswords } from "../features/pages/file";
import { followSettings, readPublicAddress } from "../features/settings/settings";
import { describeQuestion } from "../features/webhooks/alerts/confirmation";
import { type Installation, openForCommand } from "../installation";
import { type Command, type ExitCode, type Invocation, JSON_FLAG, type Output } from "./command";
import { printJson } from "./print";
import { findRealPage, withInstallation } from "./with-installation";

export const applyCommand: Command = {
  name: "apply",
  summary:
    "Create and change pages, components, monitors, webhooks, templates and schedules as FILE declares. - reads standard input.",
  positionals: ["FILE"],
  flags: [
    { name: "dry-run", help: "Print the changes without making them." },
    { name: "prune", help: "Remove objects of an earlier apply that FILE no longer contains." },
    JSON_FLAG,
  ],
  // Needed to check the URLs of webhooks.
  options: [...optionNames("apply"), "outboundAllow"],
  run: runApply,
};

export const exportCommand: Command = {
  name: "export",
  summary:
    "Print pages, components, monitors, webhooks, templates and schedules as a file for apply.",
  flags: [
    {
      name: "page",
      placeholder: "SLUG",
      help: "Export this page only, without references to objects outside it.",
    },
  ],
  options: optionNames("export"),
  run: runExport,
};

export const schemaCommand: Command = {
  name: "schema",
  summary: "Print the JSON Schema of the file for apply, as served at /schema/config.json.",
  options: optionNames("schema"),
  async run({ output }) {
    printJson(output, configFileSchema());
    return 0;
  },
};

/** Maximum length of a file on standard input. */
const INPUT_MAX_BYTES = 16 * 1024 * 1024;

/** Applies a configuration file, or standard input for `-`. */
async function runApply(invocation: Invocation): Promise<ExitCode> {
  const { config, positionals, isSet, env, input, output } = invocation;
  const [path = ""] = positionals;
  const isInput = path === "-";
  const bytes = isInput ? Buffer.from(await input.bytes(INPUT_MAX_BYTES + 1)) : readBytes(path);
  if (isInput && bytes.byteLength > INPUT_MAX_BYTES) {
    throw new OperatorError("Standard input is longer than 16 MiB.");
  }
  try {
    const file = readApplyFile(decodeUtf8(bytes), env);
    const installation = openForCommand(config, "apply", { canCreate: true });
    try {
      // Its host is not allowed as a custom domain, and links in events contain it.
      followSettings(installation.ctx);
      const isDryRun = isSet("dry-run");
      const outcome = await reconcile(installation, file, { prune: isSet("prune"), isDryRun });
      if (isSet("json")) printJson(output, toJson(outcome, isDryRun));
      else {
        const now = installation.ctx.clock.now();
        report(output, outcome, { isDryRun, isPruned: isSet("prune"), now });
      }
    } finally {
      installation.close();
    }
    return 0;
  } catch (error) {
    if (error instanceof ApplyFileError) {
      return explain(isInput ? "standard input" : path, error, output);
    }
    throw error;
  }
}

/** Returns the outcome for scripts. Objects created in a dry run have no id. */
function toJson({ objects, unconfirmed, ...outcome }: ApplyOutcome, isDryRun: boolean): object {
  return {
    dry_run: isDryRun,
    ...outcome,
    objects: objects.map(({ isNew, ...object }) =>
      isNew && isDryRun ? { ...object, id: null } : object,
    ),
    unconfirmed: unconfirmed.map(({ webhook, question }) => ({
      webhook,
      link: question.state,
      ...("dueAt" in question && { due_at: toIso(question.dueAt) }),
    })),
  };
}

/** Rolls back the transaction of a dry run and carries its outcome. */
class DryRun extends Error {
  readonly outcome: ApplyOutcome;

  constructor(outcome: ApplyOutcome) {
    super("a dry run is rolled back");
    this.outcome = outcome;
  }
}

/** Applies a file. A dry run does the same and is rolled back, so that it reports the same changes. */
async function reconcile(
  { ctx }: Installation,
  file: ReadFile,
  options: { prune: boolean; isDryRun: boolean },
): Promise<ApplyOutcome> {
  const passwords = await preparePasswords(ctx.db, file.content.pages, createPasswords());
  try {
    return await ctx.db.write((tx) => {
      const { prune } = options;
      const outcome = applyFile(ctx, tx, file, { prune, actor: CLI_ACTOR, passwords });
      if (options.isDryRun) throw new DryRun(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof DryRun) return error.outcome;
    throw error;
  }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new OperatorError(unreadable(path, error as NodeJS.ErrnoException));
  }
}

/** Throws an ApplyFileError that names the first line whose bytes are not UTF-8. */
function decodeUtf8(bytes: Buffer): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ApplyFileError([{ line: firstInvalidLine(bytes, decoder), detail: "is not UTF-8" }]);
  }
}

/** Returns the number of the first line that cannot be decoded, from 1. No multi-byte character contains 0x0a. */
function firstInvalidLine(bytes: Buffer, decoder: TextDecoder): number {
  let line = 1;
  for (let start = 0, end = 0; end !== -1; start = end + 1, line += 1) {
    end = bytes.indexOf(0x0a, start);
    try {
      decoder.decode(bytes.subarray(start, end === -1 ? undefined : end));
    } catch {
      return line;
    }
  }
  return line;
}

function unreadable(path: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === "ENOENT") return `There is no file ${path}.`;
  if (code === "EISDIR") return `${path} is a directory; apply needs a file.`;
  return `${path} cannot be read: ${message}`;
}

function report(
  output: Output,
  { changes, leftovers, unconfirmed }: ApplyOutcome,
  mode: { isDryRun: boolean; isPruned: boolean; now: number },
): void {
  for (const change of changes) output.out(describeChange(change));
  const counts = (["create", "update", "delete"] as const).map(
    (kind) => changes.filter((change) => change.kind === kind).length,
  );
  const [created, changed, removed] = counts;
  if (changes.length === 0) output.err("Nothing to change.");
  else if (mode.isDryRun) {
    output.err(`A dry run: would create ${created}, change ${changed}, remove ${removed}.`);
  } else output.err(`Created ${created}, changed ${changed}, removed ${removed}.`);
  if (leftovers.length > 0 && !mode.isPruned) {
    output.err(`No longer in the file, and kept: ${leftovers.join(", ")}. --prune removes them.`);
  }
  for (const { webhook, question } of unconfirmed) {
    output.err(
      `The webhook ${webhook} sends nothing yet: its address must confirm. ${describeQuestion(question, mode.now)}`,
    );
  }
}

/** Prints the errors of a file. Returns 2, as for other invalid arguments. */
function explain(path: string, error: ApplyFileError, output: Output): ExitCode {
  for (const { line, detail } of error.problems) output.err(`${path}:${line}: ${detail}`);
  return 2;
}

/** File in which the schema is expected beside the exported one if the server's public address is not known. */
const SCHEMA_FILE = "allclear.schema.json";
const SCHEMA_HELP = `The first line names the schema for editors: \`allclear schema > ${SCHEMA_FILE}\`.`;
const HEAD = [
  "Written by `allclear export`. `allclear apply FILE` restores it, here or on another server.",
  "Objects are identified by their refs. Omitted fields have their defaults.",
  "Not included: statuses, incidents, maintenance, logos and favicons, passwords and links of pages, users and API keys.",
];
const ofSecrets = (things: string) =>
  `Secrets and tokens of ${things} are not included either: null keeps a stored one. On another server, set each as \${NAME}.`;
const ofUnsupported = (refs: readonly string[]) =>
  `Monitors of types that this version cannot check are not included either: ${refs.join(", ")}.`;
const ofLabels = (refs: readonly string[]) =>
  `Monitors that labels of containers declare are not included either: ${refs.join(", ")}.`;
const NOT_ALL =
  "This file is not complete: `allclear apply --prune` with it removes all other objects that apply created.";
const OMITTED =
  "Left out, because this file does not contain them. Applied to this server, it removes them:";

/** Prints the configuration file of the current state. */
async function runExport(invocation: Invocation): Promise<ExitCode> {
  const { config, value, output } = invocation;
  const slug = value("page");
  return withInstallation(exportCommand, invocation, { canCreate: false }, async ({ ctx }) => {
    // A transaction, so that everything is read in the same state.
    const text = await ctx.db.write((tx) => {
      const page =
        slug === undefined ? undefined : findRealPage(tx, slug, "which cannot be exported");
      const exported = exportFile(tx, { page });
      const { file, omitted } = omitForeignRefs(exported);
      const isAll = page === undefined || Bun.deepEquals(exported, withoutDefault(exportFile(tx)));
      const withSecrets = [
        ...(monitorsIn(file).length > 0 ? ["monitors"] : []),
        ...(file.webhooks ? ["webhooks"] : []),
      ].join(" and ");
      const address = config.baseUrl ?? readPublicAddress(tx);
      const schema = address === undefined ? SCHEMA_FILE : `${address}/schema/config.json`;
      const { undeclarable, labelled } = listRefsLeftOut(tx, page?.id);
      return writeApplyFile(file, [
        `yaml-language-server: $schema=${schema}`,
        ...HEAD,
        ...(address === undefined ? [SCHEMA_HELP] : []),
        ...(undeclarable.length === 0 ? [] : [ofUnsupported(undeclarable)]),
        ...(labelled.length === 0 ? [] : [ofLabels(labelled)]),
        ...(withSecrets === "" ? [] : [ofSecrets(withSecrets)]),
        ...(isAll ? [] : [NOT_ALL]),
        ...(omitted.length > 0 ? [OMITTED, ...omitted.map((line) => `  ${line}`)] : []),
      ]);
    });
    // `out` adds one line end. Further ones may belong to a text.
    output.out(text.replace(/\n$/, ""));
  });
}

/** Returns a file as one of a single page is, in which no page is the default. */
function withoutDefault({ pages, ...others }: ApplyFile): ApplyFile {
  return {
    pages: pages.map(({ default: _default, ...page }) => page),
    ...others,
  };
}
