import { expect, test } from "bun:test";
import { advanceMaintenance } from "../../../src/features/maintenance/clock";
import { createTestApp } from "../../support/app";
import { PLAN } from "../../support/maintenance-site";

const HOUR_MS = 60 * 60 * 1_000;

test("the maintenance clock limits the changes of one transaction and completes all due ones in several", async () => {
  await using app = await createTestApp();
  const names = Array.from({ length: 150 }, (_, i) => `Component ${i}`);
  const { components } = await app.page({ slug: "acme" }, names);
  const key = await app.keyWith("write:maintenance", "read:status");
  for (let i = 0; i < 4; i++) {
    const json = { ...PLAN, name: `Upgrade ${i}`, components: Object.values(components) };
    const answer = await app.call("/api/v1/maintenance", { key, method: "POST", json });
    expect(answer.status).toBe(201);
  }
  // Past the planned ends, so that both start and end of each maintenance are due.
  await app.clock.advance(4 * HOUR_MS);
  const rounds: number[] = [];
  const completed = () =>
    app.events().filter(({ type }) => type === "maintenance.completed").length;
  for (let hasMore = true; hasMore;) {
    const before = completed();
    hasMore = await app.ctx.db.write((tx) => advanceMaintenance(app.ctx, tx, app.clock.now()));
    rounds.push(completed() - before);
    // A maintenance that starts in one round also ends in it.
    expect(app.events().filter(({ type }) => type === "maintenance.started")).toHaveLength(
      completed(),
    );
    expect(rounds.length).toBeLessThan(10);
  }
  expect(completed()).toBe(4);
  expect(Math.max(...rounds)).toBeLessThan(4);
});
