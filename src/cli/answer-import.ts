import { IMPORT_COMMAND } from "../base/own-program";
import type { Command } from "./command";

/** Imports what the server of the data directory asks for, which runs this command for its dashboard. */
export const answerImportCommand: Command = {
  name: IMPORT_COMMAND,
  summary: "Import what standard input asks for.",
  isInternal: true,
  options: [],
  run: async (invocation) => (await import("./answer-import-run")).runAnswerImport(invocation),
};
