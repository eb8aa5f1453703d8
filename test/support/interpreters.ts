import { findGo } from "./fleet/go";
import { findProgram } from "./servers/server-process";

/** Programs that run the samples of the API reference. */
type Interpreter = "curl" | "python3" | "node" | "bun" | "go";

// The clients that are generated for tests need Go as well, which CI downloads.
const go = await findGo().catch(() => undefined);

/** Returns the path of a program. If it is missing, warns and returns undefined; in CI throws. */
export function findInterpreter(name: Interpreter): string | undefined {
  const program = { go, bun: process.execPath }[name as string] ?? findProgram(name);
  if (program !== undefined) return program;
  if (process.env["CI"]) throw new Error(`The program ${name} is not installed.`);
  console.warn(`SKIPPED: samples of the API reference. The program ${name} is not installed.`);
  return undefined;
}
