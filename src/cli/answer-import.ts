import { writeFileSync } from "node:fs";
import type { Actor } from "../base/actor";
import { systemClock } from "../base/clock";
import { readConfig } from "../base/config/load";
import { Problem } from "../base/errors";
import type { ImportReport } from "../base/import-report";
import { IMPORT_COMMAND } from "../base/own-program";
import { SECOND_MS } from "../base/time";
import type { Ctx } from "../context";
import { tryImportLock } from "../db/data-directory";
import type { Db } from "../db/database";
import { OperatorError } from "../db/errors";
import type { Tx } from "../db/statements";
import { followSettings } from "../features/settings/settings";
import { findUser } from "../features/users/store";
import type { Found } from "../imports/found";
import { performImport } from "../imports/import";
import {
  IMPORT_RUNS,
  type ImportFailure,
  type ImportMessage,
  type ImportRequest,
  withPlaceName,
} from "../imports/jobs";
import { type ImportOptions, readSource } from "../imports/sources";
import { openForCommand } from "../installation";
import type { Command, ExitCode, Invocation } from "./command";
import { writeHistory } from "./import";

/** Imports what the server of the data directory asks for, which runs this command for its dashboard. */
export const answerImportCommand: Command = {
  name: IMPORT_COMMAND,
  summary: "Import what standard input asks for.",
  isInternal: true,
  options: [],
  run: runAnswerImport,
};

/** Maximum size of settings and request together, in bytes. */
const REQUEST_MAX_BYTES = 4 * 1024 * 1024;

/** Reads settings and a request from the lines of standard input, and answers with messages. */
async function runAnswerImport({ input, output }: Invocation): Promise<ExitCode> {
  endWithServer();
  preferAsVictim();
  const text = Buffer.from(await input.bytes(REQUEST_MAX_BYTES)).toString();
  const [settings = "", line = ""] = text.split("\n");
  const request = JSON.parse(line) as ImportRequest;
  const config = { ...readConfig(settings), logLevel: "silent" } as const;
  const installation = openForCommand(config, "import", { canCreate: false });
  const { ctx, directory } = installation;
  const answer = (message: ImportMessage) => output.out(JSON.stringify(message));
  try {
    followSettings(ctx);
    const lock = request.options.isDryRun ? undefined : tryImportLock(directory);
    if (!request.options.isDryRun && !lock) {
      answer({ failure: { message: IMPORT_RUNS, fields: [] } });
      return 0;
    }
    try {
      await answerImport(ctx, request, answer);
    } finally {
      lock?.release();
    }
    return 0;
  } finally {
    installation.close();
  }
}

/**
 * Ends this process soon after a server that was killed, which could neither show nor end the import any more. What is
 * not committed is rolled back, as when the server ends it.
 */
function endWithServer(): void {
  const server = process.ppid;
  systemClock().every(SECOND_MS, () => {
    if (process.ppid !== server) process.kill(process.pid, "SIGKILL");
  });
}

/** Makes the system end this process first when memory is scarce, and not the server. */
function preferAsVictim(): void {
  try {
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {
    // Other systems have no such file, and some sandboxes do not let it be written.
  }
}

/** Imports for a user, who must still be an owner when it is written. Failures that people can mend are answers. */
export async function answerImport(
  ctx: Ctx,
  { kind, place, placeName, values, options, author }: ImportRequest,
  answer: (message: ImportMessage) => void,
): Promise<void> {
  const write: Db["write"] = (change) =>
    ctx.db.write((tx) => {
      requireOwner(tx, author);
      return change(tx);
    });
  try {
    const { allowedNetworks, clock, config } = ctx;
    const progress = (line: string) => answer({ progress: line });
    // Without variables and files that a source names: those are the operator's, and the form takes neither.
    const context = { allowedNetworks, clock, config, environment: undefined, progress };
    const read = await readSource(kind, place, values, context);
    const toDo = read.toDo.map((line) => withPlaceName(line, place, placeName));
    const found = { ...read, toDo };
    using _history = found.history;
    const report = await performImport(ctx, write, found, options, author);
    answer(await withHistory(ctx, found, options, report, answer));
  } catch (error) {
    answer({ failure: failureOf(error) });
  }
}

/** Writes the history of an import. Without it, the rest of the import stays. */
async function withHistory(
  ctx: Ctx,
  found: Found,
  options: ImportOptions,
  report: ImportReport,
  answer: (message: ImportMessage) => void,
): Promise<ImportMessage> {
  const show = (progress: string) => answer({ progress });
  try {
    const output = { out: show, err: show, show };
    return { report: await writeHistory(ctx, found, options, report, output) };
  } catch (error) {
    const { message } = failureOf(error);
    const written = `All but the history was imported, as ${report.id}.`;
    return {
      failure: { message: `${written} Import again to go on with it. ${message}`, fields: [] },
    };
  }
}

/** Throws an OperatorError if a user is no longer an owner. */
function requireOwner(tx: Tx, { id }: Actor): void {
  const user = id === null ? undefined : findUser(tx, { id });
  if (user?.role === "owner" && user.disabledAt === null) return;
  throw new OperatorError("Only owners import, and the user who asked for it no longer is one.");
}

/** Returns the answer for an error that the user can resolve. Throws every other error. */
function failureOf(error: unknown): ImportFailure {
  if (error instanceof OperatorError) return { message: error.message, fields: [] };
  if (error instanceof Problem) return { message: error.message, fields: error.fields };
  throw error;
}
