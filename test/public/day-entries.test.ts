import { describe, expect, test } from "bun:test";
import { deleteIncident } from "../../src/features/incidents/incidents";
import { saveNoData } from "../../src/features/monitors/spans-store";
import { CLI_ACTOR } from "../../src/base/actor";
import { MINUTE_MS } from "../../src/base/time";
import { readHtml } from "../support/html";
import { createPublicSite, type PublicSite } from "../support/public-site";
import { createComponent } from "../support/examined";

const DAY = "2026-03-08";

/** Reports an incident of some hours on Docs. */
function report(site: PublicSite, name: string, json: Record<string, unknown> = {}) {
  return site.open({
    name,
    components: { [site.ids["Docs"] ?? ""]: "partial_outage" },
    started_at: `${DAY}T10:00:00Z`,
    resolved_at: `${DAY}T12:00:00Z`,
    ...json,
  });
}

async function read({ app }: PublicSite) {
  const page = readHtml((await app.call("/status/acme")).text);
  return {
    bars: page.texts(".component .day title"),
    links: page.attributes(".axis tbody a", "href"),
    named: page.texts(".axis tbody a"),
  };
}

describe("the incidents and maintenances of a day", () => {
  test("a bar names the incident of its day, and the table links to it", async () => {
    await using site = await createPublicSite();
    const { id } = await report(site, "Manual is <gone>");
    expect(await read(site)).toEqual({
      bars: ["8 Mar 2026: Partial outage (2 h) · Manual is <gone>"],
      links: [`/status/acme/incidents/${id}`],
      named: ["Manual is <gone>"],
    });
  });

  test("a changed name appears at once, and a deleted incident is not named", async () => {
    await using site = await createPublicSite();
    const { app, key } = site;
    const { id } = await report(site, "First name");
    expect((await read(site)).named).toEqual(["First name"]);
    const path = `/api/v1/incidents/${id}`;
    await app.call(path, { method: "PATCH", key, json: { name: "Second name" } });
    expect(await read(site)).toMatchObject({
      bars: ["8 Mar 2026: Partial outage (2 h) · Second name"],
      named: ["Second name"],
    });
    await app.ctx.db.write((tx) => deleteIncident(app.ctx, tx, id, CLI_ACTOR));
    const bars = ["8 Mar 2026: Partial outage (2 h)"];
    expect(await read(site)).toEqual({ bars, links: [], named: [] });
  });

  test("a bar names the worst of several incidents and counts the others", async () => {
    await using site = await createPublicSite();
    for (const name of ["One", "Two", "Three"]) await report(site, name);
    const docs = site.ids["Docs"] ?? "";
    await report(site, "Worst", { components: { [docs]: "major_outage" } });
    expect(await read(site)).toMatchObject({
      bars: ["8 Mar 2026: Major outage (2 h) · Worst, 3 more"],
      named: ["Worst", "One", "Two"],
    });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts(".axis tbody td")).toContain("Major outageWorst, One, Two, 1 more");
  });

  test("an incident over midnight is named on each of its days, and only on its components", async () => {
    await using site = await createPublicSite();
    await report(site, "Long", { started_at: "2026-03-07T23:00:00Z" });
    expect((await read(site)).bars).toEqual([
      "7 Mar 2026: Partial outage (1 h) · Long",
      "8 Mar 2026: Partial outage (12 h) · Long",
    ]);
  });

  test("maintenance is named with a link of its own", async () => {
    await using site = await createPublicSite();
    const components = [site.ids["Docs"] ?? ""];
    const { id } = await site.plan("2026-03-10T12:00:10Z", "2026-03-10T12:30:00Z", { components });
    await site.updateMaintenance(id, { status: "in_progress" });
    await site.app.clock.advance(MINUTE_MS);
    expect(await read(site)).toMatchObject({
      links: [`/status/acme/maintenance/${id}`],
      named: ["Upgrade"],
    });
  });

  test("drafts, statuses set by hand and incidents of other pages are not named", async () => {
    await using site = await createPublicSite();
    const { app, ids, key } = site;
    await report(site, "Draft", { draft: true });
    const path = `/api/v1/components/${ids["Docs"]}`;
    const json = { status: "degraded_performance" };
    await app.call(path, { method: "PATCH", key, json });
    const { page } = await app.page({ slug: "other", visibility: "private" });
    const own = await app.ctx.db.write((tx) =>
      createComponent(
        app.ctx,
        tx,
        page,
        { name: "Docs" },
        { position: 0, groupId: null, managedBy: null },
        CLI_ACTOR,
      ),
    );
    await site.open({ page: "other", name: "Elsewhere", components: { [own.id]: "major_outage" } });
    await app.clock.advance(MINUTE_MS);
    const { bars, named } = await read(site);
    expect(bars).toHaveLength(1);
    expect(bars[0]).toEndWith("Degraded performance (1 min)");
    expect(named).toEqual([]);
  });

  test("a day without data that an incident covers names it", async () => {
    await using site = await createPublicSite();
    const { app, ids } = site;
    await report(site, "Outage", {
      started_at: "2026-03-05T10:00:00Z",
      resolved_at: "2026-03-09T10:00:00Z",
    });
    const [startedAt, endedAt] = [6, 7].map((day) => Date.parse(`2026-03-0${day}T00:00:00Z`));
    await app.ctx.db.write((tx) => {
      const gap = { startedAt: startedAt ?? 0, endedAt: endedAt ?? 0 };
      saveNoData(tx, { componentId: ids["Docs"] ?? "", ...gap });
    });
    await app.clock.advance(5 * MINUTE_MS);
    expect((await read(site)).bars[1]).toBe("6 Mar 2026: No data · Outage");
  });

  test("a long name is cut", async () => {
    await using site = await createPublicSite();
    await report(site, "x".repeat(200));
    expect((await read(site)).named).toEqual([`${"x".repeat(79)}…`]);
  });
});
