import { describe, expect, test } from "bun:test";
import { deleteMonitor, pauseMonitor } from "../../../../src/features/monitors/monitors";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import {
  answers,
  type EngineSite,
  fails,
  hangs,
  openEngineSite,
} from "../../../support/engine-site";

/** A router, and a shop that depends on it, both up, with the component of the shop. */
async function openSite(input: { router?: object; shop?: object } = {}) {
  const site = await openEngineSite();
  const { page, components } = await site.app.page({}, ["Shop"]);
  const component = components["Shop"] ?? "";
  const router = await site.monitor({ name: "router", ...input.router });
  const shop = await site.monitor({
    name: "shop",
    depends_on: [router.id],
    component_ids: [component],
    open_incident: "automatic",
    ...input.shop,
  });
  await site.clock.advance(MINUTE_MS);
  expect([site.state(router.id), site.state(shop.id)]).toEqual(["up", "up"]);
  return { site, router: router.id, shop: shop.id, component, pageId: page.id };
}

const viaOf = ({ app }: EngineSite, id: string) =>
  getMonitorRecord(app.ctx.db, id).state.unreachableVia;

/** Types of the events about incidents and monitors, with the ids of their subjects. */
const messages = ({ app }: EngineSite) =>
  app
    .events()
    .filter(({ type }) => /^(monitor|incident)\./.test(type))
    .map(({ type, subjectId }) => `${type} ${subjectId}`);

describe("monitors that depend on others", () => {
  test("a monitor that fails while its parent is down is unreachable: it marks its component and sends nothing", async () => {
    const { site, router, shop, component } = await openSite();
    await using _ = site;
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["down", "unreachable"]);
    expect(viaOf(site, shop)).toBe(router);
    expect(site.status(component)).toBe("major_outage");
    expect(messages(site)).toEqual([`monitor.down ${router}`]);
  });

  test("the time counts as down for the component and not for the monitor", async () => {
    const { site, shop, pageId } = await openSite();
    await using _ = site;
    const from = site.clock.now();
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(30 * MINUTE_MS);
    site.let("router.test", answers());
    site.let("shop.test", answers());
    await site.clock.advance(30 * MINUTE_MS);
    const [first] = site.checks(shop).filter(({ outcome }) => outcome === "failed");
    const failedAt = ((first?.at ?? 0) - site.begin) / 1_000;
    const key = await site.app.keyWith("read:analytics");
    const range = `from=${new Date(from).toISOString()}`;
    const { body } = await site.app.call(`/api/v1/analytics/uptime?monitor=${shop}&${range}`, {
      key,
    });
    expect(body.total).toMatchObject({ uptime: 1, down_ms: 0 });
    expect(body.total.no_data_ms).toBeGreaterThan(29 * MINUTE_MS);
    const [cause = ""] = site.causes(pageId);
    expect(cause).toStartWith(`major_outage ${failedAt} → `);
    expect(Number(cause.split("→ ")[1]) - failedAt).toBeGreaterThan(29 * 60);
  });

  test("when the child fails first, its parent is checked at once and the child is never down", async () => {
    const { site, router, shop } = await openSite({
      router: { interval_seconds: 3_600 },
      shop: { failure_threshold: 1 },
    });
    await using _ = site;
    const before = site.checkCount("router.test");
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(MINUTE_MS + 2 * SECOND_MS);
    expect(site.checkCount("router.test")).toBeGreaterThan(before);
    expect(site.state(shop)).toBe("unreachable");
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(router)).toBe("down");
    expect(messages(site)).toEqual([`monitor.down ${router}`]);
  });

  test("a monitor whose parent answers is down as usual", async () => {
    const { site, router, shop } = await openSite();
    await using _ = site;
    site.let("shop.test", fails());
    await site.clock.advance(3 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["up", "down"]);
    expect(messages(site)[0]).toStartWith("incident.created");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    // A monitor that is down already causes no further checks of its parent.
    const before = site.checkCount("router.test");
    await site.clock.advance(10 * MINUTE_MS);
    expect(site.checkCount("router.test") - before).toBeLessThanOrEqual(11);
  });

  test("when the parent answers again, a monitor that answers too is up within seconds", async () => {
    const { site, router, shop, component } = await openSite({
      router: { interval_seconds: 60 },
      shop: { interval_seconds: 3_600 },
    });
    await using _ = site;
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(2 * HOUR_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["down", "unreachable"]);
    site.let("router.test", answers());
    site.let("shop.test", answers());
    await site.clock.advance(65 * SECOND_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["up", "up"]);
    expect(site.status(component)).toBe("operational");
    expect(messages(site)).toEqual([`monitor.down ${router}`, `monitor.up ${router}`]);
  });

  test("a failure that stays is counted from zero, and its outage starts with the first failed check", async () => {
    const { site, router, shop, pageId } = await openSite();
    await using _ = site;
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(20 * MINUTE_MS);
    const failedAt = site.checks(shop).find(({ outcome }) => outcome === "failed")?.at ?? 0;
    site.let("router.test", answers());
    await site.clock.advance(10 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["up", "down"]);
    const down = site.app
      .events()
      .find(({ type, subjectId }) => type === "monitor.down" && subjectId === shop);
    expect(down?.data).toMatchObject({
      outage: { started_at: new Date(failedAt).toISOString() },
      unreachable_via: null,
    });
    const seconds = (failedAt - site.begin) / 1_000;
    expect(site.timeline(shop).at(-1)).toBe(`down ${seconds} →`);
    expect(site.causes(pageId)).toEqual([`major_outage ${seconds} →`]);
    // Three failures are needed after the router was up.
    const upAt = site.checks(router).findLast(({ outcome }) => outcome === "failed")?.at ?? 0;
    const later = site.checks(shop).filter(({ at }) => at > upAt);
    expect(later.length).toBeGreaterThanOrEqual(3);
  });

  test("50 monitors behind a dead router send one monitor.down, within an interval of the router's", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ name: "router" });
    const names = Array.from({ length: 50 }, (_, index) => `behind-${index}`);
    const ids: string[] = [];
    for (const name of names) {
      const depends_on = [router.id];
      const monitor = await site.monitor({ name, depends_on, failure_threshold: 1 });
      ids.push(monitor.id);
    }
    await site.clock.advance(2 * MINUTE_MS);
    for (const name of [...names, "router"]) site.let(`${name}.test`, fails());
    const before = site.checkCount("router.test");
    await site.clock.advance(MINUTE_MS);
    expect(site.state(router.id)).toBe("down");
    expect(messages(site)).toEqual([`monitor.down ${router.id}`]);
    expect(site.checkCount("router.test") - before).toBeLessThanOrEqual(6);
    await site.clock.advance(10 * MINUTE_MS);
    expect(new Set(ids.map((id) => site.state(id)))).toEqual(new Set(["unreachable"]));
    for (const name of [...names, "router"]) site.let(`${name}.test`, answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(new Set(ids.map((id) => site.state(id)))).toEqual(new Set(["up"]));
    expect(messages(site)).toEqual([`monitor.down ${router.id}`, `monitor.up ${router.id}`]);
  });

  test("many monitors that fail together cause one check of their parent", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ name: "router", interval_seconds: 3_600 });
    const ids: string[] = [];
    for (let index = 0; index < 20; index++) {
      const input = { name: `behind-${index}`, interval_seconds: 3_600, depends_on: [router.id] };
      ids.push((await site.monitor(input)).id);
    }
    await site.clock.advance(2 * MINUTE_MS);
    const before = site.checkCount("router.test");
    for (let index = 0; index < 20; index++) site.let(`behind-${index}.test`, fails());
    const { promise, resolve } = Promise.withResolvers<void>();
    site.let("router.test", async () => {
      await promise;
      return { outcome: "failed", latencyMs: null, message: "No route." };
    });
    const checks = ids.map((id) => site.engine.checkNow(id));
    await site.clock.advance(SECOND_MS);
    resolve();
    await site.clock.advance(2 * SECOND_MS);
    await Promise.all(checks);
    expect(site.checkCount("router.test") - before).toBe(1);
    expect(new Set(ids.map((id) => site.state(id)))).toEqual(new Set(["unreachable"]));
  });

  test("a check of the parent that began before is repeated, since it may have succeeded earlier", async () => {
    const { site, router, shop } = await openSite({ shop: { failure_threshold: 1 } });
    await using _ = site;
    const { promise, resolve } = Promise.withResolvers<void>();
    let isFirst = true;
    site.let("router.test", async () => {
      if (!isFirst) return { outcome: "failed", latencyMs: null, message: "No route." };
      isFirst = false;
      await promise;
      return { outcome: "ok", latencyMs: 1, message: null };
    });
    const slow = site.engine.checkNow(router);
    await site.clock.advance(SECOND_MS);
    site.let("shop.test", fails());
    const check = site.engine.checkNow(shop);
    await site.clock.advance(SECOND_MS);
    resolve();
    await site.clock.advance(2 * SECOND_MS);
    await Promise.all([slow, check]);
    expect(site.state(shop)).toBe("unreachable");
    expect(messages(site)).toEqual([]);
  });

  test("through several levels, only the first failing monitor is down", async () => {
    await using site = await openEngineSite();
    const names = ["power", "router", "switch", "shop"];
    const ids: string[] = [];
    for (const name of names) {
      const depends_on = ids.slice(-1);
      ids.push((await site.monitor({ name, depends_on, failure_threshold: 1 })).id);
    }
    await site.clock.advance(2 * MINUTE_MS);
    for (const name of names) site.let(`${name}.test`, fails());
    await site.clock.advance(3 * MINUTE_MS);
    expect(ids.map((id) => site.state(id))).toEqual([
      "down",
      "unreachable",
      "unreachable",
      "unreachable",
    ]);
    expect(messages(site)).toEqual([`monitor.down ${ids[0]}`]);
  });

  test("of several parents, the first that is failing is named, and all must answer", async () => {
    await using site = await openEngineSite();
    const power = await site.monitor({ name: "power" });
    const router = await site.monitor({ name: "router" });
    const shop = await site.monitor({ name: "shop", depends_on: [power.id, router.id] });
    await site.clock.advance(2 * MINUTE_MS);
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(viaOf(site, shop.id)).toBe(router.id);
    site.let("power.test", fails());
    await site.clock.advance(3 * MINUTE_MS);
    expect(viaOf(site, shop.id)).toBe(power.id);
    site.let("power.test", answers());
    await site.clock.advance(5 * MINUTE_MS);
    expect([site.state(shop.id), viaOf(site, shop.id)]).toEqual(["unreachable", router.id]);
  });

  test("a monitor that is down stays in its incident while it is unreachable, which ends with its recovery", async () => {
    const { site, router, shop } = await openSite();
    await using _ = site;
    site.let("shop.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(shop)).toBe("down");
    site.let("router.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(shop)).toBe("unreachable");
    site.let("router.test", answers());
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(shop)).toBe("down");
    site.let("shop.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(shop)).toBe("up");
    const own = messages(site).filter((line) => !line.endsWith(router));
    expect(own.map((line) => line.split(" ")[0])).toEqual([
      "incident.created",
      "monitor.down",
      "incident.resolved",
      "monitor.up",
    ]);
  });

  test("a paused parent is none", async () => {
    const { site, router, shop } = await openSite({ shop: { failure_threshold: 1 } });
    await using _ = site;
    const { ctx } = site.app;
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(shop)).toBe("unreachable");
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, router, CLI_ACTOR));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(shop)).toBe("down");
  });

  test("a deleted parent is none, and is named no more", async () => {
    const { site, router, shop } = await openSite();
    await using _ = site;
    const { ctx } = site.app;
    site.let("router.test", fails());
    site.let("shop.test", hangs());
    await site.clock.advance(5 * MINUTE_MS);
    expect(viaOf(site, shop)).toBe(router);
    await ctx.db.write((tx) => deleteMonitor(ctx, tx, router, CLI_ACTOR));
    expect(viaOf(site, shop)).toBeNull();
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(shop)).toBe("down");
  });

  test("an unreachable monitor is still unreachable after a restart, and sends nothing", async () => {
    const { site, router, shop } = await openSite();
    await using _ = site;
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    site.kill();
    await site.clock.advance(10 * SECOND_MS);
    await site.start();
    await site.clock.advance(5 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["down", "unreachable"]);
    expect(messages(site)).toEqual([`monitor.down ${router}`]);
  });

  test("a job that does not call while its parent is down is unreachable", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ name: "router" });
    const job = await site.monitor({
      type: "push",
      config: { grace_seconds: 0 },
      interval_seconds: 600,
      failure_threshold: 1,
      depends_on: [router.id],
    });
    await site.engine.heartbeat(job.id, { outcome: "ok", latencyMs: null, message: null });
    site.let("router.test", fails());
    await site.clock.advance(11 * MINUTE_MS);
    expect(site.state(job.id)).toBe("unreachable");
    site.let("router.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    await site.engine.heartbeat(job.id, { outcome: "ok", latencyMs: null, message: null });
    expect(site.state(job.id)).toBe("up");
    expect(messages(site)).toEqual([`monitor.down ${router.id}`, `monitor.up ${router.id}`]);
  });

  test("a failure that a job reports itself is its own, whatever its parent does", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ name: "router" });
    const config = { grace_seconds: 60 };
    const job = await site.monitor({ type: "push", config, depends_on: [router.id] });
    site.let("router.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    const failure = { outcome: "failed", latencyMs: null, message: "disk full" } as const;
    await site.engine.heartbeat(job.id, failure);
    expect(site.state(job.id)).toBe("down");
    expect(messages(site)).toContain(`monitor.down ${job.id}`);
  });

  test("a job that still does not call once its parent is up again is down", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ name: "router" });
    const job = await site.monitor({
      type: "push",
      config: { grace_seconds: 60 },
      interval_seconds: 600,
      depends_on: [router.id],
    });
    await site.engine.heartbeat(job.id, { outcome: "ok", latencyMs: null, message: null });
    site.let("router.test", fails());
    await site.clock.advance(12 * MINUTE_MS);
    expect(site.state(job.id)).toBe("unreachable");
    site.let("router.test", answers());
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(job.id)).toBe("unreachable");
    await site.clock.advance(10 * MINUTE_MS);
    expect(site.state(job.id)).toBe("down");
  });

  test("the monitors behind a paused parent are checked at once", async () => {
    const { site, router, shop } = await openSite({ shop: { interval_seconds: 3_600 } });
    await using _ = site;
    const { ctx } = site.app;
    site.let("router.test", fails());
    site.let("shop.test", fails());
    await site.clock.advance(HOUR_MS + 5 * MINUTE_MS);
    expect(site.state(shop)).toBe("unreachable");
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, router, CLI_ACTOR));
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(shop)).toBe("down");
  });
});
