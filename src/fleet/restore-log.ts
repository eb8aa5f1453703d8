import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { DATABASE_MODE } from "../db/open";
import { redactText } from "../domain/redact";
import { environmentOf, type LitestreamSetup, replicaSettings } from "./litestream";

/** Restores the log of a prefix into a new file, with Litestream. `options` are further arguments, such as a time. */
export async function restoreLog(
  { program, store, credentials }: LitestreamSetup,
  prefix: string,
  file: string,
  options: readonly string[] = [],
): Promise<void> {
  const config = `${file}.yml`;
  const unfinished = `${file}.unfinished`;
  // JSON is YAML. The configuration names the restored file as the database of the log.
  const replica = replicaSettings(store, prefix);
  writeFileSync(config, JSON.stringify({ dbs: [{ path: file, replica }] }), { mode: 0o640 });
  rmSync(unfinished, { force: true });
  try {
    const command = ["restore", "-config", config, "-no-expand-env", ...options];
    const child = Bun.spawn([program, ...command, "-o", unfinished, file], {
      env: environmentOf(credentials),
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const errors = await new Response(child.stderr).text();
    if ((await child.exited) !== 0) {
      throw new Error(`Litestream cannot restore ${prefix}: ${redactText(errors.trim())}`);
    }
    chmodSync(unfinished, DATABASE_MODE);
    renameSync(unfinished, file);
  } finally {
    rmSync(config, { force: true });
    rmSync(unfinished, { force: true });
  }
}
