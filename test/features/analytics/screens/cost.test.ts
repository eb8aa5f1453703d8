import { expect, test } from "bun:test";
import { readResponseTimes } from "../../../../src/features/analytics/screens/analytics";
import { readSelection } from "../../../../src/features/analytics/screens/frame";
import { readUptime } from "../../../../src/features/analytics/screens/uptime";
import type { Reader, Tx } from "../../../../src/db/statements";
import { createTestApp } from "../../../support/app";
import { counted } from "../../../support/counted-transaction";
import { createMonitorDashboard } from "../../../support/monitor-dashboard";

/** Counts the statements that the uptime of all of this many pages reads. */
async function statementsWith(pages: number): Promise<number> {
  await using app = await createTestApp();
  for (let page = 0; page < pages; page++) {
    // oxlint-disable-next-line no-await-in-loop
    await app.page({ slug: `page-${page}` });
  }
  const { db } = app.ctx;
  const counting = counted(db as unknown as Tx);
  await readUptime(counting.tx, readSelection(db, { page: "" }), "", app.clock.now());
  return counting.statements();
}

/** Counts the turns of the event loop that other work gets while figures are read. */
async function turnsDuring(read: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const next = () => {
    if (isOver) return;
    turns += 1;
    setImmediate(next);
  };
  setImmediate(next);
  await read();
  isOver = true;
  return turns;
}

test("the uptime of many pages reads as many statements as that of few", async () => {
  expect(await statementsWith(30)).toBe(await statementsWith(3));
});

test("other requests are served while the figures of many components and monitors are read", async () => {
  await using dashboard = await createMonitorDashboard("viewer");
  const { app } = dashboard;
  const names = Array.from({ length: 300 }, (_, index) => `Part ${index}`);
  const { components } = await app.page({ slug: "large", name: "Large" }, names);
  const ids = Object.values(components);
  for (const id of ids.slice(0, 40)) await dashboard.make({ component_ids: [id] });
  const reader: Reader = app.ctx.db;
  const selection = readSelection(reader, { page: "large" });
  const now = app.clock.now() + 1;
  expect(await turnsDuring(() => readUptime(reader, selection, "", now))).toBeGreaterThan(3);
  expect(await turnsDuring(() => readResponseTimes(reader, selection, now))).toBeGreaterThan(30);
});
