import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createIncidentSite, INCIDENTS } from "../../support/incident-site";

describe("a draft", () => {
  test("a draft and its changes affect no component, record no event and change no page", async () => {
    await using site = await createIncidentSite();
    const document = async () =>
      (await site.app.call("/api/v1/status/acme", { key: site.key })).text;
    const before = await document();
    const draft = await site.open({ draft: true, components: { [site.api]: "major_outage" } });
    expect(draft).toMatchObject({ draft: true, impact: "critical" });
    await site.update(draft.id, {
      status: "identified",
      components: { [site.web]: "major_outage" },
    });
    await site.patch(draft.id, { name: "Better" });
    await site.patch(`${draft.id}/updates/${draft.updates[0].id}`, { body: "Better" });
    await site.app.call(`${INCIDENTS}/${draft.id}/postmortem`, {
      method: "PUT",
      key: site.key,
      json: { body: "Why", publish: true },
    });
    expect(site.newEventTypes()).toEqual([]);
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
    expect(await document()).toBe(before);
    expect(site.app.audit().at(-1)).toMatchObject({ action: "incident.write_postmortem" });
  });

  test("a draft is visible only to keys with both read:status and write:incidents", async () => {
    await using site = await createIncidentSite();
    const { id, updates } = await site.open({ draft: true });
    const open = await site.open();
    const reader = await site.app.keyWith("read:status");
    const writer = await site.app.keyWith("write:incidents");
    const path = `${INCIDENTS}/${id}`;
    const update = `${path}/updates/${updates[0].id}`;
    const before = await site.state();
    expectProblem(await site.app.call(path, { key: reader }), "not_found");
    expectProblem(await site.app.call(update, { key: reader }), "not_found");
    const rejected = [
      await site.patch(id, { draft: false }, { key: writer }),
      await site.update(id, {}, { key: writer }),
      await site.app.call(update, { method: "PATCH", key: writer, json: { body: "x" } }),
      await site.app.call(`${path}/postmortem`, {
        method: "PUT",
        key: writer,
        json: { body: "x" },
      }),
    ];
    for (const answer of rejected) expectProblem(answer, "not_found");
    expect(await site.state()).toEqual(before);
    const listed = async (key: string) =>
      (await site.app.call(INCIDENTS, { key })).body.data.map((each: { id: string }) => each.id);
    expect(await listed(reader)).toEqual([open.id]);
    expect(await listed(site.key)).toEqual([open.id, id]);
    expect((await site.app.call(path, { key: site.key })).status).toBe(200);
    expect((await site.app.call(update, { key: site.key })).status).toBe(200);
  });

  test("the answer to creating a draft contains it, but the key needs both scopes to change it", async () => {
    await using site = await createIncidentSite();
    const key = await site.app.keyWith("write:incidents");
    const answer = await site.post({ draft: true }, { key });
    expect(answer.body.draft).toBe(true);
    expectProblem(await site.patch(answer.body.id, { name: "x" }, { key }), "not_found");
  });

  test("publishing a draft records incident.created with its newest update and applies its statuses from its start", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ draft: true, components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(600_000);
    await site.update(id, { status: "identified", body: "Found.", notify: false });
    const { body } = await site.patch(id, { draft: false });
    expect(body).toMatchObject({ draft: false, status: "identified", version: 3 });
    expect(site.newEventTypes()).toEqual(["incident.created", "component.status_changed"]);
    expect(site.app.events()[0]?.data).toMatchObject({
      draft: false,
      latest_update: { body: "Found." },
      notify: false,
    });
    expect(site.app.audit().at(-1)).toMatchObject({ action: "incident.publish" });
    expect((await site.shown()).api).toBe("major_outage");
    const reader = await site.app.keyWith("read:status");
    expect((await site.app.call(`${INCIDENTS}/${id}`, { key: reader })).status).toBe(200);
    await site.app.clock.advance(50 * 60_000);
    const page = await site.app.call("/api/v1/status/acme", { key: reader });
    expect(page.body.components[0].uptime_90d).toBe(0);
  });

  test("publishing a resolved draft sets the manual statuses that its last update names", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ draft: true, components: { [site.api]: "major_outage" } });
    const components = { [site.api]: "degraded_performance" };
    await site.update(id, { status: "resolved", components });
    expect((await site.shown()).api).toBe("operational");
    await site.patch(id, { draft: false });
    expect((await site.shown()).api).toBe("degraded_performance");
    expect(site.newEventTypes()).toEqual(["incident.created", "component.status_changed"]);
  });
});
