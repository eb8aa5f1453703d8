import { describe, expect, test } from "bun:test";
import { getPage } from "../../../src/features/pages/pages";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createIncidentSite, INCIDENTS, type IncidentSite } from "../../support/incident-site";
import { createComponent } from "../../support/examined";

const lastIncidentEvent = ({ app }: IncidentSite) =>
  app.events().findLast(({ type }) => type.startsWith("incident."));

const bytesOf = (data: unknown) => Buffer.byteLength(JSON.stringify(data));

describe("an incident's events", () => {
  test("each update of an incident records one event whose type names the change", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open();
    for (const status of ["identified", "monitoring", "resolved", "investigating", "resolved"]) {
      await site.update(id, { status });
    }
    expect(site.newEventTypes()).toEqual([
      "incident.created",
      "incident.updated",
      "incident.updated",
      "incident.resolved",
      "incident.reopened",
      "incident.resolved",
    ]);
    const versions = site.app.events().map(({ data }) => data["version"]);
    expect(versions).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("the event of an incident contains its public representation and the update", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ components: { [site.api]: "major_outage" } });
    const { body: single } = await site.update(id, { status: "identified", body: "Found." });
    const { updates, ...incident } = await site.read(id);
    expect(lastIncidentEvent(site)).toMatchObject({ type: "incident.updated", subjectId: id });
    expect(lastIncidentEvent(site)?.data).toEqual({
      ...incident,
      latest_update: updates[0],
      notify: true,
    });
    expect(single).toMatchObject(updates[0]);
  });

  test("the event of a backdated update contains that update, not the newest", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ started_at: "2026-03-10T10:00:00Z" });
    await site.update(id, { status: "monitoring" });
    await site.update(id, { body: "Earlier.", display_at: "2026-03-10T11:00:00Z" });
    expect(lastIncidentEvent(site)?.data).toMatchObject({
      status: "monitoring",
      latest_update: { body: "Earlier." },
    });
  });

  test("the event of an incident contains the update's notify", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ notify: false });
    expect(lastIncidentEvent(site)?.data["notify"]).toBe(false);
    await site.update(id, {});
    expect(lastIncidentEvent(site)?.data["notify"]).toBe(true);
    await site.update(id, { notify: false });
    expect(lastIncidentEvent(site)?.data["notify"]).toBe(false);
  });

  test("the event of an incident truncates a text after 4,000 code points and sets truncated", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({ body: "x".repeat(4_000) });
    const latest = () => lastIncidentEvent(site)?.data["latest_update"] as Record<string, unknown>;
    expect(latest()["truncated"]).toBeUndefined();
    await site.update(id, { body: `${"é".repeat(3_999)}🚒🚒` });
    expect(latest()).toMatchObject({ body: `${"é".repeat(3_999)}🚒`, truncated: true });
    expect((await site.read(id)).updates[0].body).toBe(`${"é".repeat(3_999)}🚒🚒`);
  });

  test("the event of an incident stays below 20 KB and flags truncated content", async () => {
    await using site = await createIncidentSite();
    const wide = "🚒".repeat(255);
    const { id, page_id: pageId } = await site.open({ name: wide, external_ref: wide });
    const { ctx } = site.app;
    const components = await ctx.db.write((tx) => {
      const page = getPage(tx, pageId);
      const statuses: Record<string, string> = {};
      for (let n = 0; n < 150; n++) {
        const placement = { position: n, groupId: null, managedBy: null };
        const input = { name: wide, ref: `c${n}` };
        const { id: componentId } = createComponent(ctx, tx, page, input, placement, CLI_ACTOR);
        statuses[componentId] = "degraded_performance";
      }
      return statuses;
    });
    const body = "\u0001".repeat(10_000);
    expect((await site.update(id, { body, components })).status).toBe(201);
    const data = lastIncidentEvent(site)?.data ?? {};
    expect(bytesOf(data)).toBeLessThan(19_001);
    expect(data).toMatchObject({
      id,
      name: wide,
      truncated: true,
      latest_update: { truncated: true },
    });

    const put = {
      method: "PUT",
      key: site.key,
      json: { body: "🚒".repeat(50_000), publish: true },
    };
    await site.app.call(`${INCIDENTS}/${id}/postmortem`, put);
    const event = lastIncidentEvent(site);
    expect(event?.type).toBe("incident.postmortem_published");
    expect(event?.data).toMatchObject({ postmortem: { truncated: true } });
    expect(bytesOf(event?.data)).toBeLessThan(19_001);
  });

  test("an incident records an event per change of a component's status, and none if the status stays", async () => {
    await using site = await createIncidentSite();
    const major = { [site.api]: "major_outage" };
    const first = await site.open({ components: major });
    const second = await site.open({ components: major });
    await site.update(first.id, { components: { [site.api]: "partial_outage" } });
    await site.update(first.id, { status: "resolved" });
    const changes = () =>
      site.app
        .events()
        .filter(({ type }) => type === "component.status_changed")
        .map(({ data }) => `${data["old_status"]} → ${data["status"]}`);
    expect(changes()).toEqual(["operational → major_outage"]);
    await site.update(second.id, { status: "resolved" });
    expect(changes()).toEqual(["operational → major_outage", "major_outage → operational"]);
  });
});
