import { describe, expect, test } from "bun:test";
import { createIncidentSite } from "../../support/incident-site";

describe("resolving an incident", () => {
  test("resolving an incident keeps the causes of others, and resolving all makes the component operational", async () => {
    await using site = await createIncidentSite();
    const first = await site.open({ components: { [site.api]: "major_outage" } });
    const second = await site.open({ components: { [site.api]: "degraded_performance" } });
    site.newEventTypes();
    await site.update(first.id, { status: "resolved" });
    expect((await site.shown()).api).toBe("degraded_performance");
    expect(site.newEventTypes()).toEqual(["incident.resolved", "component.status_changed"]);
    await site.update(second.id, { status: "resolved" });
    expect((await site.shown()).api).toBe("operational");
    expect(site.newEventTypes()).toEqual(["incident.resolved", "component.status_changed"]);
  });

  test("a resolving update sets the manual status of the components that it names", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    site.newEventTypes();
    await site.update(id, {
      status: "resolved",
      components: { [site.api]: "degraded_performance" },
    });
    const { body } = await site.app.call(`/api/v1/components/${site.api}`, { key: site.key });
    expect(body).toMatchObject({
      status: "degraded_performance",
      baseline_status: "degraded_performance",
      causes: [{ source: "api", status: "degraded_performance" }],
    });
    expect(site.newEventTypes()).toEqual(["incident.resolved", "component.status_changed"]);
    expect((await site.read(id)).components).toMatchObject([{ status: "degraded_performance" }]);
  });

  test("a resolving update replaces an earlier manual status and records one event", async () => {
    await using site = await createIncidentSite();
    await site.app.call(`/api/v1/components/${site.api}`, {
      method: "PATCH",
      key: site.key,
      json: { status: "partial_outage" },
    });
    const { id } = await site.open({ components: { [site.api]: "degraded_performance" } });
    expect((await site.shown()).api).toBe("partial_outage");
    site.newEventTypes();
    await site.update(id, { status: "resolved", components: { [site.api]: "operational" } });
    expect((await site.shown()).api).toBe("operational");
    expect(site.newEventTypes()).toEqual(["incident.resolved", "component.status_changed"]);
  });

  test("a backdated update does not undo a later manual status", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ started_at: "2026-03-10T10:00:00Z" });
    await site.update(id, { status: "resolved", components: { [site.api]: "partial_outage" } });
    await site.app.call(`/api/v1/components/${site.api}`, {
      method: "PATCH",
      key: site.key,
      json: { status: "operational" },
    });
    await site.update(id, { status: "identified", display_at: "2026-03-10T11:00:00Z" });
    expect((await site.shown()).api).toBe("operational");
  });

  test("an update of a resolved incident keeps it resolved and records incident.updated", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    await site.update(id, { status: "resolved" });
    const { resolved_at } = await site.read(id);
    await site.app.clock.advance(60_000);
    site.newEventTypes();
    const { body } = await site.update(id, { body: "Some words more." });
    expect(body.status).toBe("resolved");
    expect(site.newEventTypes()).toEqual(["incident.updated"]);
    expect((await site.read(id)).resolved_at).toBe(resolved_at);
  });
});

describe("reopening an incident", () => {
  const causes = { api: "major_outage", web: "degraded_performance" };

  test("reopening an incident restores the causes that it had when it was resolved", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    await site.update(id, { components: { [site.web]: "degraded_performance" } });
    await site.update(id, { status: "resolved", components: { [site.api]: "operational" } });
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
    site.newEventTypes();
    await site.update(id, { status: "investigating" });
    expect(await site.shown()).toEqual(causes);
    expect(site.newEventTypes()).toEqual([
      "incident.reopened",
      "component.status_changed",
      "component.status_changed",
    ]);
    expect(await site.read(id)).toMatchObject({ status: "investigating", resolved_at: null });
  });

  test("reopening an incident with components applies only the statuses that the update names", async () => {
    await using site = await createIncidentSite();
    const components = { [site.api]: "major_outage", [site.web]: "degraded_performance" };
    const { id } = await site.open({ components });
    await site.update(id, { status: "resolved" });
    await site.update(id, {
      status: "monitoring",
      components: { [site.web]: "partial_outage" },
    });
    expect(await site.shown()).toEqual({ api: "operational", web: "partial_outage" });
    expect((await site.read(id)).components).toEqual([
      { id: site.api, name: "API", status: "operational" },
      { id: site.web, name: "Web", status: "partial_outage" },
    ]);
  });

  test("resolving an incident after two reopenings ends all its causes", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    for (const status of ["resolved", "investigating", "resolved", "identified", "resolved"]) {
      await site.app.clock.advance(60_000);
      await site.update(id, { status });
    }
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
    expect((await site.read(id)).resolved_at).toBe("2026-03-10T12:05:00.000Z");
  });
});
