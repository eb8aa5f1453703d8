import { describe, expect, test } from "bun:test";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { answers, fails, openEngineSite } from "../../../support/engine-site";

describe("results while the database fails", () => {
  test("results wait while the database fails and are written once with their original times", async () => {
    await using site = await openEngineSite();
    const { page, components } = await site.app.page({}, ["API"]);
    const { id } = await site.monitor({ component_ids: Object.values(components) });
    await site.clock.advance(MINUTE_MS + SECOND_MS);
    const before = site.checks(id).length;
    site.disk = "full";
    site.let("api.test", fails());
    await site.clock.advance(10 * MINUTE_MS);
    expect(site.checks(id)).toHaveLength(before);
    expect(site.causes(page.id)).toEqual([]);
    expect(site.eventTypes()).toEqual([]);
    expect(site.engine.figures().waiting).toBeGreaterThan(9);
    const oldest = site.engine.oldestUnwritten() ?? 0;

    site.disk = "fine";
    await site.clock.advance(MINUTE_MS);
    expect(site.checks(id)[before]?.at).toBe(oldest);
    const failed = site.checks(id).filter(({ outcome }) => outcome === "failed");
    const downAt = (failed[0]?.at ?? 0) - site.begin;
    expect(failed.length).toBeGreaterThan(9);
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    expect(site.causes(page.id)).toEqual([`major_outage ${downAt / 1000} →`]);
    // A check that has ended just now waits for its second.
    for (let s = 0; s < 3 && site.engine.figures().waiting > 0; s++) {
      await site.clock.advance(SECOND_MS);
    }
    expect(site.engine.figures()).toMatchObject({ waiting: 0, dropped: 0 });
    expect(site.engine.oldestUnwritten()).toBeUndefined();
  });

  test("a check on demand is unavailable while the database fails, and its result is written later", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ interval_seconds: 3_600 });
    await site.clock.advance(SECOND_MS);
    site.disk = "full";
    site.let("api.test", answers(123));
    const rejected = await site.engine.checkNow(id).catch((error) => error.code);
    expect(rejected).toBe("unavailable");
    site.disk = "fine";
    await site.clock.advance(20 * SECOND_MS);
    expect(site.checks(id).at(-1)?.latencyMs).toBe(123);
  });

  test("at most 100,000 results wait, and the oldest are dropped and counted", async () => {
    await using site = await openEngineSite();
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => site.monitor({ name: `m${i}`, interval_seconds: 5 })),
    );
    await site.clock.advance(SECOND_MS);
    site.disk = "full";
    while (site.engine.figures().dropped < 1_000) await site.clock.advance(30 * SECOND_MS);
    expect(site.engine.figures().waiting).toBeLessThanOrEqual(100_000);
  }, 600_000);
});

describe("results that cannot be written completely", () => {
  test("a result whose event cannot be written counts without it and does not delay others", async () => {
    await using site = await openEngineSite();
    const { ctx, logged } = site.app;
    const { components } = await site.app.page({}, ["API"]);
    const bad = await site.monitor({ name: "bad", component_ids: Object.values(components) });
    const good = await site.monitor({ name: "good" });
    ctx.outbox.subscribe((_tx, groups) => {
      const isBad = groups
        .flat()
        .some(({ type, subjectId }) => type === "monitor.down" && subjectId === bad.id);
      if (isBad) throw new Error("a defect");
    });
    await site.clock.advance(MINUTE_MS);
    site.let("bad.test", fails());
    site.let("good.test", fails());
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(bad.id)).toBe("down");
    expect(site.status(components["API"] ?? "")).toBe("major_outage");
    expect(site.state(good.id)).toBe("down");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    expect(site.engine.figures()).toMatchObject({ dropped: 0 });
    expect(logged.some(({ msg }) => msg === "a result could not be written")).toBe(true);
  });
});

describe("a killed process", () => {
  test("a killed process loses at most the results of its last second", async () => {
    await using site = await openEngineSite();
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, i) => site.monitor({ name: `m${i}`, interval_seconds: 5 })),
    );
    const all = () => ids.reduce((total, { id }) => total + site.checks(id).length, 0);
    for (let round = 0; round < 20; round++) {
      const earlier = all();
      await site.clock.advance(7_321);
      const found = site.engine.figures().checks.ok;
      await site.clock.advance(SECOND_MS + 20);
      site.kill();
      expect(found).toBeGreaterThan(40);
      expect(all() - earlier).toBeGreaterThanOrEqual(found);
      await site.start();
    }
  });

  test("a process killed repeatedly records each event once", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ failure_threshold: 3, retry_interval_seconds: 5 });
    await site.clock.advance(SECOND_MS);
    site.let("api.test", fails());
    const outcomes = new Set<string>();
    // Killed and started again every few seconds, all through an outage and its end.
    for (let round = 0; round < 60; round++) {
      await site.clock.advance(7_300);
      outcomes.add(site.state(id));
      if (round === 40) site.let("api.test", answers());
      site.kill();
      await site.start();
    }
    expect(outcomes).toEqual(new Set(["up", "down"]));
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);
  });

  test("a killed process keeps consecutive failures of a monitor", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ failure_threshold: 3, interval_seconds: 30 });
    await site.clock.advance(SECOND_MS);
    site.let("api.test", fails());
    const failures = () => site.checks(id).filter(({ outcome }) => outcome === "failed");
    while (failures().length < 2) await site.clock.advance(SECOND_MS);
    const [first] = failures();
    site.kill();
    await site.start();
    while (site.state(id) === "up") await site.clock.advance(SECOND_MS);
    expect(failures()).toHaveLength(3);
    expect(site.timeline(id).at(-1)).toBe(`down ${((first?.at ?? 0) - site.begin) / 1000} →`);
  });
});

test("results of unchanged monitors are written in one transaction per second", async () => {
  await using site = await openEngineSite();
  await Promise.all(
    Array.from({ length: 200 }, (_, i) => site.monitor({ name: `m${i}`, interval_seconds: 5 })),
  );
  await site.clock.advance(30 * SECOND_MS);
  const before = { checks: site.checkCount(), transactions: site.transactions() };
  await site.clock.advance(60 * SECOND_MS);
  expect(site.checkCount() - before.checks).toBeGreaterThan(2_300);
  expect(site.transactions() - before.transactions).toBeLessThanOrEqual(62);
  expect(site.transactions() - before.transactions).toBeGreaterThan(50);
});

test("changes of many monitors at once are written in order, at most 50 in one transaction", async () => {
  await using site = await openEngineSite();
  const results = Promise.withResolvers<void>();
  const names = Array.from({ length: 120 }, (_, i) => `m${i}`);
  const ids = await Promise.all(
    names.map(async (name) => {
      const limits = { interval_seconds: 10, timeout_ms: 60_000, failure_threshold: 1 };
      return (await site.monitor({ name, ...limits })).id;
    }),
  );
  await site.clock.advance(12 * SECOND_MS);
  const failed: string[] = [];
  for (const name of names) {
    site.let(`${name}.test`, async (context) => {
      await results.promise;
      failed.push(name);
      return fails()(context);
    });
  }
  await site.clock.advance(12 * SECOND_MS);
  const written: string[][] = [];
  site.app.ctx.outbox.subscribe((_, groups) => {
    written.push(groups.flat().map(({ subjectId }) => subjectId));
  });
  results.resolve();
  await site.clock.advance(SECOND_MS);
  const sizes = written.map(({ length }) => length);
  expect(Math.max(...sizes)).toBe(50);
  expect(written.flat()).toEqual(
    failed.slice(0, 120).map((name) => ids[names.indexOf(name)] ?? ""),
  );
});
