import { describe, expect, test } from "bun:test";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS } from "../../../src/base/time";
import { createIncidentSite, type IncidentSite } from "../../support/incident-site";

const at = (time: string) => `2026-03-10T${time}:00.000Z`;

/** Ten hours after the components were made: what they are known for. */
async function createSiteWithPast(): Promise<IncidentSite> {
  const site = await createIncidentSite();
  await site.app.clock.advance(10 * HOUR_MS);
  return site;
}

async function uptimeOf({ app, key }: IncidentSite): Promise<number> {
  return (await app.call("/api/v1/status/acme", { key })).body.components[0].uptime_90d;
}

describe("the uptime of a component", () => {
  test("the uptime of a component includes a backdated incident and its backdated updates", async () => {
    await using site = await createSiteWithPast();
    expect(await uptimeOf(site)).toBe(1);
    const { id } = await site.open({
      started_at: at("13:00"),
      resolved_at: at("17:00"),
      components: { [site.api]: "major_outage" },
    });
    expect(await uptimeOf(site)).toBe(0.6);
    const components = { [site.api]: "degraded_performance" };
    await site.update(id, { status: "monitoring", display_at: at("15:00"), components });
    expect(await uptimeOf(site)).toBe(0.8);
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
  });

  test("the uptime of a component changes with an edit of an incident's start and end", async () => {
    await using site = await createSiteWithPast();
    const { id } = await site.open({
      started_at: at("13:00"),
      resolved_at: at("17:00"),
      components: { [site.api]: "major_outage" },
    });
    await site.patch(id, { started_at: at("16:00") });
    expect(await uptimeOf(site)).toBe(0.9);
    await site.patch(id, { resolved_at: at("18:00") });
    expect(await uptimeOf(site)).toBe(0.8);
    await site.patch(id, { resolved_at: at("16:00") });
    expect(await uptimeOf(site)).toBe(1);
  });

  test("the uptime of a component changes with a moved update", async () => {
    await using site = await createSiteWithPast();
    const { id } = await site.open({
      started_at: at("12:00"),
      components: { [site.api]: "major_outage" },
    });
    expect(await uptimeOf(site)).toBe(0);
    const { body } = await site.update(id, { status: "resolved" });
    await site.patch(`${id}/updates/${body.id}`, { display_at: at("17:00") });
    expect(await uptimeOf(site)).toBe(0.5);
  });

  test("the uptime of a component does not count the resolved time before a reopening", async () => {
    await using site = await createSiteWithPast();
    const { id } = await site.open({
      started_at: at("12:00"),
      components: { [site.api]: "major_outage" },
    });
    await site.update(id, { status: "resolved", display_at: at("13:00") });
    await site.update(id, { status: "identified", display_at: at("15:00") });
    expect((await site.shown()).api).toBe("major_outage");
    await site.update(id, { status: "resolved", display_at: at("17:00") });
    expect(await uptimeOf(site)).toBe(0.7);
  });

  test("the uptime of a component counts a manual status set by a resolving update from its display_at", async () => {
    await using site = await createSiteWithPast();
    const { id } = await site.open({ started_at: at("12:00") });
    await site.update(id, {
      status: "resolved",
      display_at: at("20:00"),
      components: { [site.api]: "major_outage" },
    });
    expect((await site.shown()).api).toBe("major_outage");
    expect(await uptimeOf(site)).toBe(0.8);
  });

  test("the uptime of a component keeps the time of a deleted incident, whose causes end", async () => {
    await using site = await createSiteWithPast();
    const { id } = await site.open({
      started_at: at("17:00"),
      components: { [site.api]: "major_outage" },
    });
    await site.app.ctx.db.write((tx) => deleteIncident(site.app.ctx, tx, id, CLI_ACTOR));
    expect((await site.shown()).api).toBe("operational");
    await site.app.clock.advance(10 * HOUR_MS);
    expect(await uptimeOf(site)).toBe(0.75);
  });
});
