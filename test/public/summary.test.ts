import { describe, expect, test } from "bun:test";
import { createPublicSite, type PublicSite } from "../support/public-site";

async function summary(site: PublicSite) {
  return (await site.app.call("/status/acme/summary.json")).body;
}

async function set(site: PublicSite, statuses: Record<string, string>): Promise<void> {
  const components = Object.fromEntries(
    Object.entries(statuses).map(([name, status]) => [site.ids[name], status]),
  );
  const options = { method: "PATCH", key: site.key, json: { components } };
  const { status } = await site.app.call("/api/v1/components", options);
  expect(status).toBe(200);
}

describe("summary.json", () => {
  test("summary.json contains headline, numbers of components up and down, and of open incidents", async () => {
    await using site = await createPublicSite();
    expect(await summary(site)).toEqual({
      status: "none",
      description: "All Systems Operational",
      up: 3,
      down: 0,
      uptime_30d: 1,
      open_incidents: 0,
    });
    await site.open({ impact_override: "critical" });
    await site.open();
    await set(site, { API: "partial_outage", Web: "major_outage", Docs: "degraded_performance" });
    expect(await summary(site)).toMatchObject({
      status: "critical",
      description: "Major System Outage",
      up: 1,
      down: 2,
      open_incidents: 2,
    });
  });

  test("summary.json counts components under maintenance as neither up nor down", async () => {
    await using site = await createPublicSite();
    await set(site, { API: "under_maintenance" });
    expect(await summary(site)).toMatchObject({ status: "maintenance", up: 2, down: 0 });
  });

  test("summary.json contains the uptime of all components over 30 UTC days, today included", async () => {
    await using site = await createPublicSite();
    const outage = { [site.ids["Docs"] ?? ""]: "major_outage" };
    // Of 29 whole days and today's twelve hours, one is lost; what lies before does not count.
    const day = { started_at: "2026-03-01T00:00:00Z", resolved_at: "2026-03-02T00:00:00Z" };
    const before = { started_at: "2026-02-01T00:00:00Z", resolved_at: "2026-02-09T00:00:00Z" };
    await site.open({ components: outage, ...day });
    await site.open({ components: outage, ...before });
    const expected = Math.floor((1 - 24 / (29 * 24 + 12)) * 1e6) / 1e6;
    expect((await summary(site)).uptime_30d).toBe(expected);
  });
});
