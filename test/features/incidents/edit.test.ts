import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createIncidentSite } from "../../support/incident-site";

const at = (time: string) => `2026-03-10T${time}:00.000Z`;

describe("PATCH /api/v1/incidents/{id}", () => {
  test("an edit of an incident changes only the given fields and records one event with notify: false", async () => {
    await using site = await createIncidentSite();
    const before = await site.open({ external_ref: "deploy-42" });
    await site.app.clock.advance(60_000);
    site.newEventTypes();
    const { body } = await site.patch(before.id, { name: "Slow answers" });
    expect(body).toEqual({
      ...before,
      name: "Slow answers",
      version: 2,
      updated_at: at("12:01"),
    });
    expect(site.newEventTypes()).toEqual(["incident.updated"]);
    expect(site.app.events().at(-1)?.data).toMatchObject({ name: "Slow answers", notify: false });
    expect(site.app.audit().at(-1)).toMatchObject({ action: "incident.update" });
  });

  test("an edit of an incident with null clears optional fields", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ external_ref: "x", impact_override: "major" });
    const { body } = await site.patch(id, { external_ref: null, impact_override: null });
    expect(body).toMatchObject({ external_ref: null, impact_override: null, impact: "none" });
  });

  test("an edit of an incident to its current values changes nothing and records no event", async () => {
    await using site = await createIncidentSite();
    const { id, name, started_at } = await site.open();
    const before = await site.state();
    const { body } = await site.patch(id, { name, started_at, draft: false, external_ref: null });
    expect(body.version).toBe(1);
    expect(await site.state()).toEqual(before);
  });

  test.each([
    [{}, "#"],
    [{ status: "resolved" }, "#/status"],
    [{ components: {} }, "#/components"],
    [{ draft: true }, "#/draft"],
    [{ name: null }, "#/name"],
    [{ name: "\u2066x" }, "#/name"],
    [{ started_at: null }, "#/started_at"],
    [{ resolved_at: null }, "#/resolved_at"],
    [{ started_at: "2026-03-10T12:02:00Z" }, "#/started_at"],
    [{ identified_at: "2026-03-10T12:02:00Z" }, "#/identified_at"],
    [{ monitoring_at: "2026-03-10T10:59:00Z" }, "#/monitoring_at"],
    [{ resolved_at: "2026-03-10T10:59:00Z" }, "#/resolved_at"],
    [{ started_at: "2026-03-10T11:45:00Z" }, "#/started_at"],
  ])(
    "an edit of an incident with %j is rejected at %s, and nothing is written",
    async (json, pointer) => {
      await using site = await createIncidentSite();
      const { id } = await site.open({ started_at: at("11:00") });
      await site.update(id, { status: "resolved", display_at: at("11:30") });
      const before = await site.state();
      const problem = expectProblem(await site.patch(id, json), "validation_failed");
      expect(problem.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
      expect(await site.state()).toEqual(before);
    },
  );

  test("an edit of resolved_at is a conflict for an open incident and succeeds for a resolved one", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ started_at: at("11:00") });
    const before = await site.state();
    expectProblem(await site.patch(id, { resolved_at: at("11:30") }), "conflict");
    expect(await site.state()).toEqual(before);
    await site.update(id, { status: "resolved" });
    expect((await site.patch(id, { resolved_at: at("11:30") })).body.resolved_at).toBe(at("11:30"));
  });

  test("times of an incident that were set explicitly survive updates, others derive from updates", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ started_at: at("11:00") });
    await site.patch(id, { identified_at: at("11:10") });
    await site.update(id, { status: "identified" });
    await site.update(id, { status: "monitoring", display_at: at("11:50") });
    await site.update(id, { status: "resolved" });
    expect(await site.read(id)).toMatchObject({
      identified_at: at("11:10"),
      monitoring_at: at("11:50"),
      resolved_at: at("12:00"),
    });
    await site.patch(id, { monitoring_at: null });
    await site.update(id, { status: "monitoring" });
    expect(await site.read(id)).toMatchObject({ monitoring_at: null, resolved_at: null });
  });

  test("an edit of an unknown incident is not_found", async () => {
    await using site = await createIncidentSite();
    expectProblem(await site.patch("inc_00000000000000000000000000", { name: "x" }), "not_found");
    expectProblem(await site.patch("nonsense", { name: "x" }), "not_found");
  });
});
