import { describe, expect, test } from "bun:test";
import { advanceMaintenance } from "../../../../src/features/maintenance/clock";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../../src/base/time";
import {
  answers,
  type EngineSite,
  fails,
  hangs,
  openEngineSite,
} from "../../../support/engine-site";
import { planMaintenance, updateMonitor } from "../../../support/examined";

/** A router, another one, and a shop that depends on the first, all up. */
async function openSite(input: object = {}) {
  const site = await openEngineSite();
  const { components } = await site.app.page({}, ["Router", "Shop"]);
  const router = await site.monitor({
    name: "router",
    component_ids: [components["Router"] ?? ""],
    timeout_ms: 60_000,
  });
  const other = await site.monitor({ name: "other" });
  const shop = await site.monitor({
    name: "shop",
    depends_on: [router.id],
    component_ids: [components["Shop"] ?? ""],
    ...input,
  });
  await site.clock.advance(MINUTE_MS);
  expect([router.id, other.id, shop.id].map((id) => site.state(id))).toEqual(["up", "up", "up"]);
  return { site, components, router: router.id, other: other.id, shop: shop.id };
}

type Site = Awaited<ReturnType<typeof openSite>>;

function turn(site: EngineSite, target: ReturnType<typeof fails>, ...names: string[]): void {
  for (const name of names) site.let(`${name}.test`, target);
}

/** Makes router and shop fail, until the shop is unreachable. */
async function makeUnreachable({ site, router, shop }: Site): Promise<void> {
  turn(site, fails(), "router", "shop");
  await site.clock.advance(5 * MINUTE_MS);
  expect([site.state(router), site.state(shop)]).toEqual(["down", "unreachable"]);
}

async function restart({ site }: Site, afterMs: number): Promise<void> {
  site.kill();
  await site.clock.advance(afterMs);
  await site.start();
}

const viaOf = ({ site, shop }: Site) =>
  getMonitorRecord(site.app.ctx.db, shop).state.unreachableVia;

/** Time of the first failed check of a monitor, in unix ms. */
const failedSince = ({ site }: Site, id: string) =>
  site.checks(id).find(({ outcome }) => outcome === "failed")?.at ?? 0;

const messages = ({ site }: Pick<Site, "site">) =>
  site.app
    .events()
    .filter(({ type }) => type.startsWith("monitor."))
    .map(({ type, subjectId }) => `${type} ${subjectId}`);

/** Start of the outage of a monitor by its event. */
const outageOf = ({ site }: Site, id: string) =>
  site.app.events().find(({ type, subjectId }) => type === "monitor.down" && subjectId === id)
    ?.data["outage"];

const setParents = ({ site, shop }: Site, depends_on: string[]) => {
  const { ctx } = site.app;
  return ctx.db.write((tx) => updateMonitor(ctx, tx, shop, { depends_on }, CLI_ACTOR));
};

test("of the monitors behind a parent that recovers, only one that was down itself sends monitor.up", async () => {
  await using site = await openEngineSite();
  const router = await site.monitor({ name: "router" });
  const names = Array.from({ length: 10 }, (_, index) => `behind-${index}`);
  const ids: string[] = [];
  for (const name of names) ids.push((await site.monitor({ name, depends_on: [router.id] })).id);
  await site.clock.advance(MINUTE_MS);
  turn(site, fails(), "behind-3");
  await site.clock.advance(5 * MINUTE_MS);
  turn(site, fails(), "router", ...names);
  await site.clock.advance(10 * MINUTE_MS);
  expect(new Set(ids.map((id) => site.state(id)))).toEqual(new Set(["unreachable"]));
  turn(site, answers(), "router", ...names);
  await site.clock.advance(5 * MINUTE_MS);
  expect(new Set(ids.map((id) => site.state(id)))).toEqual(new Set(["up"]));
  const one = ids[3] ?? "";
  // Either may recover first.
  expect(messages({ site }).toSorted()).toEqual(
    [one, router.id].flatMap((id) => [`monitor.down ${id}`, `monitor.up ${id}`]).toSorted(),
  );
});

describe("a change of the parents of an unreachable monitor", () => {
  for (const [change, parents] of [
    ["no parent", () => []],
    ["a parent that answers", ({ other }: Site) => [other]],
  ] as const) {
    test(`the failures of an unreachable monitor that gets ${change} are counted, and its outage starts with the first of all`, async () => {
      const all = await openSite();
      const { site, shop, router } = all;
      await using _ = site;
      await makeUnreachable(all);
      await setParents(all, parents(all));
      await site.clock.advance(SECOND_MS);
      expect(site.state(shop)).toBe("unreachable");
      await site.clock.advance(2 * MINUTE_MS);
      expect(site.state(shop)).toBe("down");
      expect(viaOf(all)).toBeNull();
      expect(outageOf(all, shop)).toMatchObject({ started_at: toIso(failedSince(all, shop)) });
      expect(messages(all)).toEqual([`monitor.down ${router}`, `monitor.down ${shop}`]);
    });
  }

  test("an unreachable monitor that gets another failing parent stays unreachable through that one", async () => {
    const all = await openSite();
    const { site, shop, other, router } = all;
    await using _ = site;
    turn(site, fails(), "other");
    await makeUnreachable(all);
    await setParents(all, [other]);
    await site.clock.advance(SECOND_MS);
    expect([site.state(shop), viaOf(all)]).toEqual(["unreachable", other]);
    turn(site, answers(), "router");
    await site.clock.advance(5 * MINUTE_MS);
    expect([site.state(shop), viaOf(all)]).toEqual(["unreachable", other]);
    expect(messages(all).toSorted()).toEqual(
      [`monitor.down ${other}`, `monitor.down ${router}`, `monitor.up ${router}`].toSorted(),
    );
  });
});

describe("a restart", () => {
  test("after a restart, a monitor stays unreachable through a parent that has failed and is not down yet", async () => {
    const all = await openSite();
    const { site, router, shop } = all;
    await using _ = site;
    turn(site, fails(), "router", "shop");
    await Promise.all([site.engine.checkNow(shop), site.clock.advance(1)]);
    expect([site.state(router), site.state(shop)]).toEqual(["up", "unreachable"]);
    await restart(all, 10 * SECOND_MS);
    await site.clock.advance(5 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["down", "unreachable"]);
    expect(messages(all)).toEqual([`monitor.down ${router}`]);
  });

  test("after a restart, failures that are counted anew since the recovery of the parent are counted on", async () => {
    const all = await openSite({ interval_seconds: 300, retry_interval_seconds: 60 });
    const { site, router, shop } = all;
    await using _ = site;
    turn(site, fails(), "router", "shop");
    await site.clock.advance(10 * MINUTE_MS);
    turn(site, answers(), "router");
    while (site.state(router) !== "up") await site.clock.advance(SECOND_MS);
    await site.clock.advance(SECOND_MS);
    expect(getMonitorRecord(site.app.ctx.db, shop).state).toMatchObject({
      state: "unreachable",
      failures: 1,
    });
    await restart(all, 10 * SECOND_MS);
    await site.clock.advance(2 * MINUTE_MS + 5 * SECOND_MS);
    expect(site.state(shop)).toBe("down");
    expect(outageOf(all, shop)).toMatchObject({ started_at: toIso(failedSince(all, shop)) });
    expect(messages(all)).toEqual([
      `monitor.down ${router}`,
      `monitor.up ${router}`,
      `monitor.down ${shop}`,
    ]);
  });

  test("after a restart, a failure that waited for the parent is forgotten, and the next one counts", async () => {
    const all = await openSite({ failure_threshold: 1 });
    const { site, router, shop } = all;
    await using _ = site;
    turn(site, hangs(), "router");
    turn(site, fails(), "shop");
    void site.engine.checkNow(shop).catch(() => {});
    await site.clock.advance(10 * SECOND_MS);
    const before = site.checks(shop).length;
    expect(site.state(shop)).toBe("up");
    await restart(all, 10 * SECOND_MS);
    expect(site.checks(shop)).toHaveLength(before);
    await site.clock.advance(6 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["down", "unreachable"]);
    expect(messages(all)).toEqual([`monitor.down ${router}`]);
  });

  test("a parent that recovers while the server is stopped brings no monitor behind it down", async () => {
    const all = await openSite({ failure_threshold: 1 });
    const { site, router, shop } = all;
    await using _ = site;
    await makeUnreachable(all);
    turn(site, answers(), "router", "shop");
    await restart(all, 40 * SECOND_MS);
    await site.clock.advance(2 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["up", "up"]);
    expect(messages(all)).toEqual([`monitor.down ${router}`, `monitor.up ${router}`]);
  });

  test("after a time without data, a monitor is unreachable again and sends nothing", async () => {
    const all = await openSite({ reminder_seconds: 300 });
    const { site, router, shop } = all;
    await using _ = site;
    await makeUnreachable(all);
    await restart(all, HOUR_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["no_data", "no_data"]);
    await site.clock.advance(10 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["down", "unreachable"]);
    expect(messages(all)).toEqual([`monitor.down ${router}`]);
  });
});

describe("a parent under maintenance", () => {
  /** Begins maintenance of the router. */
  async function maintain({ site, components }: Site): Promise<void> {
    const { ctx } = site.app;
    const now = site.clock.now();
    const input = {
      page: "acme",
      name: "Upgrade",
      body: "A moment.",
      components: [components["Router"] ?? ""],
      scheduled_for: toIso(now + SECOND_MS),
      scheduled_until: toIso(now + 5 * HOUR_MS),
    };
    await ctx.db.write((tx) => planMaintenance(ctx, tx, input, CLI_ACTOR));
    await site.clock.advance(SECOND_MS);
    await ctx.db.write((tx) => advanceMaintenance(ctx, tx, site.clock.now()));
    await site.clock.advance(SECOND_MS);
  }

  test("a parent under maintenance makes a monitor unreachable while its checks fail, also after a restart", async () => {
    const all = await openSite({ reminder_seconds: 300 });
    const { site, router, shop } = all;
    await using _ = site;
    await maintain(all);
    turn(site, fails(), "router", "shop");
    await site.clock.advance(10 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["maintenance", "unreachable"]);
    await restart(all, 10 * SECOND_MS);
    await site.clock.advance(10 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["maintenance", "unreachable"]);
    expect(messages(all)).toEqual([]);
  });

  test("a parent under maintenance whose checks succeed makes no monitor unreachable", async () => {
    const all = await openSite();
    const { site, router, shop } = all;
    await using _ = site;
    await maintain(all);
    turn(site, fails(), "shop");
    await site.clock.advance(5 * MINUTE_MS);
    expect([site.state(router), site.state(shop)]).toEqual(["maintenance", "down"]);
    expect(messages(all)).toEqual([`monitor.down ${shop}`]);
  });
});

test("after the clock was set back, a monitor stays unreachable, and then down with a timeline in order", async () => {
  const all = await openSite();
  const { site, router, shop } = all;
  await using _ = site;
  await makeUnreachable(all);
  site.clock.setWallClock(site.clock.now() - 2 * HOUR_MS);
  await site.clock.advance(10 * MINUTE_MS);
  expect([site.state(router), site.state(shop)]).toEqual(["down", "unreachable"]);
  turn(site, answers(), "router");
  await site.clock.advance(10 * MINUTE_MS);
  expect([site.state(router), site.state(shop)]).toEqual(["up", "down"]);
  expect(outageOf(all, shop)).toMatchObject({ started_at: toIso(failedSince(all, shop)) });
  turn(site, answers(), "shop");
  await site.clock.advance(5 * MINUTE_MS);
  expect(site.state(shop)).toBe("up");
  expect(messages(all)).toEqual([
    `monitor.down ${router}`,
    `monitor.up ${router}`,
    `monitor.down ${shop}`,
    `monitor.up ${shop}`,
  ]);
  for (const id of [router, shop]) {
    const spans = site.timeline(id).map((span) => (/ (.*) → ?(.*)/.exec(span) ?? []).slice(1));
    for (const [index, [from, to]] of spans.entries()) {
      expect(Number(to || Infinity)).toBeGreaterThan(Number(from));
      if (index > 0) expect(from).toBe(spans[index - 1]?.[1] ?? "");
    }
  }
});
