import { Database } from "bun:sqlite";
import { join } from "node:path";
import { readGatus } from "../../src/imports/gatus/read";
import type { Found, FoundHistory } from "../../src/imports/found";
import { GATUS_ADDRESSES, GATUS_SECRETS } from "../imports/fixtures/gatus/variables";
import { temporaryFolder } from "./temporary-folder";

const FIXTURE = join(import.meta.dir, "..", "imports", "fixtures", "gatus");

/** Configuration of the Gatus that wrote the database. */
export const GATUS_CONFIG = join(FIXTURE, "config.yaml");

/** Variables of that configuration. */
export const GATUS_VARIABLES = { ...GATUS_ADDRESSES, ...GATUS_SECRETS };

/** Hour in which the database was written, in unix ms. */
export const GATUS_HOUR = Date.UTC(2026, 10, 23, 12);

/** Writes the database to a path, after a change of it. */
export async function writeGatusDatabase(
  path: string,
  change: (database: Database) => void = () => undefined,
): Promise<void> {
  await Bun.write(path, Bun.gunzipSync(await Bun.file(join(FIXTURE, "gatus.db.gz")).bytes()));
  using database = new Database(path);
  database.transaction(() => change(database))();
  // Without a log its file may be removed while it is read.
  database.run("PRAGMA journal_mode = DELETE");
}

/** Reads the configuration, or another one, and the database after a change of it. */
export async function readGatusFixture(
  change?: (database: Database) => void,
  config = GATUS_CONFIG,
): Promise<Found & { history: FoundHistory }> {
  using folder = temporaryFolder();
  const history = join(folder.path, "gatus.db");
  await writeGatusDatabase(history, change);
  const found = await readGatus(config, {
    history,
    envFile: undefined,
    environment: GATUS_VARIABLES,
    allowsUnset: false,
    readsNamedFiles: true,
  });
  if (!found.history) throw new Error("no history");
  return { ...found, history: found.history };
}
