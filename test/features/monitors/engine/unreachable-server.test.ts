import { describe, expect, test } from "bun:test";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { createTestApp } from "../../../support/app";

/** A push monitor that expects a heartbeat each minute and allows 30 seconds more. */
async function openJob(input: object = { interval_seconds: 60, config: { grace_seconds: 30 } }) {
  let unreachableAt = Number.NEGATIVE_INFINITY;
  let engine: ReturnType<typeof createMonitoring> | undefined;
  const app = await createTestApp({
    monitoring: (ctx) =>
      (engine = createMonitoring(ctx, undefined, { lastUnreachableAt: () => unreachableAt })),
  });
  engine?.start();
  const key = await app.keyWith("manage:monitors", "read:status");
  const { components } = await app.page({}, ["API"]);
  const json = {
    type: "push",
    name: "Job",
    ...input,
    component_ids: Object.values(components),
  };
  const { body } = await app.call("/api/v1/monitors", { key, method: "POST", json });
  const path = `/api/v1/monitors/${body.id}`;
  const beat = (end = "") => app.call(`/api/v1/heartbeats/${body.token}${end}`, { method: "POST" });
  return {
    app,
    body,
    beat,
    state: async () => (await app.call(path, { key })).body.state,
    checks: async () => (await app.call(`${path}/checks`, { key })).body.data,
    indicator: async () => (await app.call("/api/v1/status/acme", { key })).body.status.indicator,
    beUnreachable: () => void (unreachableAt = app.clock.monotonic()),
    async [Symbol.asyncDispose]() {
      await engine?.stop();
      await app[Symbol.asyncDispose]();
    },
  };
}

describe("a push monitor whose heartbeat is missing", () => {
  test("a push monitor has no data and sets no status if clients could not reach this server", async () => {
    await using job = await openJob();
    await job.beat();
    await job.app.clock.advance(SECOND_MS);
    expect(await job.state()).toBe("up");
    await job.app.clock.advance(65 * SECOND_MS);
    job.beUnreachable();
    await job.app.clock.advance(25 * SECOND_MS);
    expect(await job.checks()).toMatchObject([
      { outcome: "unknown", message: "This server could not be reached." },
      { outcome: "ok" },
    ]);
    expect(await job.state()).toBe("no_data");
    expect(await job.indicator()).toBe("none");
    await job.beat();
    expect(await job.state()).toBe("up");
  });

  test("a push monitor is down if this server was reachable since its last heartbeat", async () => {
    await using job = await openJob();
    job.beUnreachable();
    await job.app.clock.advance(SECOND_MS);
    await job.beat();
    await job.app.clock.advance(90 * SECOND_MS);
    expect(await job.state()).toBe("down");
    expect(await job.indicator()).not.toBe("none");
  });

  test("a push monitor is down at the next due time if this server was reachable since the previous one", async () => {
    await using job = await openJob();
    await job.beat();
    await job.app.clock.advance(80 * SECOND_MS);
    job.beUnreachable();
    await job.app.clock.advance(10 * SECOND_MS);
    expect(await job.state()).toBe("no_data");
    await job.app.clock.advance(MINUTE_MS);
    expect(await job.state()).toBe("down");
  });

  test("a scheduled job has no data if clients could not reach this server after its due time", async () => {
    const config = { schedule: "* * * * *", grace_seconds: 30 };
    await using job = await openJob({ config });
    await job.beat();
    await job.app.clock.advance(50 * SECOND_MS);
    job.beUnreachable();
    await job.app.clock.advance(40 * SECOND_MS);
    expect(await job.state()).toBe("down");
    await job.beat();
    await job.app.clock.advance(40 * SECOND_MS);
    job.beUnreachable();
    await job.app.clock.advance(20 * SECOND_MS);
    expect(await job.state()).toBe("no_data");
    await job.app.clock.advance(MINUTE_MS);
    expect(await job.state()).toBe("down");
  });

  test("a run without an end has no data if clients could not reach this server since its start", async () => {
    await using job = await openJob({ interval_seconds: null, config: { grace_seconds: 30 } });
    await job.beat("/start");
    await job.app.clock.advance(10 * SECOND_MS);
    job.beUnreachable();
    await job.app.clock.advance(21 * SECOND_MS);
    expect(await job.state()).toBe("no_data");
    await job.beat("/start");
    await job.app.clock.advance(31 * SECOND_MS);
    expect(await job.state()).toBe("down");
  });
});
