import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createIncidentSite } from "../../support/incident-site";

const at = (time: string) => `2026-03-10T${time}:00.000Z`;

describe("PATCH /api/v1/incidents/{id}/updates/{update_id}", () => {
  test("editing an update changes its text, keeps its times and notifies no people", async () => {
    await using site = await createIncidentSite();
    const { id, updates } = await site.open();
    await site.app.clock.advance(60_000);
    site.newEventTypes();
    const path = `${id}/updates/${updates[0].id}`;
    const { body } = await site.patch(path, { body: "We looked into it." });
    expect(body).toMatchObject({
      id: updates[0].id,
      incident_id: id,
      version: 2,
      body: "We looked into it.",
      display_at: at("12:00"),
      created_at: at("12:00"),
    });
    expect(site.newEventTypes()).toEqual(["incident.updated"]);
    expect(site.app.events().at(-1)?.data).toMatchObject({
      latest_update: { body: "We looked into it." },
      notify: false,
    });
    expect((await site.read(id)).updated_at).toBe(at("12:01"));
  });

  test("moving an update moves the incident's times that derive from it", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ started_at: at("10:00") });
    const resolving = await site.update(id, { status: "resolved" });
    const path = `${id}/updates/${resolving.body.id}`;
    const { body } = await site.patch(path, { display_at: at("11:00") });
    expect(body).toMatchObject({ display_at: at("11:00"), created_at: at("12:00") });
    expect((await site.read(id)).resolved_at).toBe(at("11:00"));
  });

  test("an edit of an update to its current values changes nothing", async () => {
    await using site = await createIncidentSite();
    const { id, updates } = await site.open();
    const before = await site.state();
    const [{ id: updateId, body, display_at }] = updates;
    expect((await site.patch(`${id}/updates/${updateId}`, { body, display_at })).status).toBe(200);
    expect(await site.state()).toEqual(before);
  });

  test.each([
    [{}, "#"],
    [{ body: "" }, "#/body"],
    [{ body: "x".repeat(10_001) }, "#/body"],
    [{ status: "resolved" }, "#/status"],
    [{ created_at: at("11:00") }, "#/created_at"],
    [{ display_at: at("09:59") }, "#/display_at"],
    [{ display_at: at("12:02") }, "#/display_at"],
  ])(
    "an edit of an update with %j is rejected at %s, and nothing is written",
    async (json, pointer) => {
      await using site = await createIncidentSite();
      const { id } = await site.open({ started_at: at("10:00") });
      const { body } = await site.update(id, {});
      const before = await site.state();
      const answer = await site.patch(`${id}/updates/${body.id}`, json);
      const { errors } = expectProblem(answer, "validation_failed");
      expect(errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
      expect(await site.state()).toEqual(before);
    },
  );

  test("an update of another incident is not found", async () => {
    await using site = await createIncidentSite();
    const [one, two] = [await site.open(), await site.open()];
    const answer = await site.patch(`${one.id}/updates/${two.updates[0].id}`, { body: "x" });
    expectProblem(answer, "not_found");
  });
});
