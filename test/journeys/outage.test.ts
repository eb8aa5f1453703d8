import { expect, test } from "bun:test";
import { createMonitoring } from "../../src/features/monitors/engine/engine";
import { MINUTE_MS, SECOND_MS } from "../../src/base/time";
import { createTestApp } from "../support/app";
import { settle } from "../support/clock";
import { startTarget } from "../support/target";

const FAILURES = 3;
const RETRY_MS = 10 * SECOND_MS;

test("an outage is detected, dated, announced, resolved and counted in uptime to the millisecond", async () => {
  let engine: ReturnType<typeof createMonitoring> | undefined;
  await using app = await createTestApp({
    monitoring: (ctx) => {
      engine = createMonitoring(ctx);
      return engine;
    },
  });
  const { clock } = app;
  using target = startTarget(clock.now);
  const { components } = await app.page({}, ["API", "Website"]);
  const component = components["API"] ?? "";
  const begin = clock.now();
  const key = await app.keyWith("manage:monitors", "read:status", "read:analytics");
  const read = async (path: string) => (await app.call(`/api/v1${path}`, { key })).body;
  const eventTypes = () =>
    app
      .events()
      .map(({ type }) => type)
      .filter((type) => !type.startsWith("component."));
  /** Reads the monitor's results, each dated from the start of its check. */
  const results = async (): Promise<{ at: number; outcome: string }[]> =>
    (await read(`/monitors/${id}/checks?limit=100`)).data
      .map(({ at, outcome }: { at: string; outcome: string }) => ({ at: Date.parse(at), outcome }))
      .toReversed();
  /**
   * The target is requested a moment later than the check starts, since this clock keeps running.
   */
  const expectSame = (eventTypes: number, requests: number) => {
    expect(requests - eventTypes).toBeGreaterThanOrEqual(0);
    expect(requests - eventTypes).toBeLessThanOrEqual(SECOND_MS);
  };
  /** Lets time pass in which checks are made over the network, a second at a time. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += SECOND_MS) {
      await clock.advance(SECOND_MS);
      while ((engine?.figures().underWay ?? 0) > 0) await settle();
    }
  };

  engine?.start();
  const json = {
    type: "http",
    name: "Shop",
    config: { url: target.url },
    component_ids: [component],
    failure_threshold: FAILURES,
    retry_interval_seconds: RETRY_MS / SECOND_MS,
    on_down: "major_outage",
    open_incident: "automatic",
  };
  const { id } = (await app.call("/api/v1/monitors", { key, method: "POST", json })).body;
  await pass(10 * MINUTE_MS);
  expect((await read(`/monitors/${id}`)).state).toBe("up");
  expect((await app.call("/status/acme")).text).toContain("All systems operational");
  expect(eventTypes()).toEqual([]);

  target.isWell = false;
  const failures = () => target.requests.filter(({ isWell }) => !isWell).length;
  while (failures() < FAILURES) {
    expect((await read("/status/acme")).incidents).toEqual([]);
    await pass(SECOND_MS);
  }
  await pass(2 * SECOND_MS);
  const from = (await results()).find(({ outcome }) => outcome === "failed")?.at ?? Number.NaN;
  expectSame(from, target.requests.find(({ isWell }) => !isWell)?.at ?? Number.NaN);
  expect(clock.now() - from).toBeLessThan(2 * RETRY_MS + 5 * SECOND_MS);
  const startedAt = new Date(from).toISOString();
  const during = await read("/status/acme");
  expect(during.status.indicator).toBe("critical");
  expect(during.incidents).toMatchObject([
    {
      name: "API is unavailable",
      source: "monitor",
      status: "investigating",
      started_at: startedAt,
    },
  ]);
  const page = (await app.call("/status/acme")).text;
  expect(page).toContain("API is unavailable");
  expect(page).toContain("Major system outage");
  expect((await app.call("/status/acme/feed.atom")).text).toContain("API is unavailable");
  expect(eventTypes()).toEqual(["incident.created", "monitor.down"]);
  expect(app.events().find(({ type }) => type === "monitor.down")?.data).toMatchObject({
    id,
    state: "down",
    outage: { started_at: startedAt, ended_at: null },
  });

  await pass(7 * MINUTE_MS);
  target.isWell = true;
  await pass(2 * MINUTE_MS);
  const found = await results();
  const last = found.findLastIndex(({ outcome }) => outcome === "failed");
  const outage = { from, to: found[last + 1]?.at ?? Number.NaN };
  expectSame(outage.from, target.outage().from);
  expectSame(outage.to, target.outage().to);
  const lastedMs = outage.to - outage.from;
  expect(lastedMs).toBeGreaterThan(7 * MINUTE_MS);
  const after = await read("/status/acme");
  expect(after.status.indicator).toBe("none");
  expect(after.incidents).toEqual([]);
  expect((await read("/incidents?page=acme")).data).toMatchObject([
    {
      status: "resolved",
      started_at: startedAt,
      resolved_at: new Date(outage.to).toISOString(),
    },
  ]);
  expect(eventTypes()).toEqual([
    "incident.created",
    "monitor.down",
    "incident.resolved",
    "monitor.up",
  ]);
  expect(app.events().find(({ type }) => type === "monitor.up")?.data).toMatchObject({
    outage: { ended_at: new Date(outage.to).toISOString(), duration_ms: lastedMs },
  });
  expect((await app.call("/status/acme")).text).toContain("All systems operational");

  const to = clock.now();
  const { total: watched } = await read(`/analytics/uptime?monitor=${id}`);
  const knownMs = to - (found[0]?.at ?? 0);
  const share = (ms: number, ofMs: number) => Math.floor((1 - ms / ofMs) * 1e6) / 1e6;
  expect(watched).toMatchObject({ down_ms: lastedMs, counted_ms: knownMs });
  expect(watched.uptime).toBe(share(lastedMs, knownMs));
  const { total: shown } = await read(`/analytics/uptime?component=${component}`);
  expect(shown).toMatchObject({ major_outage_ms: lastedMs, counted_ms: to - begin });
  expect(shown.uptime).toBe(share(lastedMs, to - begin));
  const { total: other } = await read(`/analytics/uptime?component=${components["Website"]}`);
  expect(other.uptime).toBe(1);
  await engine?.stop();
});
