import { formatTxid, parseTxid, type Txid } from "../../db/followed-database";

/** A file of the log: pages that the transactions from `min` to `max` have changed. */
export interface LogFile {
  /** 0 for files as the primary wrote them, 1 to 8 for merged ones, 9 for whole databases. */
  level: number;
  min: Txid;
  max: Txid;
  size: number;
}

/** Level of the files that contain the whole database. */
export const SNAPSHOT_LEVEL = 9;

/** Returns the path of a level in a folder from which Litestream restores. */
export function levelPath(level: number): string {
  return `ltx/${level}/`;
}

/** Returns the path of a file in a folder from which Litestream restores. */
export function logFilePath(file: LogFile): string {
  return `${levelPath(file.level)}${logFileName(file)}`;
}

/** Returns the name of a file, in the folder and in the store. */
export function logFileName({ min, max }: LogFile): string {
  return `${formatTxid(min)}-${formatTxid(max)}.ltx`;
}

/** Returns the file with a name; undefined for names of other files. */
export function parseLogFile(level: number, name: string, size: number): LogFile | undefined {
  const [, first = "", last = ""] = /^([0-9a-f]{16})-([0-9a-f]{16})\.ltx$/.exec(name) ?? [];
  const [min, max] = [parseTxid(first), parseTxid(last)];
  if (min === undefined || max === undefined || min > max || min === 0) return undefined;
  return { level, min, max, size };
}

/** Returns the newest file that contains the whole database. */
export function newestSnapshot(files: Iterable<LogFile>): LogFile | undefined {
  let newest: LogFile | undefined;
  for (const file of files) {
    if (file.level === SNAPSHOT_LEVEL && file.max > (newest?.max ?? 0)) newest = file;
  }
  return newest;
}

/**
 * Returns the files that continue `from` without a hole, in order: at each step the one that reaches furthest, as
 * Litestream chooses them. Whole databases continue nothing.
 */
export function chainFrom(files: Iterable<LogFile>, from: Txid): LogFile[] {
  const sorted = Array.from(files)
    .filter(({ level, max }) => level < SNAPSHOT_LEVEL && max > from)
    .sort((a, b) => a.min - b.min);
  const chain: LogFile[] = [];
  let reached = from;
  let best: LogFile | undefined;
  for (const file of sorted) {
    if (file.min > reached + 1 && best) {
      chain.push(best);
      reached = best.max;
      best = undefined;
    }
    if (file.min > reached + 1) break;
    if (file.max > reached && isFurther(file, best)) best = file;
  }
  if (best) chain.push(best);
  return chain;
}

function isFurther(file: LogFile, than: LogFile | undefined): boolean {
  if (than === undefined || file.max !== than.max) return file.max > (than?.max ?? 0);
  return file.level > than.level;
}

/** Returns the files from which the newest state can be restored, in order; none without a beginning. */
export function planRestore(files: readonly LogFile[]): LogFile[] {
  const snapshot = newestSnapshot(files);
  return [...(snapshot ? [snapshot] : []), ...chainFrom(files, snapshot?.max ?? 0)];
}
