import { describe, expect, test } from "bun:test";
import { MINUTE_MS, SECOND_MS } from "../../../../src/kernel/time";
import { answers, fails, openWatch } from "../../../support/engine-site";

describe("results while the database fails", () => {
  test("results wait while the database fails and are written once with their original times", async () => {
    await using watch = await openWatch();
    const { page, components } = await watch.app.page({}, ["API"]);
    const { id } = await watch.monitor({ component_ids: Object.values(components) });
    await watch.clock.advance(MINUTE_MS + SECOND_MS);
    const before = watch.checks(id).length;
    watch.disk = "full";
    watch.let("api.test", fails());
    await watch.clock.advance(10 * MINUTE_MS);
    expect(watch.checks(id)).toHaveLength(before);
    expect(watch.marks(page.id)).toEqual([]);
    expect(watch.told()).toEqual([]);
    expect(watch.engine.figures().waiting).toBeGreaterThan(9);
    const oldest = watch.engine.oldestUnwritten() ?? 0;

    watch.disk = "fine";
    await watch.clock.advance(MINUTE_MS);
    expect(watch.checks(id)[before]?.at).toBe(oldest);
    const failed = watch.checks(id).filter(({ outcome }) => outcome === "failed");
    const downAt = (failed[0]?.at ?? 0) - watch.begin;
    expect(failed.length).toBeGreaterThan(9);
    expect(watch.told()).toEqual(["monitor.down"]);
    expect(watch.marks(page.id)).toEqual([`major_outage ${downAt / 1000} →`]);
    // A check that has ended just now waits for its second.
    for (let s = 0; s < 3 && watch.engine.figures().waiting > 0; s++) {
      await watch.clock.advance(SECOND_MS);
    }
    expect(watch.engine.figures()).toMatchObject({ waiting: 0, dropped: 0 });
    expect(watch.engine.oldestUnwritten()).toBeUndefined();
  });

  test("a check on demand is unavailable while the database fails, and its result is written later", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ interval_seconds: 3_600 });
    await watch.clock.advance(SECOND_MS);
    watch.disk = "full";
    watch.let("api.test", answers(123));
    const refused = await watch.engine.checkNow(id).catch((error) => error.code);
    expect(refused).toBe("unavailable");
    watch.disk = "fine";
    await watch.clock.advance(20 * SECOND_MS);
    expect(watch.checks(id).at(-1)?.latencyMs).toBe(123);
  });

  test("at most 100,000 results wait, and the oldest are dropped and counted", async () => {
    await using watch = await openWatch();
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => watch.monitor({ name: `m${i}`, interval_seconds: 5 })),
    );
    await watch.clock.advance(SECOND_MS);
    watch.disk = "full";
    while (watch.engine.figures().dropped < 1_000) await watch.clock.advance(30 * SECOND_MS);
    expect(watch.engine.figures().waiting).toBeLessThanOrEqual(100_000);
  }, 60_000);
});

describe("results that cannot be written completely", () => {
  test("a result whose event cannot be written counts without it and does not delay others", async () => {
    await using watch = await openWatch();
    const { ctx, logged } = watch.app;
    const { components } = await watch.app.page({}, ["API"]);
    const bad = await watch.monitor({ name: "bad", component_ids: Object.values(components) });
    const good = await watch.monitor({ name: "good" });
    ctx.outbox.subscribe((_tx, groups) => {
      const isBad = groups
        .flat()
        .some(({ type, subjectId }) => type === "monitor.down" && subjectId === bad.id);
      if (isBad) throw new Error("a defect");
    });
    await watch.clock.advance(MINUTE_MS);
    watch.let("bad.test", fails());
    watch.let("good.test", fails());
    await watch.clock.advance(3 * MINUTE_MS);
    expect(watch.state(bad.id)).toBe("down");
    expect(watch.status(components["API"] ?? "")).toBe("major_outage");
    expect(watch.state(good.id)).toBe("down");
    expect(watch.told()).toEqual(["monitor.down"]);
    expect(watch.engine.figures()).toMatchObject({ dropped: 0 });
    expect(logged.some(({ msg }) => msg === "a result could not be written")).toBe(true);
  });
});

describe("a killed process", () => {
  test("a killed process loses at most the results of its last second", async () => {
    await using watch = await openWatch();
    const ids = await Promise.all(
      Array.from({ length: 40 }, (_, i) => watch.monitor({ name: `m${i}`, interval_seconds: 5 })),
    );
    const all = () => ids.reduce((total, { id }) => total + watch.checks(id).length, 0);
    for (let round = 0; round < 20; round++) {
      const earlier = all();
      await watch.clock.advance(7_321);
      const found = watch.engine.figures().checks.ok;
      await watch.clock.advance(SECOND_MS + 20);
      watch.kill();
      expect(found).toBeGreaterThan(40);
      expect(all() - earlier).toBeGreaterThanOrEqual(found);
      await watch.start();
    }
  });

  test("a process killed repeatedly records each event once", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ failure_threshold: 3, retry_interval_seconds: 5 });
    await watch.clock.advance(SECOND_MS);
    watch.let("api.test", fails());
    const outcomes = new Set<string>();
    // Killed and started again every few seconds, all through an outage and its end.
    for (let round = 0; round < 60; round++) {
      await watch.clock.advance(7_300);
      outcomes.add(watch.state(id));
      if (round === 40) watch.let("api.test", answers());
      watch.kill();
      await watch.start();
    }
    expect(outcomes).toEqual(new Set(["up", "down"]));
    expect(watch.told()).toEqual(["monitor.down", "monitor.up"]);
  });

  test("a killed process keeps consecutive failures of a monitor", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ failure_threshold: 3, interval_seconds: 30 });
    await watch.clock.advance(SECOND_MS);
    watch.let("api.test", fails());
    const failures = () => watch.checks(id).filter(({ outcome }) => outcome === "failed");
    while (failures().length < 2) await watch.clock.advance(SECOND_MS);
    const [first] = failures();
    watch.kill();
    await watch.start();
    while (watch.state(id) === "up") await watch.clock.advance(SECOND_MS);
    expect(failures()).toHaveLength(3);
    expect(watch.timeline(id).at(-1)).toBe(`down ${((first?.at ?? 0) - watch.begin) / 1000} →`);
  });
});

test("results of unchanged monitors are written in one transaction per second", async () => {
  await using watch = await openWatch();
  await Promise.all(
    Array.from({ length: 200 }, (_, i) => watch.monitor({ name: `m${i}`, interval_seconds: 5 })),
  );
  await watch.clock.advance(30 * SECOND_MS);
  const before = { asked: watch.asked(), transactions: watch.transactions() };
  await watch.clock.advance(60 * SECOND_MS);
  expect(watch.asked() - before.asked).toBeGreaterThan(2_300);
  expect(watch.transactions() - before.transactions).toBeLessThanOrEqual(62);
  expect(watch.transactions() - before.transactions).toBeGreaterThan(50);
});
