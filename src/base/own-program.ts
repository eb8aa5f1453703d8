import { join } from "node:path";
import { IS_COMPILED } from "../version";

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
