import { Database } from "bun:sqlite";
import { join } from "node:path";
import { runCommand } from "../servers/server-process";
import { temporaryFolder } from "../temporary-folder";
import { litestreamPath } from "./litestream";
import type { S3Server } from "./s3";

/** Restores a log from the store with Litestream, and returns the first column of each row of a query. */
export async function readRestored(
  store: S3Server,
  path: string,
  prefix: string,
  query: string,
): Promise<unknown[]> {
  using folder = temporaryFolder();
  const file = join(folder.path, "restored.db");
  const credentials = Object.entries(store.env).map(([name, value]) => `${name}=${value}`);
  await runCommand([
    "env",
    // Litestream does not start with it.
    "--unset=AWS_CA_BUNDLE",
    ...credentials,
    await litestreamPath(),
    "restore",
    "-o",
    file,
    store.urlOf(`${path}/${prefix}`),
  ]);
  using sqlite = new Database(file);
  return sqlite.prepare<Record<string, unknown>, []>(query).values().flat();
}
