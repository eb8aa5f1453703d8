import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createIncidentDashboard } from "../../support/incident-dashboard";
import { createIncidentSite, type IncidentSite } from "../../support/incident-site";

/** Opens an incident and adds updates until it has `count`, the first included. */
async function openFull(site: IncidentSite, count = 250): Promise<string> {
  const { id } = await site.open();
  await Promise.all(Array.from({ length: count - 1 }, () => site.update(id, {})));
  return id;
}

describe("the updates of an incident", () => {
  test("update 251 of an incident is a conflict that suggests a new incident", async () => {
    await using site = await createIncidentSite();
    const id = await openFull(site, 249);
    expect((await site.update(id, {})).status).toBe(201);
    const before = await site.state();
    const rejected = await site.update(id, { status: "monitoring" });
    expect(expectProblem(rejected, "conflict").detail).toBe(
      "The incident has 250 updates, the most that it can have. Resolve it, or open a new incident for what follows.",
    );
    expect(await site.state()).toEqual(before);
    expect((await site.read(id)).updates).toHaveLength(250);
  });

  test("concurrent updates never exceed 250 on one incident", async () => {
    await using site = await createIncidentSite();
    const id = await openFull(site, 245);
    const answers = await Promise.all(Array.from({ length: 20 }, () => site.update(id, {})));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(5);
    expect(statuses.filter((status) => status === 409)).toHaveLength(15);
  });

  test("a full incident accepts one resolving update, and then no reopening", async () => {
    await using site = await createIncidentSite();
    const id = await openFull(site);
    const resolved = await site.update(id, {
      status: "resolved",
      body: "It is over.",
      components: { [site.api]: "operational" },
    });
    expect(resolved.status).toBe(201);
    expect((await site.read(id)).status).toBe("resolved");
    expectProblem(await site.update(id, { status: "resolved" }), "conflict");
    expectProblem(await site.update(id, { status: "investigating" }), "conflict");
    expect((await site.read(id)).updates).toHaveLength(251);
  });

  test("update 251 dated before the newest is a conflict, since it resolves nothing", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    await site.app.clock.advance(60_000);
    await Promise.all(Array.from({ length: 249 }, () => site.update(id, {})));
    const then = new Date(site.app.clock.now() - 30_000).toISOString();
    const answer = await site.update(id, { status: "resolved", display_at: then });
    expectProblem(answer, "conflict");
  });

  test("the resolving update of a full incident cannot be moved before another update", async () => {
    await using site = await createIncidentSite();
    const { id, started_at: start } = await site.open();
    await site.app.clock.advance(60_000);
    await Promise.all(Array.from({ length: 249 }, () => site.update(id, {})));
    await site.app.clock.advance(60_000);
    const resolved = await site.update(id, { status: "resolved", body: "Over." });
    expect(resolved.status).toBe(201);
    const edit = (json: object) =>
      site.app.call(`/api/v1/incidents/${id}/updates/${resolved.body.id}`, {
        method: "PATCH",
        key: site.key,
        json,
      });
    const before = await site.state();
    expect(expectProblem(await edit({ display_at: start }), "conflict").detail).toBe(
      "The incident has 250 updates, the most that it can have. It cannot be reopened: open a new incident.",
    );
    expect(await site.state()).toEqual(before);
    expectProblem(await site.update(id, { status: "resolved" }), "conflict");
    const later = new Date(site.app.clock.now() - 30_000).toISOString();
    expect((await edit({ display_at: later, body: "It is over." })).status).toBe(200);
    expect(await site.read(id)).toMatchObject({ status: "resolved", resolved_at: later });
    expect((await site.read(id)).updates).toHaveLength(251);
  });

  test("the resolving update of an incident that is not full can be moved, which reopens it", async () => {
    await using site = await createIncidentSite();
    const { id, started_at: start } = await site.open();
    await site.app.clock.advance(60_000);
    await site.update(id, {});
    const resolved = await site.update(id, { status: "resolved" });
    const edited = await site.app.call(`/api/v1/incidents/${id}/updates/${resolved.body.id}`, {
      method: "PATCH",
      key: site.key,
      json: { display_at: start },
    });
    expect(edited.status).toBe(200);
    expect((await site.read(id)).status).toBe("investigating");
  });

  test("the updates of a full incident can be edited", async () => {
    await using site = await createIncidentSite();
    const id = await openFull(site);
    const { updates } = await site.read(id);
    const edited = await site.app.call(`/api/v1/incidents/${id}/updates/${updates[0].id}`, {
      method: "PATCH",
      key: site.key,
      json: { body: "Spelled right." },
    });
    expect(edited.status).toBe(200);
  });

  test("the updates of an incident name at most 10,000 components, except in the resolving update", async () => {
    await using site = await createIncidentSite();
    const names = Array.from({ length: 1_000 }, (_, index) => `Component ${index}`);
    const { components } = await site.app.page({ slug: "large" }, names);
    const [first = ""] = Object.values(components);
    const all = Object.fromEntries(Object.values(components).map((id) => [id, "major_outage"]));
    // A draft opens no causes, which would take long.
    const { id } = await site.open({ page: "large", components: all, draft: true });
    for (let count = 2; count <= 10; count++) {
      expect((await site.update(id, { components: all })).status).toBe(201);
    }
    const rejected = await site.update(id, { components: { [first]: "operational" } });
    expect(expectProblem(rejected, "conflict").detail).toBe(
      "The updates of the incident name as many components as they can. Resolve it, or open a new incident for what follows.",
    );
    expect((await site.update(id, { body: "Naming nothing." })).status).toBe(201);
    const resolved = { status: "resolved", components: { [first]: "operational" } };
    expect((await site.update(id, resolved)).status).toBe(201);
  });
});

describe("the form for the next update of a full incident", () => {
  test("the update form of a full incident keeps the typed text, shows the reason and can resolve the incident", async () => {
    await using dashboard = await createIncidentDashboard();
    const { site } = dashboard;
    const id = await openFull(site);
    const rejected = await dashboard.addUpdate(id, { body: "One too many." });
    expect(rejected.status).toBe(409);
    expect(rejected.text).toContain("The incident has 250 updates, the most that it can have.");
    expect(rejected.text).toContain("One too many.");
    expect((await dashboard.addUpdate(id, { status: "resolved" })).status).toBe(303);
    expect((await site.read(id)).status).toBe("resolved");
  });
});
