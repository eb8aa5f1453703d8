import { describe, expect, test } from "bun:test";
import { deleteMonitor, pauseMonitor } from "../../../../src/features/monitors/monitors";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { settle } from "../../../support/clock";
import {
  answers,
  type EngineSite,
  fails,
  hangs,
  openEngineSite,
  type Target,
} from "../../../support/engine-site";
import { updateMonitor } from "../../../support/examined";

/** Longer than the checks of all other monitors of a test take to come due again. */
const RARELY = {
  interval_seconds: 24 * 3_600,
  retry_interval_seconds: 3_600,
  failure_threshold: 1,
};

/** The same for checks that take long. */
const SLOWLY = { ...RARELY, timeout_ms: 60_000 };

/** Maximum number of concurrent checks. */
const PLACES = 256;

/** Makes monitors of which each depends on the one before, all up. Returns their ids. */
async function openChain(names: readonly string[]) {
  const site = await openEngineSite();
  const ids: string[] = [];
  for (const name of names) {
    const depends_on = ids.slice(-1);
    ids.push((await site.monitor({ ...SLOWLY, name, depends_on })).id);
  }
  await site.clock.advance(2 * MINUTE_MS);
  expect(ids.map((id) => site.state(id))).toEqual(ids.map(() => "up"));
  return { site, ids };
}

const statesOf = (site: EngineSite, ids: readonly string[]) => ids.map((id) => site.state(id));

const downIds = ({ app }: EngineSite) =>
  app
    .events()
    .filter(({ type }) => type === "monitor.down")
    .map(({ subjectId }) => subjectId);

/** A target that fails after a time, and the number of checks of it that are running. */
function failsAfter(site: EngineSite, delayMs: number) {
  const running = { now: 0, most: 0 };
  const target: Target = async () => {
    running.now += 1;
    running.most = Math.max(running.most, running.now);
    await new Promise<void>((resolve) => void site.clock.after(delayMs, resolve));
    running.now -= 1;
    return { outcome: "failed", latencyMs: null, message: "No route." };
  };
  return { target, running };
}

describe("checks of parents", () => {
  test("monitors that wait for a slow parent keep no other monitor from being checked", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ ...SLOWLY, name: "router" });
    for (let index = 0; index <= PLACES; index++) {
      const name = `behind-${index}`;
      await site.monitor({ ...RARELY, name, depends_on: [router.id] });
      site.let(`${name}.test`, fails());
    }
    await site.monitor({ name: "other", interval_seconds: 5 });
    site.let("router.test", hangs());
    await site.clock.advance(10 * SECOND_MS);
    const before = site.checkCount("other.test");
    await site.clock.advance(45 * SECOND_MS);
    expect(site.checkCount("other.test") - before).toBeGreaterThanOrEqual(8);
    expect(site.checkCount("router.test")).toBe(1);
    await site.clock.advance(MINUTE_MS);
    expect(downIds(site)).toEqual([router.id]);
  });

  test("a monitor that is changed while it waits for a slow parent is checked at once", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ ...SLOWLY, name: "router" });
    const { id } = await site.monitor({ ...RARELY, name: "shop", depends_on: [router.id] });
    await site.clock.advance(2 * MINUTE_MS);
    site.let("router.test", hangs());
    site.let("shop.test", fails());
    const before = site.engine.checkNow(id);
    await site.clock.advance(SECOND_MS);
    site.let("shop.test", answers(77));
    const { app } = site;
    await app.ctx.db.write((tx) =>
      updateMonitor(app.ctx, tx, id, { timeout_ms: 5_000 }, CLI_ACTOR),
    );
    await site.clock.advance(2 * SECOND_MS);
    expect(site.checks(id).at(-1)).toMatchObject({ outcome: "ok", latencyMs: 77 });
    expect(await before).toMatchObject({ outcome: "ok", latencyMs: 77 });
    await site.clock.advance(3 * MINUTE_MS);
    expect(downIds(site)).toEqual([router.id]);
  });

  test("checks of parents take places of the queue too", async () => {
    await using site = await openEngineSite({ isStarted: false });
    const { target, running } = failsAfter(site, 50 * SECOND_MS);
    const names: string[] = [];
    for (let index = 0; index < PLACES; index++) {
      const router = await site.monitor({ ...SLOWLY, name: `router-${index}` });
      await site.monitor({ ...SLOWLY, name: `behind-${index}`, depends_on: [router.id] });
      names.push(`router-${index}`, `behind-${index}`);
    }
    for (const name of names) site.let(`${name}.test`, target);
    await site.start();
    await site.clock.advance(10 * MINUTE_MS);
    expect(running.most).toBe(PLACES);
    const down = downIds(site).map((id) => getMonitorRecord(site.app.ctx.db, id).row.name);
    expect(down).toHaveLength(PLACES);
    expect(down.filter((name) => name.startsWith("behind"))).toEqual([]);
  });

  test("an answer of a parent counts if it comes before the wait of 150 seconds ends, and with the next check if it comes later", async () => {
    await using site = await openEngineSite();
    const children: string[] = [];
    for (const [index, offsetMs] of [-1, 0, 1].entries()) {
      const router = await site.monitor({ ...SLOWLY, name: `router-${index}` });
      const input = { name: `shop-${index}`, depends_on: [router.id] };
      children.push((await site.monitor({ ...SLOWLY, ...input })).id);
      site.let(`router-${index}.test`, answers());
      await site.clock.advance(SECOND_MS);
      site.let(`shop-${index}.test`, fails());
      const answer = Promise.withResolvers<void>();
      site.let(`router-${index}.test`, async () => {
        await answer.promise;
        return { outcome: "failed", latencyMs: null, message: "No route." };
      });
      const endsAt = () => startedAt + 150 * SECOND_MS + offsetMs - site.clock.now();
      site.clock.after(61 * SECOND_MS, () => site.clock.after(endsAt(), answer.resolve));
    }
    // Twice as many checks as there are places keep the routers waiting for two minutes.
    for (let index = 0; index < 2 * PLACES; index++) {
      await site.monitor({ ...SLOWLY, name: `slow-${index}` });
      site.let(`slow-${index}.test`, hangs());
    }
    await site.clock.advance(SECOND_MS);
    const startedAt = site.clock.now();
    const asked = children.map((id) => site.engine.checkNow(id));
    // The waits begin before the clock moves on.
    await settle();
    await site.clock.advance(149 * SECOND_MS);
    await Promise.all(asked);
    for (const index of [0, 1, 2]) expect(site.checkCount(`router-${index}.test`)).toBe(2);
    expect(statesOf(site, children)).toEqual(["up", "up", "up"]);
    await site.clock.advance(2 * SECOND_MS);
    expect(statesOf(site, children)).toEqual(["unreachable", "down", "down"]);
    await Promise.all(children.map((id) => site.engine.checkNow(id)));
    expect(statesOf(site, children)).toEqual(["unreachable", "unreachable", "unreachable"]);
  });

  test("a chain of five hanging parents makes only the first monitor down, and the last one waits for one check", async () => {
    const { site, ids } = await openChain(["a", "b", "c", "d", "e", "f"]);
    await using _ = site;
    for (const name of ["a", "b", "c", "d", "e", "f"]) site.let(`${name}.test`, hangs());
    const last = ids.at(-1) ?? "";
    const check = site.engine.checkNow(last);
    await site.clock.advance(122 * SECOND_MS);
    await check;
    expect(site.state(last)).toBe("unreachable");
    expect(downIds(site)).toEqual([]);
    await site.clock.advance(5 * MINUTE_MS);
    const unreachable = ids.slice(1).map(() => "unreachable");
    expect(statesOf(site, ids)).toEqual(["down", ...unreachable]);
    expect(downIds(site)).toEqual([ids[0] ?? ""]);
  });

  test("a parent that has failed and waits for its own parent makes a monitor unreachable whatever that one answers", async () => {
    const { site, ids } = await openChain(["power", "router", "shop"]);
    await using _ = site;
    const [power = "", router = "", shop = ""] = ids;
    const answer = Promise.withResolvers<void>();
    site.let("power.test", async () => {
      await answer.promise;
      return { outcome: "ok", latencyMs: 1, message: null };
    });
    for (const name of ["router", "shop"]) site.let(`${name}.test`, fails());
    const check = site.engine.checkNow(shop);
    await site.clock.advance(SECOND_MS);
    await check;
    expect(statesOf(site, ids)).toEqual(["up", "up", "unreachable"]);
    expect(getMonitorRecord(site.app.ctx.db, shop).state.unreachableVia).toBe(router);
    answer.resolve();
    await site.clock.advance(SECOND_MS);
    expect(statesOf(site, ids)).toEqual(["up", "down", "unreachable"]);
    expect(downIds(site)).toEqual([router]);
    expect(power).not.toBe(router);
  });

  test("a failure of a parent that is discarded while it waits makes the monitors behind it be checked again", async () => {
    const { site, ids } = await openChain(["power", "router", "shop"]);
    await using _ = site;
    const [, router = "", shop = ""] = ids;
    const { ctx } = site.app;
    site.let("power.test", hangs());
    for (const name of ["router", "shop"]) site.let(`${name}.test`, fails());
    await Promise.all([site.engine.checkNow(shop), site.clock.advance(SECOND_MS)]);
    expect(site.state(shop)).toBe("unreachable");
    for (const name of ["router", "shop"]) site.let(`${name}.test`, answers());
    await ctx.db.write((tx) => updateMonitor(ctx, tx, router, { name: "switch" }, CLI_ACTOR));
    await site.clock.advance(62 * SECOND_MS);
    expect(statesOf(site, ids)).toEqual(["down", "up", "up"]);
    expect(downIds(site)).toEqual([ids[0] ?? ""]);
  });

  test("a job that calls while its missed call waits for a parent lets the monitors behind it be checked", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ ...SLOWLY, name: "router" });
    const job = await site.monitor({
      type: "push",
      config: { grace_seconds: 0 },
      interval_seconds: 300,
      failure_threshold: 1,
      depends_on: [router.id],
    });
    const shop = await site.monitor({ ...RARELY, name: "shop", depends_on: [job.id] });
    const call = () =>
      site.engine.heartbeat(job.id, { outcome: "ok", latencyMs: 1, message: null });
    await site.clock.advance(2 * MINUTE_MS);
    await call();
    site.let("router.test", hangs());
    await site.clock.advance(301 * SECOND_MS);
    site.let("shop.test", fails());
    await Promise.all([site.engine.checkNow(shop.id), site.clock.advance(SECOND_MS)]);
    expect(statesOf(site, [job.id, shop.id])).toEqual(["up", "unreachable"]);
    site.let("shop.test", answers());
    await call();
    await site.clock.advance(SECOND_MS);
    expect(statesOf(site, [job.id, shop.id])).toEqual(["up", "up"]);
  });

  for (const end of ["paused", "deleted"] as const) {
    test(`a monitor whose parent is ${end} while that waits for a place counts its failure`, async () => {
      const { site, ids } = await openChain(["router", "shop"]);
      await using _ = site;
      const [router = "", shop = ""] = ids;
      const { ctx } = site.app;
      for (let index = 0; index < PLACES; index++) {
        const name = `slow-${index}`;
        await site.monitor({ ...SLOWLY, name });
        site.let(`${name}.test`, hangs());
      }
      await site.clock.advance(SECOND_MS);
      expect(site.engine.figures().underWay).toBe(PLACES);
      site.let("shop.test", fails());
      const before = site.checkCount("router.test");
      const check = site.engine.checkNow(shop);
      await site.clock.advance(SECOND_MS);
      await ctx.db.write((tx) =>
        end === "paused"
          ? pauseMonitor(ctx, tx, router, CLI_ACTOR)
          : deleteMonitor(ctx, tx, router, CLI_ACTOR),
      );
      // Deletion changes the monitor, whose check is repeated as soon as it has a place.
      await site.clock.advance(end === "paused" ? SECOND_MS : 2 * MINUTE_MS);
      await check;
      expect(site.state(shop)).toBe("down");
      expect(site.checkCount("router.test")).toBe(before);
    });
  }
});

describe("checks with a timeout of five minutes", () => {
  const LONG = { ...RARELY, timeout_ms: 300_000 };

  test("a check ends at its timeout, and an answer before it counts", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ ...LONG, name: "shop" });
    await site.clock.advance(MINUTE_MS);
    for (const [delayMs, state] of [
      [299 * SECOND_MS, "up"],
      [301 * SECOND_MS, "down"],
    ] as const) {
      site.let("shop.test", async (context) => {
        const late = hangs()(context);
        const timely = new Promise<Awaited<ReturnType<Target>>>((resolve) => {
          site.clock.after(delayMs, () => resolve({ outcome: "ok", latencyMs: 1, message: null }));
        });
        return Promise.race([late, timely]);
      });
      void site.engine.checkNow(id).catch(() => {});
      await site.clock.advance(302 * SECOND_MS);
      expect(site.state(id)).toBe(state);
      expect(site.engine.figures().underWay).toBe(0);
    }
  });

  test("a failure waits for the checks of a parent that take so long", async () => {
    await using site = await openEngineSite();
    const router = await site.monitor({ ...LONG, name: "router" });
    const shop = await site.monitor({ ...RARELY, name: "shop", depends_on: [router.id] });
    await site.clock.advance(2 * MINUTE_MS);
    site.let("router.test", hangs());
    site.let("shop.test", fails());
    void site.engine.checkNow(shop.id).catch(() => {});
    await site.clock.advance(299 * SECOND_MS);
    expect(site.state(shop.id)).toBe("up");
    await site.clock.advance(10 * SECOND_MS);
    expect(site.state(router.id)).toBe("down");
    expect(site.state(shop.id)).toBe("unreachable");
  });

  test("a try-out ends after a minute", async () => {
    await using site = await openEngineSite();
    site.let("shop.test", hangs());
    let message: string | null = null;
    const config = { url: "http://shop.test/" };
    void site.engine.tryOut("http", config, 300_000).then((result) => (message = result.message));
    await site.clock.advance(59 * SECOND_MS);
    expect(message).toBeNull();
    await site.clock.advance(SECOND_MS);
    await settle();
    expect(message as string | null).toBe("Timed out connecting.");
  });

  test("the check on demand is answered after 70 seconds, goes on and is listed later", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ ...LONG, name: "shop" });
    await site.clock.advance(MINUTE_MS);
    site.let("shop.test", hangs());
    let code = "";
    void site.engine.checkNow(id).catch((error) => (code = error.code));
    await site.clock.advance(70 * SECOND_MS);
    await settle();
    expect(code).toBe("unavailable");
    expect(site.state(id)).toBe("up");
    await site.clock.advance(231 * SECOND_MS);
    expect(site.checks(id).map(({ outcome }) => outcome)).toContain("failed");
    expect(site.state(id)).toBe("down");
  });

  test("a stop does not wait for the check", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ ...LONG, name: "shop" });
    await site.clock.advance(MINUTE_MS);
    site.let("shop.test", hangs());
    const check = site.engine.checkNow(id).catch((error) => error.code);
    await site.stop();
    expect(await check).toBe("unavailable");
    expect(site.checks(id)).toHaveLength(1);
  });
});

describe("the answer to a check on demand", () => {
  test("a failure that waits for parents is answered after 70 seconds, and counted later", async () => {
    const { site, ids } = await openChain(["power", "router", "shop"]);
    await using _ = site;
    const [power = "", router = "", shop = ""] = ids;
    // Began before the check of the shop, and is repeated: together they take 120 seconds.
    site.let("router.test", hangs());
    site.let("shop.test", fails());
    void site.engine.checkNow(router).catch(() => {});
    await site.clock.advance(SECOND_MS);
    site.let("router.test", async (context) => {
      await hangs()(context);
      return { outcome: "ok", latencyMs: 1, message: null };
    });
    let answeredAt = 0;
    const startedAt = site.clock.now();
    const check = site.engine.checkNow(shop).finally(() => (answeredAt = site.clock.now()));
    await site.clock.advance(70 * SECOND_MS);
    const row = await check;
    expect(answeredAt - startedAt).toBeLessThanOrEqual(70 * SECOND_MS);
    expect(row).toMatchObject({ outcome: "failed", at: startedAt });
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.checks(shop)).toContainEqual(row);
    expect(site.state(power)).toBe("up");
  });

  test("a check that is repeated because its monitor was changed is answered after 70 seconds", async () => {
    const { site, ids } = await openChain(["shop"]);
    await using _ = site;
    const [shop = ""] = ids;
    const { ctx } = site.app;
    site.let("shop.test", hangs());
    let code = "";
    void site.engine.checkNow(shop).catch((error) => (code = error.code));
    await site.clock.advance(59 * SECOND_MS);
    await ctx.db.write((tx) => updateMonitor(ctx, tx, shop, { name: "store" }, CLI_ACTOR));
    await site.clock.advance(10 * SECOND_MS);
    expect(code).toBe("");
    await site.clock.advance(SECOND_MS);
    await settle();
    expect(code).toBe("unavailable");
    await site.clock.advance(HOUR_MS);
    expect(site.state(shop)).toBe("down");
  });
});
