import { describe, expect, test } from "bun:test";
import { createPublicSite, type PublicSite } from "../../support/public-site";

const NOW = "2026-03-10T12:00:00.000Z";

async function read(site: PublicSite, document: string) {
  const answer = await site.app.call(`/status/acme/api/v2/${document}.json`);
  expect(answer.status).toBe(200);
  return answer.body;
}

/** Returns the page object that every document contains. */
function pageOf(site: PublicSite) {
  return {
    id: site.page.id,
    name: "Acme",
    url: "https://status.test/status/acme",
    time_zone: "UTC",
    updated_at: NOW,
  };
}

/** A component as it is when nothing is wrong with it. */
function componentOf(site: PublicSite, name: string, more: Record<string, unknown> = {}) {
  return {
    id: site.ids[name],
    name,
    status: "operational",
    created_at: NOW,
    updated_at: NOW,
    position: 0,
    description: null,
    showcase: true,
    start_date: null,
    group_id: null,
    page_id: site.page.id,
    group: false,
    only_show_if_degraded: false,
    ...more,
  };
}

const DOCS = { position: 2, description: "The manual", start_date: "2026-01-01" };

describe("the shapes of Statuspage's documents", () => {
  test("status.json has Statuspage's shape", async () => {
    await using site = await createPublicSite();
    expect(await read(site, "status")).toEqual({
      page: pageOf(site),
      status: { indicator: "none", description: "All Systems Operational" },
    });
  });

  test("components.json lists components without a group, then each group followed by its components", async () => {
    await using site = await createPublicSite();
    const { API, Web } = site.ids;
    const json = { status: "partial_outage" };
    const path = `/api/v1/components/${Web}`;
    await site.app.call(path, { method: "PATCH", key: site.key, json });
    const [group] = (await site.document()).groups;
    const inGroup = { group_id: group.id };
    const { page, components } = await read(site, "components");
    expect(page).toEqual(pageOf(site));
    expect(components).toEqual([
      componentOf(site, "Docs", DOCS),
      {
        ...componentOf(site, "Core"),
        id: group.id,
        status: "partial_outage",
        showcase: false,
        group: true,
        components: [API, Web],
      },
      componentOf(site, "API", inGroup),
      componentOf(site, "Web", { ...inGroup, position: 1, status: "partial_outage" }),
    ]);
  });

  test("incidents.json and incidents/unresolved.json have Statuspage's shape", async () => {
    await using site = await createPublicSite();
    const { Docs = "" } = site.ids;
    const { id, url, updates } = await site.open({
      body: "We *look* into it.",
      components: { [Docs]: "major_outage" },
    });
    const second = await site.update(id, { status: "monitoring", body: "Mended?", notify: false });
    const update = (of: { id: string }) => ({
      id: of.id,
      incident_id: id,
      created_at: NOW,
      updated_at: NOW,
      display_at: NOW,
      custom_tweet: null,
      tweet_id: null,
    });
    const incident = {
      id,
      name: "Errors",
      status: "monitoring",
      created_at: NOW,
      updated_at: NOW,
      monitoring_at: NOW,
      resolved_at: null,
      impact: "critical",
      shortlink: url,
      started_at: NOW,
      page_id: site.page.id,
      components: [componentOf(site, "Docs", { ...DOCS, status: "major_outage" })],
      incident_updates: [
        {
          ...update(second),
          status: "monitoring",
          body: "Mended?",
          affected_components: null,
          deliver_notifications: false,
        },
        {
          ...update(updates[0]),
          status: "investigating",
          body: "We *look* into it.",
          affected_components: [
            {
              code: Docs,
              name: "Docs",
              old_status: "operational",
              new_status: "major_outage",
            },
          ],
          deliver_notifications: true,
        },
      ],
    };
    const expected = { page: pageOf(site), incidents: [incident] };
    expect(await read(site, "incidents")).toEqual(expected);
    expect(await read(site, "incidents/unresolved")).toEqual(expected);
  });

  test("scheduled-maintenances.json and its upcoming and active lists have Statuspage's shape", async () => {
    await using site = await createPublicSite();
    const span = ["2026-03-10T13:00:00.000Z", "2026-03-10T14:00:00.000Z"] as const;
    const { id, url, updates } = await site.plan(...span, { components: [site.ids["Docs"]] });
    const maintenance = {
      id,
      name: "Upgrade",
      status: "scheduled",
      created_at: NOW,
      updated_at: NOW,
      monitoring_at: null,
      resolved_at: null,
      impact: "maintenance",
      shortlink: url,
      started_at: span[0],
      page_id: site.page.id,
      components: [componentOf(site, "Docs", DOCS)],
      scheduled_for: span[0],
      scheduled_until: span[1],
      incident_updates: [
        {
          id: updates[0].id,
          status: "scheduled",
          body: "Planned.",
          incident_id: id,
          created_at: NOW,
          updated_at: NOW,
          display_at: NOW,
          affected_components: null,
          deliver_notifications: true,
          custom_tweet: null,
          tweet_id: null,
        },
      ],
    };
    const page = pageOf(site);
    const toCome = { page, scheduled_maintenances: [maintenance] };
    expect(await read(site, "scheduled-maintenances")).toEqual(toCome);
    expect(await read(site, "scheduled-maintenances/upcoming")).toEqual(toCome);
    const nothing = { page, scheduled_maintenances: [] };
    expect(await read(site, "scheduled-maintenances/active")).toEqual(nothing);
    await site.updateMaintenance(id, { status: "in_progress" });
    expect(await read(site, "scheduled-maintenances/upcoming")).toEqual(nothing);
    const [active] = (await read(site, "scheduled-maintenances/active")).scheduled_maintenances;
    expect(active).toMatchObject({ id, status: "in_progress", started_at: NOW });
    expect(active.components[0].status).toBe("under_maintenance");
    await site.updateMaintenance(id, { status: "completed" });
    expect(await read(site, "scheduled-maintenances/active")).toEqual(nothing);
    const [over] = (await read(site, "scheduled-maintenances")).scheduled_maintenances;
    expect(over).toMatchObject({ id, status: "completed", resolved_at: NOW });
  });

  test("summary.json combines the other documents", async () => {
    await using site = await createPublicSite();
    await site.open({ components: { [site.ids["API"] ?? ""]: "partial_outage" } });
    const over = await site.open({ name: "Over" });
    await site.update(over.id, { status: "resolved" });
    const { id } = await site.plan("2026-03-10T13:00:00Z", "2026-03-10T14:00:00Z");
    await site.updateMaintenance(id, { status: "in_progress" });
    await site.plan("2026-03-11T13:00:00Z", "2026-03-11T14:00:00Z");
    const { page, status } = await read(site, "status");
    const [active, upcoming] = await Promise.all(
      ["active", "upcoming"].map((which) => read(site, `scheduled-maintenances/${which}`)),
    );
    expect(await read(site, "summary")).toEqual({
      page,
      components: (await read(site, "components")).components,
      incidents: (await read(site, "incidents/unresolved")).incidents,
      scheduled_maintenances: [
        ...active.scheduled_maintenances,
        ...upcoming.scheduled_maintenances,
      ],
      status,
    });
    expect(status.indicator).toBe("major");
  });
});
