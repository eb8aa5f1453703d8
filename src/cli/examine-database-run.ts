import { examineDatabase } from "../db/orphans";
import type { ExitCode, Invocation } from "./command";
import { printJson } from "./output";

/** Prints the damage of a database and the rows of its tables. */
export async function runExamine({ positionals, output }: Invocation): Promise<ExitCode> {
  printJson(output, examineDatabase(positionals[0] ?? ""));
  return 0;
}
