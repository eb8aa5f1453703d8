import { describe, expect, test } from "bun:test";
import { deleteComponent } from "../../../src/features/components/components";
import { CLI_ACTOR } from "../../../src/base/actor";
import { expectProblem } from "../../support/app";
import { createIncidentSite, INCIDENTS } from "../../support/incident-site";
import { MAIL_OFF, withoutMail } from "../../support/written-mail";

describe("POST /api/v1/incidents/{id}/updates", () => {
  test("POST of an update returns the update, which can be read at its Location", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ components: { [site.api]: "partial_outage" } });
    await site.app.clock.advance(60_000);
    const json = {
      status: "identified",
      body: "A cable.",
      components: { [site.api]: "major_outage" },
    };
    const answer = await site.update(id, json);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^upd_/),
      incident_id: id,
      version: 2,
      status: "identified",
      body: "A cable.",
      components: [
        { id: site.api, name: "API", old_status: "partial_outage", new_status: "major_outage" },
      ],
      display_at: "2026-03-10T12:01:00.000Z",
      created_at: "2026-03-10T12:01:00.000Z",
      mail: MAIL_OFF,
    });
    const location = answer.headers.get("location") ?? "";
    expect(location).toBe(`https://status.test${INCIDENTS}/${id}/updates/${answer.body.id}`);
    const there = await site.app.call(location.slice("https://status.test".length), {
      key: site.key,
    });
    expect(there.body).toEqual(withoutMail(answer.body));
    expect(await site.read(id)).toMatchObject({
      status: "identified",
      impact: "critical",
      identified_at: "2026-03-10T12:01:00.000Z",
      version: 2,
      components: [{ id: site.api, status: "major_outage" }],
    });
    expect((await site.shown()).api).toBe("major_outage");
  });

  test("an incident can change from any status to any other", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    const all = ["investigating", "identified", "monitoring", "resolved"];
    for (const from of all) {
      for (const to of all) {
        expect((await site.update(id, { status: from })).status).toBe(201);
        expect((await site.update(id, { status: to })).status).toBe(201);
        expect((await site.read(id)).status).toBe(to);
      }
    }
  });

  test("an update without status and components keeps those of the incident", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({
      status: "monitoring",
      components: { [site.api]: "partial_outage" },
    });
    const { body } = await site.update(id, {});
    expect(body).toMatchObject({ status: "monitoring", components: [] });
    expect((await site.shown()).api).toBe("partial_outage");
    const { version } = (await site.app.call(`/api/v1/components/${site.api}`, { key: site.key }))
      .body;
    await site.update(id, {});
    const after = await site.app.call(`/api/v1/components/${site.api}`, { key: site.key });
    expect(after.body.version).toBe(version);
  });

  test("an incident keeps the impact of the worst status that it ever named", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    await site.update(id, { components: { [site.api]: "operational" } });
    expect(await site.read(id)).toMatchObject({
      impact: "critical",
      components: [{ id: site.api, status: "operational" }],
    });
    expect((await site.shown()).api).toBe("operational");
  });

  test("an incident keeps the name of a deleted component", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    await site.app.ctx.db.write((tx) => deleteComponent(site.app.ctx, tx, site.api, CLI_ACTOR));
    expect((await site.read(id)).components).toEqual([
      { id: site.api, name: "API", status: "major_outage" },
    ]);
    expect((await site.update(id, { status: "resolved" })).status).toBe(201);
    expectProblem(
      await site.update(id, { components: { [site.api]: "operational" } }),
      "validation_failed",
    );
  });

  test("a new update is the newest even if the clock was set back", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    site.app.clock.setWallClock(site.app.clock.now() - 3_600_000);
    await site.update(id, { status: "resolved" });
    expect((await site.read(id)).status).toBe("resolved");
  });

  test("the update written later counts if two have the same display_at", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    const display_at = "2026-03-10T12:00:00Z";
    await site.update(id, { status: "identified", display_at });
    await site.update(id, { status: "monitoring", display_at });
    expect((await site.read(id)).status).toBe("monitoring");
  });

  test("updates of an unknown or another incident are not_found", async () => {
    await using site = await createIncidentSite();
    const unknown = "inc_00000000000000000000000000";
    expectProblem(await site.update(unknown, {}), "not_found");
    const { id, updates } = await site.open();
    const other = await site.open();
    const path = `${INCIDENTS}/${other.id}/updates/${updates[0].id}`;
    expectProblem(await site.app.call(path, { key: site.key }), "not_found");
    expect((await site.app.call(path.replace(other.id, id), { key: site.key })).status).toBe(200);
  });
});
