import type { Found } from "../source";
import type { GatusOptions } from "./read";

/**
 * Reads a configuration of Gatus from a file, or from all files of a folder that end in .yaml or .yml. The code is
 * loaded on demand. Throws an OperatorError for one that cannot be used.
 */
export async function readGatus(path: string, options: GatusOptions): Promise<Found> {
  return (await import("./read")).readGatus(path, options);
}
