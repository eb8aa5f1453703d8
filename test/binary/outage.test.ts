import { Database } from "bun:sqlite";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { createInstallation, holds, PROCESS_TEST_MS } from "../support/binary";
import { startTarget } from "../support/target";

test(
  "the executable detects an outage in real time, dates and announces it, and counts its uptime to the second",
  async () => {
    using target = startTarget(Date.now);
    await using site = await createInstallation();
    await site.createPage("acme", ["API"]);
    const scopes = ["manage:monitors", "read:status", "read:analytics"];
    const { value: key } = await site.createKey(scopes);
    const server = await site.serve();
    const read = async (path: string) => (await server.fetch(`/api/v1${path}`, { key })).json();
    const page = async () => (await server.fetch("/status/acme")).text();
    const [component] = (await read("/components?page=acme")).data;

    const created = await server.fetch("/api/v1/monitors", {
      key,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        type: "http",
        name: "Shop",
        config: { url: target.url },
        component_ids: [component.id],
        interval_seconds: 5,
        failure_threshold: 2,
        retry_interval_seconds: 1,
        on_down: "major_outage",
        open_incident: "automatic",
      }),
    });
    expect(created.status).toBe(201);
    const { id } = await created.json();
    const isNow = (state: string) =>
      holds(async () => (await read(`/monitors/${id}`)).state === state);
    expect(await isNow("up")).toBe(true);
    expect(await page()).toContain("All systems operational");

    target.isWell = false;
    expect(await isNow("down")).toBe(true);
    expect(await page()).toContain("API is unavailable");
    const [incident] = (await read("/incidents?page=acme")).data;
    const startedAt = Date.parse(incident.started_at);
    const first = target.requests.findIndex(({ isWell }) => !isWell);
    expectBetween(target.requests[first - 1]?.at, startedAt, target.requests[first]?.at);

    target.isWell = true;
    expect(await isNow("up")).toBe(true);
    expect(await page()).toContain("All systems operational");
    const outage = target.outage();
    const { status, resolved_at } = await read(`/incidents/${incident.id}`);
    expect(status).toBe("resolved");
    const resolvedAt = Date.parse(resolved_at);
    const last = target.requests.findLastIndex(({ isWell }) => !isWell);
    expectBetween(target.requests[last]?.at, resolvedAt, outage.to);
    for (const subject of [`monitor=${id}`, `component=${component.id}`]) {
      const { total } = await read(`/analytics/uptime?${subject}`);
      expect(total.down_ms).toBe(resolvedAt - startedAt);
      expect(total.uptime).toBeCloseTo(1 - total.down_ms / total.counted_ms, 5);
    }
    expect(await server.stop()).toBe(0);
    expect(eventsIn(site.dataDir)).toEqual([
      "incident.created",
      "monitor.down",
      "incident.resolved",
      "monitor.up",
    ]);
  },
  PROCESS_TEST_MS,
);

/** Expects the start of a check (unix ms) between the request of the check before it and its own, whose time is rounded. */
function expectBetween(before: number | undefined, startedAt: number, own: number | undefined) {
  expect(startedAt).toBeGreaterThan((before ?? Number.NaN) - 1);
  expect(startedAt).toBeLessThanOrEqual((own ?? Number.NaN) + 1);
}

/** Returns the types of all events in their order, without those of components. */
function eventsIn(dataDir: string): string[] {
  using database = new Database(join(dataDir, "allclear.db"), { readonly: true });
  return database
    .query<{ type: string }, []>("SELECT type FROM events ORDER BY id")
    .all()
    .map(({ type }) => type)
    .filter((type) => !type.startsWith("component."));
}
