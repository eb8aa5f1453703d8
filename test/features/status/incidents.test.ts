import { describe, expect, test } from "bun:test";
import { createPublicSite, type PublicSite } from "../../support/public-site";

async function namesShown(site: PublicSite): Promise<string[]> {
  return (await site.document()).incidents.map((each: { name: string }) => each.name);
}

describe("the incidents of a page's document", () => {
  test("the status document contains open incidents, last started first, as single reads return them", async () => {
    await using site = await createPublicSite();
    await site.open({ name: "Old", started_at: "2026-03-01T00:00:00Z" });
    await site.open({ name: "New", components: { [site.ids["API"] ?? ""]: "major_outage" } });
    const over = await site.open({ name: "Over" });
    await site.update(over.id, { status: "resolved" });
    const { incidents, updated_at } = await site.document();
    expect(incidents.map((each: { name: string }) => each.name)).toEqual(["New", "Old"]);
    for (const each of incidents) {
      const alone = await site.app.call(`/api/v1/incidents/${each.id}`, { key: site.key });
      expect(each).toEqual(alone.body);
    }
    expect(updated_at).toBe("2026-03-10T12:00:00.000Z");
  });

  test("the status document shows each change of an incident at the next read", async () => {
    await using site = await createPublicSite();
    expect(await namesShown(site)).toEqual([]);
    const { id } = await site.open();
    expect(await namesShown(site)).toEqual(["Errors"]);
    await site.update(id, { body: "We know why." });
    expect((await site.document()).incidents[0].updates[0].body).toBe("We know why.");
    const options = { method: "PATCH", key: site.key, json: { name: "Errors, mostly" } };
    await site.app.call(`/api/v1/incidents/${id}`, options);
    expect(await namesShown(site)).toEqual(["Errors, mostly"]);
    await site.update(id, { status: "resolved" });
    expect(await namesShown(site)).toEqual([]);
    await site.update(id, { status: "investigating" });
    expect(await namesShown(site)).toEqual(["Errors, mostly"]);
  });

  test("the status document contains no drafts and no unpublished post-mortem", async () => {
    await using site = await createPublicSite();
    const draft = await site.open({ name: "Draft", draft: true, impact_override: "critical" });
    const { incidents, status } = await site.document();
    expect(incidents).toEqual([]);
    expect(status.indicator).toBe("none");
    const path = `/api/v1/incidents/${draft.id}`;
    const send = (method: string, json: unknown, to = path) =>
      site.app.call(to, { method, key: site.key, json });
    await send("PATCH", { draft: false });
    await send("PUT", { body: "What we learned", publish: false }, `${path}/postmortem`);
    const [shown] = (await site.document()).incidents;
    expect(shown).toMatchObject({ name: "Draft", draft: false, postmortem: null });
  });

  test("the status document contains at most 50 incidents with their 20 newest updates", async () => {
    await using site = await createPublicSite();
    const { id } = await site.open({ name: "Many updates" });
    for (let n = 1; n <= 21; n++) await site.update(id, { body: `No. ${n}` });
    for (let n = 1; n <= 51; n++) {
      await site.open({ name: `${n}`, started_at: new Date(n * 60_000).toISOString() });
    }
    const { incidents } = await site.document();
    expect(incidents).toHaveLength(50);
    expect(incidents[0].updates).toHaveLength(20);
    expect(incidents[0].updates[0].body).toBe("No. 21");
    expect(incidents[1].name).toBe("51");
    expect(site.snapshot().openIncidentCount).toBe(52);
  });
});

describe("the headline", () => {
  test("the headline is the worse of component statuses and open incidents' impact, also in lists", async () => {
    await using site = await createPublicSite();
    const headline = async () => {
      const { status } = await site.document();
      const [listed] = (await site.app.call("/api/v1/status", { key: site.key })).body.data;
      expect(listed.status).toEqual(status);
      return status.description;
    };
    const mild = await site.open({
      components: { [site.ids["API"] ?? ""]: "degraded_performance" },
    });
    // Both are equally severe; the sentence of the components is used.
    expect(await headline()).toBe("Partially Degraded Service");
    const bad = await site.open({ impact_override: "critical" });
    expect(await headline()).toBe("Major System Outage");
    await site.update(bad.id, { status: "resolved" });
    expect(await headline()).toBe("Partially Degraded Service");
    await site.update(mild.id, { status: "resolved" });
    expect(await headline()).toBe("All Systems Operational");
  });

  test("the headline counts the impact of open incidents that the document leaves out", async () => {
    await using site = await createPublicSite();
    await site.open({ impact_override: "major", started_at: "1970-01-01T00:00:00Z" });
    for (let n = 1; n <= 50; n++) await site.open({ name: `${n}` });
    const { incidents, status } = await site.document();
    expect(incidents.map((each: { impact: string }) => each.impact)).not.toContain("major");
    expect(status.indicator).toBe("major");
  });
});
