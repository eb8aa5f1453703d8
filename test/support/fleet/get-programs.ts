/**
 * Builds the programs of Go modules that tests need, and prints those that cannot be had:
 * `bun test/support/fleet/get-programs.ts`. Tests would build them as well, one after another.
 */
import { getGoProgram, GO_PROGRAMS } from "./go";

for (const name of GO_PROGRAMS) {
  try {
    console.log(await getGoProgram(name, true));
  } catch (error) {
    console.log(`${name} cannot be had: ${(error as Error).message}`);
  }
}
