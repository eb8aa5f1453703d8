import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SECOND_MS } from "../base/time";
import type { Ctx } from "../context";
import { VERSION } from "../version";

/** File of the last contact in the directory of the state. Its time is that of its last change. */
export const CONTACT_FILE = "contact";

/** Minimum time between two writes of the file. */
const CONTACT_EVERY_MS = 15 * SECOND_MS;

/** Returns a function that notes that the server has answered, for `healthcheck --probe`. */
export function createContactFile({ clock, log }: Ctx, directory: string | undefined): () => void {
  if (directory === undefined) return () => {};
  mkdirSync(directory, { recursive: true });
  const file = join(directory, CONTACT_FILE);
  let writtenAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() - writtenAt < CONTACT_EVERY_MS) return;
    writtenAt = clock.monotonic();
    try {
      writeFileSync(file, `${VERSION}\n`);
    } catch (error) {
      log.warn({ err: error }, "the last contact could not be noted");
    }
  };
}
