import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS } from "../../../src/base/time";
import type { TestApp } from "../../support/app";
import { createIncidentSite, type IncidentSite } from "../../support/incident-site";
import { at, createMaintenanceSite } from "../../support/maintenance-site";
import { updateComponent } from "../../support/examined";

/** Returns the status and `notify` of each event about a component. */
function changesOf(app: TestApp): string[] {
  return app
    .events()
    .filter(({ type }) => type === "component.status_changed")
    .map(({ data }) => `${data["status"]} ${data["notify"]}`);
}

describe("notify in the events of component statuses", () => {
  test("the event of a component status has the notify of the incident's update", async () => {
    await using site = await createIncidentSite();
    const major = { [site.api]: "major_outage" };
    const { id } = await site.open({ components: major, notify: false });
    await site.update(id, { components: { [site.api]: "partial_outage" } });
    await site.update(id, { status: "resolved", notify: false });
    expect(changesOf(site.app)).toEqual([
      "major_outage false",
      "partial_outage true",
      "operational false",
    ]);
  });

  test("the event of a component status has the notify of a published draft's first update", async () => {
    await using site = await createIncidentSite();
    for (const notify of [false, true]) {
      const components = { [site.api]: notify ? "major_outage" : "partial_outage" };
      const { id } = await site.open({ components, draft: true, notify });
      await site.patch(id, { draft: false });
    }
    expect(changesOf(site.app)).toEqual(["partial_outage false", "major_outage true"]);
  });

  test("the event of a component status has the notify of the maintenance, or of its update if that has one", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    await site.plan({ notify: false });
    await site.clock.advance(3 * HOUR_MS);
    expect(changesOf(site.app)).toEqual(["under_maintenance false", "operational false"]);
    const later = { scheduled_for: at("18:00:00"), scheduled_until: at("19:00:00") };
    const id = await site.plan(later);
    await site.update(id, { status: "in_progress", body: "Early.", notify: false });
    await site.update(id, { status: "completed", body: "Done." });
    expect(changesOf(site.app).slice(2)).toEqual(["under_maintenance false", "operational true"]);
  });

  test("the event of a component status that an API key sets has no notify", async () => {
    await using site = await createIncidentSite();
    const sent = { method: "PATCH", key: site.key, json: { status: "partial_outage" } };
    expect((await site.app.call(`/api/v1/components/${site.api}`, sent)).status).toBe(200);
    expect(changesOf(site.app)).toEqual(["partial_outage undefined"]);
  });
});

describe("the event of a component with many causes", () => {
  /** Of so many causes the last one is the worst, and is what the component shows. */
  async function causedBy(site: IncidentSite, count: number) {
    for (let n = 1; n < count; n++) {
      await site.open({ components: { [site.api]: "degraded_performance" } });
    }
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    const event = site.app.events().findLast(({ type }) => type === "component.status_changed");
    return { worst: id, data: event?.data ?? {} };
  }

  test("the event of a component with 81 causes stays below 19 KB, includes the worst cause and is marked as truncated", async () => {
    await using site = await createIncidentSite();
    const { ctx } = site.app;
    const texts = { name: "🚒".repeat(255), description: "\u0001".repeat(1_000) };
    await ctx.db.write((tx) => updateComponent(ctx, tx, site.api, texts, CLI_ACTOR));
    const { worst, data } = await causedBy(site, 81);
    expect(data).toMatchObject({ ...texts, truncated: true, old_status: "degraded_performance" });
    expect(data["causes"]).toHaveLength(80);
    expect(data["causes"]).toContainEqual({
      source: "incident",
      id: worst,
      status: "major_outage",
    });
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThan(19_000);
  });

  test("the event of a component with five causes contains all of them", async () => {
    await using site = await createIncidentSite();
    const { data } = await causedBy(site, 5);
    expect(data["causes"]).toHaveLength(5);
    expect(data["truncated"]).toBeUndefined();
  });
});
