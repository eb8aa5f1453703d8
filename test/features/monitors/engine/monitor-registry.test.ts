import { expect, test } from "bun:test";
import { MonitorRegistry } from "../../../../src/features/monitors/engine/registry";
import { type MonitorRow, updateMonitorRow } from "../../../../src/features/monitors/store";
import { openMonitorStore } from "../../../support/monitor-store";

test("changed monitors are read in parts, each of them once", async () => {
  using store = openMonitorStore();
  const { db } = store.ctx;
  const monitors: MonitorRow[] = [];
  for (let count = 0; count < 25; count++) monitors.push(await store.monitor());
  const registry = new MonitorRegistry();
  const read: number[] = [];
  const sizes: number[] = [];
  for (let hasMore = true; hasMore;) {
    const change = registry.refresh(db, 10);
    sizes.push(change.changed.length);
    read.push(...change.changed.map(({ num }) => num));
    hasMore = change.hasMore;
  }
  expect(sizes).toEqual([10, 10, 5]);
  expect(read.toSorted((a, b) => a - b)).toEqual(monitors.map(({ num }) => num));
  expect(registry.size).toBe(25);
  expect(registry.refresh(db, 10)).toMatchObject({ changed: [], removed: [], hasMore: false });
  await db.write((tx) => {
    for (const monitor of monitors.slice(0, 12)) updateMonitorRow(tx, { ...monitor, version: 2 });
    for (const monitor of monitors.slice(20)) updateMonitorRow(tx, { ...monitor, deletedAt: 1 });
  });
  const first = registry.refresh(db, 10);
  expect([first.changed.length, first.removed.length, first.hasMore]).toEqual([10, 5, true]);
  expect(registry.refresh(db).changed).toHaveLength(2);
});
