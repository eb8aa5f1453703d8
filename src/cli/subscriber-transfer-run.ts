import { existsSync, statSync } from "node:fs";
import { OperatorError } from "../db/errors";
import { CLI_ACTOR } from "../base/actor";
import { relayTakesUtf8 } from "../features/mail/settings";
import { followSettings } from "../features/settings/settings";
import {
  exportSubscribers,
  IMPORT_RESULTS,
  type ImportCounts,
  importSubscribers,
  readImportFile,
  recordExport,
  requireImportable,
  RESULT_WORDS,
} from "../features/subscribers/transfer";
import { readConsent } from "../features/subscribers/sign-up";
import { type ExitCode, type Invocation, UsageError } from "./command";
import { pageOf, requiredPage, SUBSCRIBER_FIELDS } from "./subscriber-page";
import { withInstallation } from "./with-installation";

const ACCESS = { canCreate: false, fields: SUBSCRIBER_FIELDS };

/** Time of a transaction, and pause before the next, in which a running server writes. */
const CHUNK_MS = 15;
const PAUSE_MS = 10;

/**
 * Imports the subscribers of a file. Bad lines are printed and skipped; the exit code is 1 if there are any.
 */
export async function runImport(invocation: Invocation): Promise<ExitCode> {
  const { positionals, isSet, value, output } = invocation;
  const [path = ""] = positionals;
  const given = value("consent");
  if (isSet("confirm") === (given !== undefined)) {
    throw new UsageError(["Give either --confirm or --consent TEXT."]);
  }
  requireFile(path);
  let badCount = 0;
  await withInstallation({ name: "subscriber import" }, invocation, ACCESS, async ({ ctx }) => {
    followSettings(ctx);
    const consent = given === undefined ? null : readConsent(given);
    const page = requiredPage(ctx.db, invocation);
    requireImportable(ctx, page, consent === null);
    const options = {
      badLinesMax: Number.POSITIVE_INFINITY,
      allowUtf8Local: relayTakesUtf8(ctx),
    };
    const file = await readImportFile(ctx.db, page, Bun.file(path).stream(), options);
    for (const { line, detail } of file.badLines) output.err(`${path}:${line}: ${detail}`);
    badCount = file.badCount;
    const isDryRun = isSet("dry-run");
    const counts = await importSubscribers(
      ctx,
      { page, file, consent, source: "import", isDryRun },
      {
        chunkMs: CHUNK_MS,
        write: (change) => ctx.db.write(change),
        between: () => Bun.sleep(PAUSE_MS),
      },
      CLI_ACTOR,
    );
    output.err(
      `${isDryRun ? "A dry run" : `Imported into ${page.name}`}: ${wordsOf(counts, badCount)}.`,
    );
  });
  return badCount > 0 ? 1 : 0;
}

/** Prints subscribers, or suppressed addresses, as CSV. */
export async function runExport(invocation: Invocation): Promise<ExitCode> {
  const { isSet, output } = invocation;
  return withInstallation({ name: "subscriber export" }, invocation, ACCESS, async ({ ctx }) => {
    const selection = { page: pageOf(ctx.db, invocation), isSuppressed: isSet("suppressed") };
    await ctx.db.write((tx) => recordExport(ctx, tx, selection, CLI_ACTOR));
    for (const lines of exportSubscribers(ctx.db, selection)) {
      // `out` adds one line end.
      if (lines !== "") output.out(lines.replace(/\n$/, ""));
    }
  });
}

function requireFile(path: string): void {
  if (!existsSync(path)) throw new OperatorError(`There is no file ${path}.`);
  if (statSync(path).isDirectory()) {
    throw new OperatorError(`${path} is a directory; import needs a file.`);
  }
}

function wordsOf(counts: ImportCounts, badCount: number): string {
  const parts = IMPORT_RESULTS.flatMap((result) =>
    counts[result] > 0 ? `${counts[result].toLocaleString("en")} ${RESULT_WORDS[result]}` : [],
  );
  if (badCount > 0) parts.push(`${badCount.toLocaleString("en")} not valid`);
  return parts.length > 0 ? parts.join(", ") : "nothing";
}
