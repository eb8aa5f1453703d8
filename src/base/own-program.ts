import { join } from "node:path";
import { IS_COMPILED } from "../version";

/** Name of the internal command that imports what standard input asks for. */
export const IMPORT_COMMAND = "answer-import";

/** Name of the internal command that copies a database: `copy-database DATABASE FILE [RECIPIENTS]`. */
export const COPY_COMMAND = "copy-database";

/** Ending that it adds to the name of an encrypted file. */
export const ENCRYPTED = ".age";

/** Name of the internal command that examines a database: `examine-database FILE`. */
export const EXAMINE_COMMAND = "examine-database";

/** Returns the words that start this program: the executable, or the runtime with the sources. */
export function ownProgram(): string[] {
  const sources = join(import.meta.dir, "..", "main.ts");
  return IS_COMPILED ? [process.execPath] : [process.execPath, sources];
}

/** Returns the environment of this process without the settings of the server. */
export function environmentWithoutSettings(): Record<string, string | undefined> {
  const isOfServer = (name: string) => name.startsWith("ALLCLEAR_");
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfServer(name)));
}
