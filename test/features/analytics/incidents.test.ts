import { describe, expect, test } from "bun:test";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import { linkOutage } from "../../../src/features/incidents/automatic";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { type AnalyticsSite, createAnalyticsSite } from "../../support/analytics";
import { addMonitor } from "../../support/monitor-store";

const YEAR = "from=2026-01-01T00:00:00Z";

/** Opens an incident that began then; answers its id. */
async function open(site: AnalyticsSite, startedAt: string, more: Record<string, unknown> = {}) {
  const key = await site.app.keyWith("read:status", "write:incidents");
  const base = { page: "acme", name: "Errors", body: "Hm.", started_at: startedAt };
  const answer = await site.app.call("/api/v1/incidents", {
    method: "POST",
    key,
    json: { ...base, ...more },
  });
  if (answer.status !== 201) throw new Error(answer.text);
  const { id } = answer.body;
  return {
    id: id as string,
    addUpdate: (status: string, display_at: string) =>
      site.app.call(`/api/v1/incidents/${id}/updates`, {
        method: "POST",
        key,
        json: { status, body: "So it is.", display_at },
      }),
  };
}

describe("incident analytics", () => {
  test("incidents are counted by month of start and impact, with mean and longest times", async () => {
    await using site = await createAnalyticsSite();
    const { API = "" } = site.components;
    const slow = await open(site, "2026-01-31T23:00:00Z", {
      components: { [API]: "major_outage" },
    });
    await slow.addUpdate("identified", "2026-01-31T23:20:00Z");
    await slow.addUpdate("resolved", "2026-02-01T05:00:00Z");
    const quick = await open(site, "2026-01-01T00:00:00Z", {
      components: { [API]: "partial_outage" },
    });
    await quick.addUpdate("identified", "2026-01-01T00:10:00Z");
    await quick.addUpdate("resolved", "2026-01-01T01:00:00Z");
    await open(site, "2026-02-01T00:00:00Z", { resolved_at: "2026-02-01T00:30:00Z" });
    const going = await open(site, "2026-03-10T11:00:00Z", { impact_override: "minor" });
    const { body } = await site.read(`incidents?page=acme&${YEAR}&interval=month`);
    const nothing = { count: 0, none: 0, minor: 0, major: 0, critical: 0 };
    expect(body.data).toEqual([
      {
        from: "2026-01-01T00:00:00.000Z",
        to: "2026-02-01T00:00:00.000Z",
        ...nothing,
        count: 2,
        major: 1,
        critical: 1,
        identified: 2,
        time_to_identify_ms: 15 * MINUTE_MS,
        resolved: 2,
        time_to_resolve_ms: 3.5 * HOUR_MS,
        longest_ms: 6 * HOUR_MS,
        longest_id: slow.id,
      },
      {
        from: "2026-02-01T00:00:00.000Z",
        to: "2026-03-01T00:00:00.000Z",
        ...nothing,
        count: 1,
        none: 1,
        identified: 0,
        time_to_identify_ms: null,
        resolved: 1,
        time_to_resolve_ms: 30 * MINUTE_MS,
        longest_ms: 30 * MINUTE_MS,
        longest_id: expect.stringMatching(/^inc_/),
      },
      {
        from: "2026-03-01T00:00:00.000Z",
        to: "2026-03-10T12:00:00.000Z",
        ...nothing,
        count: 1,
        minor: 1,
        identified: 0,
        time_to_identify_ms: null,
        resolved: 0,
        time_to_resolve_ms: null,
        longest_ms: HOUR_MS,
        longest_id: going.id,
      },
    ]);
    expect(body.total).toMatchObject({
      count: 4,
      identified: 2,
      time_to_identify_ms: 15 * MINUTE_MS,
      resolved: 3,
      time_to_resolve_ms: (7.5 * HOUR_MS) / 3,
      longest_id: slow.id,
    });
    const whole = (await site.read(`incidents?page=acme&${YEAR}`)).body;
    expect(whole.data).toHaveLength(1);
    expect(whole.data[0]).toMatchObject(body.total);
    expect(whole.total).toEqual(body.total);
  });

  test("incident analytics exclude drafts, deleted incidents and those that started outside the period", async () => {
    await using site = await createAnalyticsSite();
    await open(site, "2026-03-09T00:00:00Z", { draft: true });
    const { id } = await open(site, "2026-03-09T01:00:00Z");
    await open(site, "2026-03-08T23:59:59.999Z");
    await open(site, "2026-03-10T00:00:00Z");
    const day = "incidents?from=2026-03-09T00:00:00Z&to=2026-03-10T00:00:00Z";
    expect((await site.read(day)).body.total.count).toBe(1);
    await site.app.ctx.db.write((tx) => deleteIncident(site.app.ctx, tx, id, CLI_ACTOR));
    expect((await site.read(day)).body.total.count).toBe(0);
    expect((await site.read("incidents")).body.total.count).toBe(2);
  });

  test("incident analytics cover all pages including private ones, or one page, component or monitor", async () => {
    await using site = await createAnalyticsSite();
    const { ctx } = site.app;
    await site.app.page({ slug: "inside", name: "Inside", visibility: "private" });
    const { API = "", Website = "" } = site.components;
    const hour = "2026-03-10T11:00:00Z";
    const named = await open(site, hour, { components: { [API]: "partial_outage" } });
    await named.addUpdate("identified", "2026-03-10T11:05:00Z");
    await open(site, hour, { components: { [Website]: "partial_outage" } });
    await open(site, hour, { page: "inside" });
    const monitor = await ctx.db.write((tx) => {
      const row = addMonitor(ctx, tx, { name: "Shop", componentIds: [], createdAt: 0 });
      linkOutage(tx, named.id, {
        monitorId: row.id,
        componentIds: [API],
        status: "major_outage",
        startedAt: 0,
      });
      return row;
    });
    const count = async (query: string) =>
      (await site.read(`incidents${query}`)).body.total.count as number;
    expect(await count("")).toBe(3);
    expect(await count("?page=acme")).toBe(2);
    expect(await count("?page=inside")).toBe(1);
    expect(await count(`?component=${API}`)).toBe(1);
    expect(await count(`?monitor=${monitor.id}`)).toBe(1);
  });
});
