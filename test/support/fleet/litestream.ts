import { getGoProgram } from "./go";

/** Returns the path of Litestream 0.5.18, which is built on first use. */
export function litestreamPath(): Promise<string> {
  return getGoProgram("litestream");
}
