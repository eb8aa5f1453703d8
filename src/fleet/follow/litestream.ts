import { renameSync, rmSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { COMPANION_SUFFIXES } from "../../db/database-files";
import { formatTxid, prepareFollowed, type Txid, txidFileOf } from "../../db/followed-database";
import type { Log } from "../../base/log";
import { type ChildProcess, startChild } from "../log/child-process";

const FOLLOW_INTERVAL = "100ms";
const RESTORE_SUFFIX = ".new";

interface Litestream {
  /** Path or name of the program. */
  program: string;
  log: Log;
}

/** Returns the path of the file with the process that follows a database. */
export function followerPidFile(database: string): string {
  return `${database}-follower`;
}

/** Starts the process that applies the log of a folder to a prepared database, from its noted transaction on. */
export function startFollower(
  { program, log }: Litestream,
  database: string,
  folder: string,
): ChildProcess {
  const source = pathToFileURL(folder).href;
  const options = ["-f", "-follow-interval", FOLLOW_INTERVAL, "-o", database];
  return startChild([program, "restore", ...options, source], {
    pidFile: followerPidFile(database),
    onLine: (line) => {
      if (/level=(ERROR|WARN)/.test(line)) log.warn({ line }, "Litestream reported a problem");
      else log.debug({ line }, "Litestream");
    },
  });
}

/** A restore that runs. */
interface Restore {
  /** Resolves when the database is at its path. Rejects with Litestream's message. */
  done: Promise<void>;
  cancel(): Promise<void>;
}

/** Restores the log of a folder up to a transaction into a new database, and prepares it for a follower. */
export function startRestore(
  { program }: Litestream,
  database: string,
  folder: string,
  txid: Txid,
): Restore {
  removeFollowed(database);
  const unfinished = `${database}${RESTORE_SUFFIX}`;
  removeFollowed(unfinished);
  let last = "";
  const options = ["-txid", formatTxid(txid), "-o", unfinished];
  const child = startChild([program, "restore", ...options, pathToFileURL(folder).href], {
    onLine: (line) => (last = line),
  });
  async function finish(): Promise<void> {
    const end = await child.ended;
    if (end !== "exit code 0") throw new Error(`litestream restore ended with ${end}: ${last}`);
    prepareFollowed(unfinished, txid);
    renameSync(txidFileOf(unfinished), txidFileOf(database));
    renameSync(unfinished, database);
  }
  return { done: finish(), cancel: () => child.stop("at once") };
}

/** Removes a database that is not in use, with everything that was written for it. */
export function removeFollowed(database: string): void {
  const suffixes = ["", "-txid", "-txid.tmp", ".tmp", ...COMPANION_SUFFIXES];
  for (const suffix of suffixes) rmSync(`${database}${suffix}`, { force: true });
}
