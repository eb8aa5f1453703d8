import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { unavailable } from "../../../../src/base/errors";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import type { Egress } from "../../../../src/egress/egress";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import type { Entry } from "../../../../src/features/monitors/engine/entry";
import { ofMonitors } from "../../../../src/features/monitors/checks-store";
import type { ProbeResult } from "../../../../src/features/monitors/monitoring";
import { getMonitorRecord } from "../../../../src/features/monitors/records";
import { createLocation } from "../../../../src/features/locations/locations";
import type { CreateMonitorBody } from "../../../../src/features/monitors/wire";
import { createTestApp, type TestApp } from "../../../support/app";
import { createMonitor, updateMonitor } from "../../../support/examined";

interface Site extends AsyncDisposable {
  app: TestApp;
  id: string;
  num: number;
  /** Batches so far, since they were emptied last. */
  batches: Entry[][];
  /** Result of each check. */
  result: ProbeResult;
  /** False to fail to store. */
  isReachable: boolean;
}

/** Opens the engine of the agent of a location, which has checked its only monitor for a minute. */
async function openSite(): Promise<Site> {
  const app = await createTestApp();
  const { ctx, clock } = app;
  const { row } = await ctx.db.write((tx) =>
    createLocation(ctx, tx, { name: "Berlin" } as never, CLI_ACTOR),
  );
  const body = {
    name: "Shop",
    type: "http",
    config: { url: "https://shop.test/" },
    locations: ["local", row.id],
    retry_interval_seconds: 20,
  } as CreateMonitorBody;
  const { record } = await ctx.db.write((tx) => createMonitor(ctx, tx, body, CLI_ACTOR));
  const site: Omit<Site, typeof Symbol.asyncDispose> = {
    app,
    id: record.row.id,
    num: record.row.num,
    batches: [],
    result: { outcome: "ok", latencyMs: 12, message: null },
    isReachable: true,
  };
  const engine = createMonitoring(ctx, {} as Egress, {
    location: row.id,
    findProbe: () => ({ run: async () => site.result }),
    async store(entries) {
      site.batches.push([...entries]);
      if (!site.isReachable) throw unavailable("The server cannot be reached.", 5);
    },
  });
  engine.start();
  await clock.advance(61 * SECOND_MS);
  return Object.assign(site, {
    async [Symbol.asyncDispose]() {
      await engine.stop();
      await app[Symbol.asyncDispose]();
    },
  });
}

test("an engine of a location checks its monitors, and writes nothing to its own database", async () => {
  await using site = await openSite();
  const { ctx } = site.app;
  const [first] = site.batches.flat();
  expect(first).toMatchObject({ kind: "check", outcome: "ok", version: 1 });
  expect(first?.startedAt).toBeGreaterThan(0);
  const all = { monitorNum: site.num, before: Number.MAX_SAFE_INTEGER, limit: 100 };
  expect(ofMonitors.listChecksBefore(ctx.db, all)).toEqual([]);
  expect(getMonitorRecord(ctx.db, site.id).state.state).toBe("pending");
});

test("an engine of a location stores the same entries again until the server takes them", async () => {
  await using site = await openSite();
  site.isReachable = false;
  site.batches.length = 0;
  await site.app.clock.advance(3 * MINUTE_MS);
  const [oldest] = site.batches[0] ?? [];
  expect(site.batches.length).toBeGreaterThan(1);
  expect(site.batches.every(([first]) => first === oldest)).toBe(true);
  site.isReachable = true;
  site.batches.length = 0;
  await site.app.clock.advance(MINUTE_MS);
  expect(site.batches.flat()[0]).toBe(oldest as Entry);
});

test("an engine of a location counts failures itself: it checks again sooner until the monitor is down", async () => {
  await using site = await openSite();
  const { clock } = site.app;
  site.result = { outcome: "failed", latencyMs: null, message: "No route." };
  site.batches.length = 0;
  await clock.advance(5 * MINUTE_MS);
  const [first = 0, ...later] = site.batches.flat().map(({ at }) => at);
  const seconds = later.slice(0, 5).map((at) => Math.round((at - first) / SECOND_MS));
  expect(seconds).toEqual([20, 40, 60, 120, 180]);
});

test("a change of a monitor that is down leaves an engine of a location at its usual interval", async () => {
  await using site = await openSite();
  const { ctx, clock } = site.app;
  site.result = { outcome: "failed", latencyMs: null, message: "No route." };
  await clock.advance(5 * MINUTE_MS);
  site.batches.length = 0;
  await ctx.db.write((tx) => updateMonitor(ctx, tx, site.id, { name: "Store" }, CLI_ACTOR));
  await clock.advance(MINUTE_MS + SECOND_MS);
  const checks = site.batches.flat();
  expect(checks.map(({ version }) => version)).toEqual([2, 2]);
});
