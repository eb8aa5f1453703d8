import { describe, expect, test } from "bun:test";
import { deleteComponent } from "../../../src/features/components/components";
import { CLI_ACTOR } from "../../../src/base/actor";
import type { Maintenance } from "../../../src/features/maintenance/wire";
import type { Page } from "../../../src/features/pages/wire";
import { writeCalendar } from "../../../src/public/feeds";
import { writeLongTexts } from "../../support/long-texts";
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

  test.each(["/api/v2/incidents", "/status/acme/api/v2/incidents", "/api/v2/incidents/unresolved"])(
    "%s has at most 1 MiB of texts, the newest in full and a link for each older update that is left out",
    async (path) => {
      await using site = await createPublicSite();
      const ids = await writeLongTexts(site.app, { incidents: 50, updates: 4 });
      const { body } = await site.app.call(`${path}.json`);
      const { incidents } = body as {
        incidents: { id: string; incident_updates: { body: string }[] }[];
      };
      expect(incidents.map(({ id }) => id)).toEqual(ids.toReversed());
      const texts = incidents.map((one) => one.incident_updates.map((update) => update.body));
      const bytes = texts.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      expect(bytes).toBeGreaterThan(900_000);
      expect(bytes).toBeLessThanOrEqual(1_048_576);
      expect(texts[0]?.map(({ length }) => length)).toEqual([10_000, 10_000, 10_000, 10_000]);
      for (const [index, { id }] of incidents.entries()) {
        const own = texts[index] ?? [];
        const link = `\n\n[Further updates](https://status.test/status/acme/incidents/${id})`;
        expect(own[0]).toStartWith(`word-${49 - index}-3 `);
        expect(own.slice(0, -1).filter((text) => text.includes(link))).toEqual([]);
        expect(own.at(-1)?.endsWith(link)).toBe(own.length < 4);
      }
      expect(texts.at(-1)?.[0]).toContain("…\n\n[Further updates]");
    },
  );

  test("a list of short texts is complete and has no links", async () => {
    await using site = await createPublicSite();
    const { id } = await site.open({ body: "One." });
    await site.update(id, { body: "Two." });
    const [incident] = (await site.app.call("/api/v2/incidents.json")).body.incidents;
    expect(incident.incident_updates.map((update: { body: string }) => update.body)).toEqual([
      "Two.",
      "One.",
    ]);
  });

  test("a calendar has at most 1 MiB of descriptions besides links, those of the latest maintenance first", async () => {
    await using site = await createPublicSite();
    const first: Maintenance = await site.plan(inDays(1), inDays(2), { body: "ü".repeat(10_000) });
    const { page } = (await site.document()) as { page: Page };
    const all = Array.from({ length: 300 }, () => first);
    const events = writeCalendar({ document: { page } }, all)
      .replaceAll("\r\n ", "")
      .split("BEGIN:VEVENT")
      .slice(1);
    const lengths = events.map((event) => event.match(/ü/g)?.length ?? 0);
    expect(lengths).toHaveLength(300);
    expect(lengths[0]).toBe(0);
    expect(lengths.at(-1)).toBeGreaterThan(3_900);
    expect(2 * lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(1_048_576);
    for (const event of events) expect(event).toContain(first.url);
  });
});
