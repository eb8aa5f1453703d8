import { describe, expect, test } from "bun:test";
import {
  backupName,
  dueBackup,
  isBackupName,
  lastPlanned,
  newestBackup,
  obsoleteBackups,
  readScheduledBackups,
  recordScheduledBackup,
  type ScheduledBackup,
} from "../../../src/features/backups/schedule";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";

const at = (time: string) => Date.parse(`${time}Z`);
const THREE = 180;

function backup(dueAt: number, more: Partial<ScheduledBackup> = {}): ScheduledBackup {
  const facts = { target: "a", place: "/backups", name: "x" };
  return { dueAt, at: dueAt, ...facts, bytes: 1, ...more };
}

describe("names of scheduled backups", () => {
  test("a name has the time in UTC, and says if the backup is encrypted", () => {
    const time = at("2026-11-29T03:00:02.999");
    expect(backupName(time, false)).toBe("allclear-backup-2026-11-29T03-00-02Z.db");
    expect(backupName(time, true)).toBe("allclear-backup-2026-11-29T03-00-02Z.db.age");
    expect(isBackupName(backupName(time, false))).toBe(true);
    expect(isBackupName(backupName(time, true))).toBe(true);
  });

  test.each([
    "allclear-2026-11-29T03-00-02Z.db",
    "allclear-backup-2026-11-29T03-00-02Z.db.unfinished",
    "allclear-backup-2026-11-29T03-00-02Z.db.age.part",
    "my-allclear-backup-2026-11-29T03-00-02Z.db",
    "folder/allclear-backup-2026-11-29T03-00-02Z.db",
    "allclear-backup-2026-11-29.db",
  ])("%s is not one", (name) => {
    expect(isBackupName(name)).toBe(false);
    expect(obsoleteBackups([name], "x", 1)).toEqual([]);
  });

  test("the newest is found by its name, and none that a clock dated ahead if there are others", () => {
    const now = at("2026-11-29T12:00");
    const [earlier, later, ahead] = [
      backupName(now - DAY_MS, false),
      backupName(now + HOUR_MS, true),
      backupName(now + 2 * DAY_MS, false),
    ];
    expect(newestBackup([earlier, "zzz.db"], now)).toBe(earlier);
    expect(newestBackup([ahead, earlier, later], now)).toBe(later);
    expect(newestBackup([ahead], now)).toBe(ahead);
    expect(newestBackup(["zzz.db"], now)).toBeUndefined();
  });

  test("all but the newest are obsolete, and the one that was just written never is", () => {
    const names = [1, 2, 3, 4].map((day) => backupName(day * DAY_MS, day % 2 === 0));
    const [first = "", second = "", third = "", fourth = ""] = names;
    expect(obsoleteBackups([...names, "notes.txt"], fourth, 2)).toEqual([second, first]);
    expect(obsoleteBackups(names, fourth, 1)).toEqual([third, second, first]);
    // The clock was a day ahead before.
    expect(obsoleteBackups(names, third, 2)).toEqual([second, first]);
    expect(obsoleteBackups(names, fourth, 4)).toEqual([]);
    expect(obsoleteBackups(names, fourth, 0)).toEqual([]);
  });
});

describe("the time of a backup", () => {
  test("the last planned moment is today's or yesterday's", () => {
    expect(lastPlanned(at("2026-11-29T02:59:59"), THREE)).toBe(at("2026-11-28T03:00"));
    expect(lastPlanned(at("2026-11-29T03:00"), THREE)).toBe(at("2026-11-29T03:00"));
    expect(lastPlanned(at("2026-03-01T00:00"), 0)).toBe(at("2026-03-01T00:00"));
    expect(lastPlanned(at("2026-03-01T00:00"), 1)).toBe(at("2026-02-28T00:01"));
  });

  const dueAtNoon = (last: ScheduledBackup | undefined) =>
    dueBackup(last, { now: at("2026-11-29T12:00"), minutes: THREE, target: "a" });
  const today = at("2026-11-29T03:00");

  test("a backup is due if it was never written, was missed, or is not complete", () => {
    expect(dueAtNoon(undefined)).toBe(today);
    expect(dueAtNoon(backup(today - DAY_MS))).toBe(today);
    expect(dueAtNoon(backup(today - 40 * DAY_MS))).toBe(today);
    const { bytes: _, ...unfinished } = backup(today);
    expect(dueAtNoon(unfinished)).toBe(today);
    expect(dueAtNoon({ ...unfinished, error: "Refused." })).toBe(today);
  });

  test("a complete backup is not due again", () => {
    expect(dueAtNoon(backup(today))).toBeUndefined();
    expect(dueAtNoon(backup(today, { warning: "Old backups were not removed." }))).toBeUndefined();
  });

  test("another place or other recipients are due at once", () => {
    expect(dueAtNoon(backup(today, { target: "b" }))).toBe(today);
  });

  test("a clock that went back by minutes repeats nothing", () => {
    const last = backup(today);
    const now = today - 10 * MINUTE_MS;
    expect(dueBackup(last, { now, minutes: THREE, target: "a" })).toBeUndefined();
  });

  test("a backup of a clock that was a year ahead does not keep the next ones from being written", () => {
    expect(dueAtNoon(backup(today + 365 * DAY_MS))).toBe(today);
    expect(dueAtNoon(backup(today + 9 * HOUR_MS + 2 * HOUR_MS))).toBe(today);
  });
});

test("the record has the last ten, each with its last try", async () => {
  await using app = await createTestApp();
  const { db } = app.ctx;
  const record = (one: ScheduledBackup) => db.write((tx) => recordScheduledBackup(tx, one, 0));
  expect(readScheduledBackups(db)).toEqual([]);
  const { bytes: _, ...begun } = backup(DAY_MS);
  await record(begun);
  await record({ ...begun, error: "Refused." });
  expect(readScheduledBackups(db)).toEqual([{ ...begun, error: "Refused." }]);
  await record(backup(DAY_MS));
  expect(readScheduledBackups(db)).toEqual([backup(DAY_MS)]);
  // Another place on the same day.
  await record(backup(DAY_MS, { target: "b" }));
  expect(readScheduledBackups(db)).toHaveLength(2);
  for (let day = 2; day <= 20; day++) await record(backup(day * DAY_MS));
  const days = readScheduledBackups(db).map(({ dueAt }) => dueAt / DAY_MS);
  expect(days).toEqual([20, 19, 18, 17, 16, 15, 14, 13, 12, 11]);
});
