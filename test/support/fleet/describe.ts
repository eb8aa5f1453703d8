import { describe } from "bun:test";
import { findProgram } from "../servers/server-process";
import { getGoProgram, type GoProgram } from "./go";
import { IS_LONG_RUN } from "../long";

interface Needed {
  /** Programs that are built on first use. */
  go?: readonly GoProgram[];
  /** Programs of Debian; names of which one suffices are separated by `|`. */
  debian?: readonly string[];
  /** True if a program of Go that cannot be built is a failure in CI too. */
  isRequired?: boolean;
}

/**
 * Describes tests that need real programs. Without one of them they are skipped with a message. In CI, which installs those of
 * Debian, a missing one of these is a failure; modules of Go need the proxy, which is not everywhere.
 * Call it with `await` at the top of a file.
 */
export async function describeWithPrograms(
  name: string,
  { go = [], debian = [], isRequired = false }: Needed,
  body: () => void,
): Promise<void> {
  const missing = debian.find((program) => findProgram(...program.split("|")) === undefined);
  if (missing !== undefined && process.env["CI"]) {
    throw new Error(`The program ${missing} is not installed.`);
  }
  const reason = missing === undefined ? await buildError(go) : `${missing} is not installed`;
  if (reason === undefined) {
    describe(name, body);
    return;
  }
  if (isRequired && process.env["CI"]) throw new Error(reason);
  console.warn(`SKIPPED: “${name}”. ${reason}`);
  describe.skip(name, () => {});
}

/** Describes tests that take too long for every run: only `bun test/long.ts` runs them. */
export async function describeLongRun(
  name: string,
  needed: Needed,
  body: () => void,
): Promise<void> {
  if (IS_LONG_RUN) await describeWithPrograms(name, needed, body);
  else describe.skip(name, body);
}

async function buildError(programs: readonly GoProgram[]): Promise<string | undefined> {
  try {
    for (const program of programs) await getGoProgram(program);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
