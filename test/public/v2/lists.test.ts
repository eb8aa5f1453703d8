import { describe, expect, test } from "bun:test";
import { deleteComponent } from "../../../src/features/components";
import { CLI_ACTOR } from "../../../src/domain/actor";
import { createPublicSite, type PublicSite } from "../../support/public-site";

async function namesIn(site: PublicSite, document: string): Promise<string[]> {
  const { body } = await site.app.call(`/api/v2/${document}.json`);
  const list = body.incidents ?? body.scheduled_maintenances;
  return list.map((each: { name: string }) => each.name);
}

/** In `n` days of the tests. */
const inDays = (n: number) => new Date(Date.UTC(2026, 2, 10 + n)).toISOString();

describe("Statuspage's lists", () => {
  test("the list of incidents contains the 50 that started last, without drafts", async () => {
    await using site = await createPublicSite();
    for (let n = 1; n <= 51; n++) {
      await site.open({ name: `${n}`, started_at: inDays(-n), resolved_at: inDays(0) });
    }
    await site.open({ name: "Open" });
    await site.open({ name: "Draft", draft: true });
    const names = await namesIn(site, "incidents");
    expect(names).toHaveLength(50);
    expect(names.slice(0, 2)).toEqual(["Open", "1"]);
    expect(await namesIn(site, "incidents/unresolved")).toEqual(["Open"]);
  });

  test("the list of maintenance contains the 50 planned last, without cancelled ones", async () => {
    await using site = await createPublicSite();
    for (let n = 1; n <= 52; n++) await site.plan(inDays(n), inDays(n + 1), { name: `${n}` });
    for (let n = 1; n <= 60; n++) {
      const { id } = await site.plan(inDays(1), inDays(2), { name: "Cancelled" });
      const path = `/api/v1/maintenance/${id}/cancel`;
      await site.app.call(path, { method: "POST", key: site.key });
    }
    const names = await namesIn(site, "scheduled-maintenances");
    expect(names).toHaveLength(50);
    expect([names[0], names.at(-1)]).toEqual(["52", "3"]);
  });

  test("the list of upcoming maintenance includes that more than 30 days ahead", async () => {
    await using site = await createPublicSite();
    await site.plan(inDays(60), inDays(61), { name: "Far" });
    await site.plan(inDays(2), inDays(3), { name: "Near" });
    expect(await namesIn(site, "scheduled-maintenances/upcoming")).toEqual(["Near", "Far"]);
    expect((await site.document()).maintenance).toHaveLength(1);
  });

  test("a deleted component is named in updates but not listed as a component", async () => {
    await using site = await createPublicSite();
    const { Docs = "" } = site.ids;
    await site.open({ components: { [Docs]: "major_outage" } });
    const { db } = site.app.ctx;
    await db.write((tx) => deleteComponent(site.app.ctx, tx, Docs, CLI_ACTOR));
    const [incident] = (await site.app.call("/api/v2/incidents.json")).body.incidents;
    expect(incident.components).toEqual([]);
    expect(incident.incident_updates[0].affected_components[0].name).toBe("Docs");
  });

  test("an incident has the status postmortem while its post-mortem is published", async () => {
    await using site = await createPublicSite();
    const { id } = await site.open();
    const statusNow = async (postmortem?: object) => {
      if (postmortem) {
        const options = { method: "PUT", key: site.key, json: postmortem };
        await site.app.call(`/api/v1/incidents/${id}/postmortem`, options);
      }
      return (await site.app.call("/api/v2/incidents.json")).body.incidents[0].status;
    };
    await site.update(id, { status: "resolved" });
    expect(await statusNow({ body: "A disk was full." })).toBe("resolved");
    expect(await statusNow({ body: "A disk was full.", publish: true })).toBe("postmortem");
    expect(await namesIn(site, "incidents/unresolved")).toEqual([]);
    await site.update(id, { status: "investigating" });
    expect(await statusNow()).toBe("postmortem");
    expect(await namesIn(site, "incidents/unresolved")).toEqual(["Errors"]);
    expect(await statusNow({ body: "A disk was full.", publish: false })).toBe("investigating");
    expect(await statusNow({ body: "A disk was full.", publish: true })).toBe("postmortem");
    await site.update(id, { status: "resolved" });
    expect(await statusNow()).toBe("postmortem");
    expect(await statusNow({ body: "A disk was full.", publish: false })).toBe("resolved");
  });

  test("Statuspage's lists show each change at the next read", async () => {
    await using site = await createPublicSite();
    expect(await namesIn(site, "incidents/unresolved")).toEqual([]);
    const { id } = await site.open();
    expect(await namesIn(site, "incidents/unresolved")).toEqual(["Errors"]);
    await site.update(id, { status: "resolved" });
    expect(await namesIn(site, "incidents/unresolved")).toEqual([]);
    expect(await namesIn(site, "incidents")).toEqual(["Errors"]);
  });
});
