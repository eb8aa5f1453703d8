import { describe, expect, test } from "bun:test";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import { deletePage } from "../../../src/features/pages/deletion";
import { CLI_ACTOR } from "../../../src/base/actor";
import { expectProblem } from "../../support/app";
import { createIncidentSite, INCIDENTS, type IncidentSite } from "../../support/incident-site";
import { rejectionOf } from "../../support/rejection";

const remove = ({ app }: IncidentSite, id: string) =>
  app.ctx.db.write((tx) => deleteIncident(app.ctx, tx, id, CLI_ACTOR));

/** Sends every request about one incident. */
async function readAll(site: IncidentSite, id: string, updateId: string) {
  const update = `${INCIDENTS}/${id}/updates/${updateId}`;
  const put = { method: "PUT", key: site.key, json: { body: "Why" } };
  return [
    await site.app.call(`${INCIDENTS}/${id}`, { key: site.key }),
    await site.app.call(update, { key: site.key }),
    await site.patch(id, { name: "x" }),
    await site.update(id, { status: "resolved" }),
    await site.patch(`${id}/updates/${updateId}`, { body: "x" }),
    await site.app.call(`${INCIDENTS}/${id}/postmortem`, put),
  ];
}

describe("a deleted incident", () => {
  test("deleting an incident ends its causes, records an event and makes it not found", async () => {
    await using site = await createIncidentSite();
    const incident = await site.open({ components: { [site.api]: "major_outage" } });
    site.newEventTypes();
    await remove(site, incident.id);
    expect(site.newEventTypes()).toEqual(["incident.deleted", "component.status_changed"]);
    expect(site.app.events().at(-2)?.data).toMatchObject({ id: incident.id, version: 2 });
    expect(site.app.audit().at(-1)).toMatchObject({ action: "incident.delete" });
    expect((await site.shown()).api).toBe("operational");
    const before = await site.state();
    for (const answer of await readAll(site, incident.id, incident.updates[0].id)) {
      expectProblem(answer, "not_found");
    }
    expect((await rejectionOf(remove(site, incident.id))).code).toBe("not_found");
    expect((await site.app.call(INCIDENTS, { key: site.key })).body.data).toEqual([]);
    expect(await site.state()).toEqual(before);
  });

  test("deleting a draft records no event", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ draft: true });
    await remove(site, id);
    expect(site.newEventTypes()).toEqual([]);
  });
});

test("incidents of a deleted page are not found", async () => {
  await using site = await createIncidentSite();
  const incident = await site.open();
  await site.app.ctx.db.write((tx) => deletePage(site.app.ctx, tx, incident.page_id, CLI_ACTOR));
  for (const answer of await readAll(site, incident.id, incident.updates[0].id)) {
    expectProblem(answer, "not_found");
  }
  expect((await site.app.call(INCIDENTS, { key: site.key })).body.data).toEqual([]);
  expectProblem(await site.post({ page: incident.page_id }), "validation_failed");
});
