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
import { createTestApp } from "../../../support/app";
import { createMonitor, updateMonitor } from "../../../support/examined";

test("an engine of a location checks its monitors, and stores results elsewhere, the same ones again after a failure", async () => {
  await using app = await createTestApp();
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
  const { id, num } = record.row;
  const batches: Entry[][] = [];
  let isReachable = true;
  let result: ProbeResult = { outcome: "ok", latencyMs: 12, message: null };
  const engine = createMonitoring(ctx, {} as Egress, {
    location: row.id,
    findProbe: () => ({ run: async () => result }),
    async store(entries) {
      batches.push([...entries]);
      if (!isReachable) throw unavailable("The server cannot be reached.", 5);
    },
  });
  engine.start();
  await clock.advance(61 * SECOND_MS);
  const sent = batches.flat();
  expect(sent.length).toBeGreaterThan(0);
  expect(sent[0]).toMatchObject({ kind: "check", outcome: "ok", version: record.row.version });
  expect(sent[0]?.startedAt).toBeGreaterThan(0);
  // Nothing is written here.
  const all = { monitorNum: num, before: Number.MAX_SAFE_INTEGER, limit: 100 };
  expect(ofMonitors.listChecksBefore(ctx.db, all)).toEqual([]);
  expect(getMonitorRecord(ctx.db, id).state.state).toBe("pending");

  isReachable = false;
  batches.length = 0;
  await clock.advance(3 * MINUTE_MS);
  const [oldest] = batches[0] ?? [];
  expect(batches.length).toBeGreaterThan(1);
  expect(batches.every(([first]) => first === oldest)).toBe(true);
  isReachable = true;
  batches.length = 0;
  await clock.advance(MINUTE_MS);
  expect(batches.flat()[0]).toBe(oldest as Entry);

  // It counts failures itself, so that the next check comes sooner, also after a change of the monitor.
  result = { outcome: "failed", latencyMs: null, message: "No route." };
  await clock.advance(5 * MINUTE_MS);
  batches.length = 0;
  await ctx.db.write((tx) => updateMonitor(ctx, tx, id, { name: "Store" }, CLI_ACTOR));
  await clock.advance(MINUTE_MS + SECOND_MS);
  // Down before, it is not rechecked each 20 seconds.
  expect(batches.flat().length).toBeLessThanOrEqual(2);
  await engine.stop();
});
