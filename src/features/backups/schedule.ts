/* Scheduled backups: their names and times, and the record of the last ones. */
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay, toIso } from "../../base/time";
import type { Reader, Tx } from "../../db/statements";
import { findSetting, putSetting } from "../settings/store";

/** Beginning of the names of backups in their place. */
export const BACKUP_PREFIX = "allclear-backup-";

const NAME = /^allclear-backup-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ)\.db(?:\.age)?$/;

/** Returns the name of a backup that begins at `at`, in unix ms. */
export function backupName(at: number, isEncrypted: boolean): string {
  const time = toIso(at).slice(0, 19).replaceAll(":", "-");
  return `${BACKUP_PREFIX}${time}Z.db${isEncrypted ? ".age" : ""}`;
}

/** Returns true for the name of a scheduled backup. Other files of the place are left alone. */
export function isBackupName(name: string): boolean {
  return NAME.test(name);
}

/** Returns the names of backups among `names`, newest first. */
function newestBackups(names: readonly string[]): string[] {
  return names.filter(isBackupName).toSorted((a, b) => (a < b ? 1 : -1));
}

/** Returns the name of the newest backup. One that a clock dated more than a day ahead counts only without others. */
export function newestBackup(names: readonly string[], now: number): string | undefined {
  const newest = newestBackups(names);
  const latest = backupName(now + DAY_MS, true);
  return newest.find((name) => name <= latest) ?? newest[0];
}

/** Returns the names of backups that are not kept. The backup `written` counts as the newest, whatever the clock says. */
export function obsoleteBackups(names: readonly string[], written: string, keep: number): string[] {
  if (keep === 0) return [];
  return newestBackups(names.filter((name) => name !== written)).slice(keep - 1);
}

/** A scheduled backup. Times in unix ms. */
export interface ScheduledBackup {
  /** Time for which it was planned. */
  dueAt: number;
  /** Beginning of the last try. */
  at: number;
  /** Digest of place and recipients. After a change of either, a backup is due at once. */
  target: string;
  /** Place for people, such as `s3://bucket/path`. */
  place: string;
  name: string;
  /** Size of the stored file; absent until it is complete. */
  bytes?: number;
  /** Reason as a sentence if the last try failed. */
  error?: string;
  /** Sentence about a complete backup that needs attention. */
  warning?: string;
}

/** Time by which the clock can go back without a second backup of the same day. */
const BACK_MAX_MS = HOUR_MS;

/** Returns the last moment at or before `now` that is `minutes` after midnight in UTC. */
export function lastPlanned(now: number, minutes: number): number {
  const today = startOfDay(now) + minutes * MINUTE_MS;
  return today <= now ? today : today - DAY_MS;
}

/**
 * Returns the time of the backup that is due at `now`, in unix ms: the last planned one, unless it is complete.
 * One that is recorded for a much later time, by a wrong clock, does not count.
 */
export function dueBackup(
  last: ScheduledBackup | undefined,
  { now, minutes, target }: { now: number; minutes: number; target: string },
): number | undefined {
  const planned = lastPlanned(now, minutes);
  const isDone =
    last?.bytes !== undefined &&
    last.target === target &&
    last.dueAt >= planned &&
    last.dueAt <= now + BACK_MAX_MS;
  return isDone ? undefined : planned;
}

const SETTING = "scheduled_backups";

/** Backups that are recorded, newest first. */
const RECORDED_MAX = 10;

/** Returns the last scheduled backups, newest first. */
export function readScheduledBackups(reader: Reader): ScheduledBackup[] {
  return (findSetting(reader, { name: SETTING })?.value ?? []) as ScheduledBackup[];
}

/** Records a backup, in the place of its earlier tries. */
export function recordScheduledBackup(tx: Tx, backup: ScheduledBackup, now: number): void {
  const [last, ...others] = readScheduledBackups(tx);
  const isRetry = last?.dueAt === backup.dueAt && last.bytes === undefined;
  const before = last && !isRetry ? [last, ...others] : others;
  const value = [backup, ...before].slice(0, RECORDED_MAX);
  putSetting(tx, { name: SETTING, value, now });
}
