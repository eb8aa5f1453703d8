/* The proof that the log in the store is the database: it is restored in the night and compared. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Timer } from "../base/clock";
import type { Log } from "../base/log";
import { environmentWithoutSettings, EXAMINE_COMMAND, ownProgram } from "../base/own-program";
import { DAY_MS, HOUR_MS, startOfDay } from "../base/time";
import type { RowCounts } from "../db/orphans";
import type { ObjectStore } from "../object-store/object-store";
import type { LitestreamSetup } from "./log/replication";
import { restoreLog } from "./log/restore";

/** Beginning of the name of the folder in which a check restores. */
export const RESTORE_CHECK = "restore-check";

/** Name of the last result in the fleet's store. */
const RESULT_KEY = "restore-check.json";

/** Beginning and length of the part of the day, in UTC, in which nodes check. */
const NIGHT_FROM_MS = 2 * HOUR_MS;
const NIGHT_MS = 2 * HOUR_MS;
/** Time after a check in which no other node checks. */
const RECENT_MS = 20 * HOUR_MS;
/** Longest check. */
const CHECK_MAX_MS = 2 * HOUR_MS;

/** Result of restoring the fleet's database from the store. */
export interface RestoreCheck {
  /** End, in unix ms. */
  at: number;
  /** Node that restored. */
  node: string;
  prefix: string;
  txid: number;
  /** Reason as a sentence if the restored database is not the same. */
  error: string | null;
}

interface Dependencies {
  clock: Clock;
  log: Log;
  store: ObjectStore;
  litestream: LitestreamSetup;
  /** Name of this node. */
  node: string;
  /** Folder on the disk of the database. */
  folder: string;
  /** Reads this node's rows, the last transaction in them and the prefix of its log. */
  read(): Promise<{ prefix: string; txid: number; counts: RowCounts }>;
}

/** Returns the last result; undefined before the first. */
export async function readRestoreCheck(store: ObjectStore): Promise<RestoreCheck | undefined> {
  const found = await store.get(RESULT_KEY);
  return found && (JSON.parse(new TextDecoder().decode(found.bytes)) as RestoreCheck);
}

/** Restores the database of this node's last transaction from the store, compares both, and stores the result. */
export async function checkRestore(deps: Dependencies): Promise<RestoreCheck> {
  const { clock, litestream, log, node, store } = deps;
  const { prefix, txid, counts } = await deps.read();
  const folder = join(deps.folder, RESTORE_CHECK);
  // A process that was killed leaves a whole database behind.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const limit = new AbortController();
  const timer = clock.after(CHECK_MAX_MS, () => limit.abort());
  let error: string | null = null;
  try {
    const file = join(folder, "allclear.db");
    await restoreLog(litestream, prefix, file, { txid, signal: limit.signal });
    error = differenceOf(counts, await examine(file, limit.signal));
  } catch (failure) {
    error = (failure as Error).message;
  } finally {
    timer.cancel();
    rmSync(folder, { recursive: true, force: true });
  }
  const result: RestoreCheck = { at: clock.now(), node, prefix, txid, error };
  if (error === null)
    log.info({ txid }, "the database was restored from the store and is the same");
  else log.error({ txid, reason: error }, "the database could not be restored from the store");
  const bytes = new TextEncoder().encode(JSON.stringify(result));
  await store.put(RESULT_KEY, bytes, { type: "application/json", cacheControl: "no-store" });
  return result;
}

interface Examined {
  damage: string[];
  counts: RowCounts;
}

/** Examines a database in another process, which the signal kills. */
async function examine(file: string, signal: AbortSignal): Promise<Examined> {
  const child = Bun.spawn([...ownProgram(), EXAMINE_COMMAND, file], {
    env: environmentWithoutSettings(),
    cwd: join(file, ".."),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    signal,
    killSignal: "SIGKILL",
  });
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`The restored database cannot be read: ${errors.slice(0, 500)}`);
  return JSON.parse(output) as Examined;
}

/** Returns the first difference of a restored database as a sentence; null without one. */
function differenceOf(expected: RowCounts, { damage, counts }: Examined): string | null {
  if (damage.length > 0) return `The restored database is damaged: ${damage.join(", ")}.`;
  for (const [table, rows] of Object.entries(expected)) {
    if (counts[table] === rows) continue;
    return `The restored database has ${counts[table] ?? "no"} rows in ${table}, and the node ${rows}.`;
  }
  return null;
}

/**
 * Runs a check each night between 02:00 and 04:00 UTC, at a moment of this node's own, unless another node has done
 * so. For eligible replicas.
 */
export function startNightlyCheck(
  { clock, log, store, node }: Pick<Dependencies, "clock" | "log" | "store" | "node">,
  check: () => Promise<unknown>,
): Timer {
  const ownMs = Number(Bun.hash(node) % BigInt(NIGHT_MS));
  let timer = schedule();

  function schedule(): Timer {
    const now = clock.now();
    const today = startOfDay(now) + NIGHT_FROM_MS + ownMs;
    return clock.after((today > now ? today : today + DAY_MS) - now, () => {
      void run();
      timer = schedule();
    });
  }

  async function run(): Promise<void> {
    try {
      const last = await readRestoreCheck(store);
      if (last && clock.now() - last.at < RECENT_MS) return;
      await check();
    } catch (error) {
      log.warn({ err: error }, "the nightly restore could not begin");
    }
  }

  return { cancel: () => timer.cancel() };
}
