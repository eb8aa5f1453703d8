import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { HOUR_MS, MINUTE_MS, toIso } from "../../src/base/time";
import { readHtml } from "../support/html";
import { createTestApp } from "../support/app";
import { createPublicSite, type PublicSite } from "../support/public-site";
import { updateComponent } from "../support/examined";

const TODAY = "2026-03-10";

describe("an open incident on the public page", () => {
  test("an open incident changes title, banner, ring and favicon of the page", async () => {
    await using site = await createPublicSite({ name: "Acme" });
    const icon = (text: string) => readHtml(text).attributes('link[rel="icon"]', "href")[0] ?? "";
    const before = await site.app.call("/status/acme");
    expect(icon(before.text)).not.toContain("dasharray");
    await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
    const { text } = await site.app.call("/status/acme");
    const page = readHtml(text);
    expect(page.texts("head title")).toEqual(["Major system outage · Acme"]);
    expect(page.attributes("#banner", "class")).toEqual(["banner t-major"]);
    expect(page.attributes(".ring", "class")).toEqual(["ring t-major", "ring t-major"]);
    expect(page.attributes("#banner .mark .shape", "class")).toEqual(["shape t-major"]);
    // The favicon's ring has a gap now: a shape, too.
    expect(icon(text)).toContain("dasharray");
    expect(icon(text)).not.toBe(icon(before.text));
  });

  test("an open incident on the page shows its updates newest first, with status and named components", async () => {
    await using site = await createPublicSite();
    const api = site.ids["API"] ?? "";
    const { id } = await site.open({ name: "API down", components: { [api]: "major_outage" } });
    await site.app.clock.advance(MINUTE_MS);
    await site.update(id, {
      status: "identified",
      body: "It is *this*.",
      components: { [api]: "partial_outage" },
    });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts("article h3")).toEqual(["API down"]);
    expect(page.attributes("article h3 a", "href")).toEqual([`/status/acme/incidents/${id}`]);
    expect(page.texts("article .phases .now")).toEqual(["Identified"]);
    expect(page.texts("article .phases .done")).toEqual(["Investigating"]);
    expect(page.texts("article .newest .text")).toEqual(["It is this."]);
    expect(page.attributes("article .newest time", "datetime")).toEqual([`${TODAY}T12:01:00.000Z`]);
    expect(page.texts("article .chips li")).toEqual(["API: Partial outage"]);
    expect(page.texts(".timeline strong")).toEqual(["Investigating"]);
    expect(page.texts(".timeline .text")).toEqual(["Hm."]);
    expect(page.texts(".named li")).toEqual(["API Major outage"]);
    expect(page.attributes(".timeline time", "datetime")).toEqual([`${TODAY}T12:00:00.000Z`]);
  });

  test("an open incident on the page shows five updates and a link to earlier ones", async () => {
    await using site = await createPublicSite();
    const { id } = await site.open();
    for (let i = 1; i <= 5; i += 1) await site.update(id, { body: `Number ${i}.` });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts("article .text")).toEqual(
      ["5", "4", "3", "2", "1"].map((number) => `Number ${number}.`),
    );
    expect(page.texts("article .fold summary")).toEqual(["4 earlier updates"]);
    expect(page.texts("article .more")).toEqual(["All updates"]);
    const own = readHtml((await site.app.call(`/status/acme/incidents/${id}`)).text);
    expect(own.texts(".timeline .text")).toHaveLength(6);
  });

  test("a draft is not on the page", async () => {
    await using site = await createPublicSite();
    await site.open({ name: "Not yet", draft: true });
    await site.open({ name: "Errors" });
    const { text } = await site.app.call("/status/acme");
    expect(readHtml(text).texts("article h3")).toEqual(["Errors"]);
    expect(text).not.toContain("Not yet");
  });
});

describe("the banner of the public page", () => {
  const bannerOf = async ({ app }: PublicSite) => readHtml((await app.call("/status/acme")).text);

  test("the banner names the worst components and counts components by status, worst first", async () => {
    await using site = await createPublicSite();
    const { API: api = "", Web: web = "", Docs: docs = "" } = site.ids;
    await site.open({ components: { [web]: "degraded_performance" } });
    const one = await bannerOf(site);
    expect(one.texts("#banner p")).toEqual(["Web is degraded. Everything else works as usual."]);
    expect(one.texts(".tally li")).toEqual(["1 degraded", "2 operational"]);
    await site.open({ components: { [api]: "major_outage", [docs]: "major_outage" } });
    const all = await bannerOf(site);
    expect(all.texts("#banner p")).toEqual([
      "API and Docs have a major outage. 1 more component is affected.",
    ]);
    expect(all.texts(".tally li")).toEqual(["2 major outages", "1 degraded"]);
  });

  test("components that the page hides while operational count as operational in the banner", async () => {
    await using site = await createPublicSite();
    const { app, ids } = site;
    const shy = { only_show_if_degraded: true };
    await app.ctx.db.write((tx) => {
      for (const id of Object.values(ids)) updateComponent(app.ctx, tx, id, shy, CLI_ACTOR);
    });
    const hidden = readHtml((await app.call("/status/acme")).text);
    expect(hidden.texts("#banner h1")).toEqual(["All systems operational"]);
    expect(hidden.texts("#banner p").join()).not.toContain("Nothing");
    expect(hidden.texts(".component")).toEqual([]);
    await site.open({ components: { [ids["API"] ?? ""]: "partial_outage" } });
    const shown = readHtml((await app.call("/status/acme")).text);
    expect(shown.texts("#banner p")).toEqual([
      "API has a partial outage. Everything else works as usual.",
    ]);
    expect(shown.texts(".component strong")).toEqual(["API"]);
  });

  test("an incident without components is counted in the banner while all components are operational", async () => {
    await using site = await createPublicSite();
    await site.open();
    expect((await bannerOf(site)).texts("#banner p")).toEqual([
      "1 open incident. All components are operational.",
    ]);
  });

  test("the first day has ticks instead of earlier days, and no uptime from a few minutes", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "fresh", name: "Fresh" }, ["API"]);
    await app.clock.advance(MINUTE_MS);
    const read = async () => readHtml((await app.call("/status/fresh")).text);
    const first = await read();
    expect(first.texts("#banner p")).toEqual(["Watched since today."]);
    expect(first.texts("#components .section-head span")).toEqual(["Since today"]);
    expect(first.texts(".axis .ends").join()).not.toContain("days ago");
    expect(first.texts(".component .up")).toEqual(["– no uptime yet"]);
    expect(first.texts(".group .up").join("")).not.toContain("%");
    expect(first.attributes(".day-before", "d")).toHaveLength(1);
    expect(first.attributes("[data-day]", "role")).toEqual([]);
    expect(first.texts("#past h2")).toEqual(["Since today"]);
    await app.clock.advance(25 * HOUR_MS);
    const second = await read();
    expect(second.texts("#components .section-head span")).toEqual(["Last 90 days"]);
    expect(second.texts(".component .up")).toEqual(["100 % uptime"]);
    expect(second.texts("#past h2")).toEqual(["Last 14 days"]);
  });

  test("an uptime below 100 % is never rounded up to it", async () => {
    await using site = await createPublicSite();
    const at = Date.parse("2026-03-08T16:00:00Z");
    const times = { started_at: toIso(at), resolved_at: toIso(at + 1_000) };
    await site.open({ components: { [site.ids["Docs"] ?? ""]: "major_outage" }, ...times });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts(".component .up").at(0)).toBe("99.99 % uptime");
  });

  test("a page without components says so and not that all is well", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "acme", name: "Acme" }, []);
    const { text } = await app.call("/status/acme");
    const page = readHtml(text);
    expect(page.texts("h1")).toEqual(["No components yet"]);
    expect(page.attributes("#banner", "class")).toEqual(["banner t-none"]);
    expect(page.texts(".tally")).toEqual([]);
    expect(text).not.toContain("operational");
  });
});

describe("the tone of the headline", () => {
  test.each([
    ["operational", "none", "ok"],
    ["operational", "minor", "degraded"],
    ["operational", "major", "partial"],
    ["degraded_performance", "critical", "major"],
    ["partial_outage", "minor", "partial"],
    ["major_outage", "none", "major"],
  ])(
    "with a component that is %s and an open incident of impact %s the tone is %s",
    async (status, impact, tone) => {
      await using site = await createPublicSite();
      const { app, ids, key } = site;
      const path = `/api/v1/components/${ids["API"]}`;
      await app.call(path, { method: "PATCH", key, json: { status } });
      await site.open({ impact_override: impact });
      const page = readHtml((await app.call("/status/acme")).text);
      expect(page.attributes("#banner", "class")).toEqual([`banner t-${tone}`]);
      expect(page.attributes(".ring", "class")).toEqual([`ring t-${tone}`, `ring t-${tone}`]);
    },
  );

  test("an open incident that is too old to be listed counts", async () => {
    await using site = await createPublicSite();
    await site.open({ impact_override: "critical", started_at: `${TODAY}T01:00:00Z` });
    for (let count = 0; count < 50; count += 1) await site.open();
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect((await site.document()).incidents).toHaveLength(50);
    expect(page.attributes("#banner", "class")).toEqual(["banner t-major"]);
  });
});

describe("several open incidents on the public page", () => {
  test("the worst three are shown in full and ten as one line, and the others are counted", async () => {
    await using site = await createPublicSite();
    const { API: api = "", Web: web = "" } = site.ids;
    for (let count = 0; count < 12; count += 1) {
      await site.open({ name: `Slow ${count}`, components: { [web]: "degraded_performance" } });
    }
    await site.open({ name: "Down", components: { [api]: "major_outage" } });
    for (const name of ["Nothing", "Nothing else"]) await site.open({ name });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts("#open article h3")).toEqual(["Down", "Slow 11", "Slow 10"]);
    expect(page.attributes("#open article", "class")[0]).toBe("card story t-major");
    expect(page.texts("#open .line h3")).toHaveLength(10);
    expect(page.texts("#open .line .meta")[0]).toBe(
      "Minor impact, Investigating · since 10 Mar 2026, 12:00 UTC · affects Web",
    );
    expect(page.texts("#open .section-head span")).toEqual(["15 incidents"]);
    expect(page.texts("#open > .more")).toEqual(["2 more open incidents"]);
    expect(page.attributes("#open > .more a", "href")).toEqual(["/status/acme/incidents"]);
  });

  test("a component to which an incident no longer gives a status is shown as ended", async () => {
    await using site = await createPublicSite();
    const { API: api = "", Web: web = "" } = site.ids;
    const { id } = await site.open({
      components: { [api]: "major_outage", [web]: "partial_outage" },
    });
    await site.update(id, { components: { [api]: "operational" } });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts("#open .chips li")).toEqual(["API · ended", "Web: Partial outage"]);
    const rows = async () =>
      readHtml((await site.app.call(`/status/acme/incidents/${id}`)).text).texts(".row");
    expect(await rows()).toEqual(["APIEnded", "WebPartial outage"]);
    await site.update(id, { status: "resolved" });
    expect(await rows()).toEqual(["APIEnded", "WebPartial outageEnded"]);
  });
});

describe("maintenance on the public page", () => {
  test("the status page shows maintenance in progress, then upcoming maintenance, with a calendar link", async () => {
    await using site = await createPublicSite();
    const components = [site.ids["Web"]];
    await site.plan(`${TODAY}T20:00:00Z`, `${TODAY}T21:00:00Z`, { name: "Later", components });
    const now = await site.plan(`${TODAY}T13:00:00Z`, `${TODAY}T14:00:00Z`, { name: "Now" });
    await site.app.clock.advance(HOUR_MS);
    await site.updateMaintenance(now.id, { status: "in_progress", body: "It runs." });
    await site.plan("2026-08-01T00:00:00Z", "2026-08-01T01:00:00Z", { name: "Far away" });
    const { text } = await site.app.call("/status/acme");
    const page = readHtml(text);
    expect(page.texts("#maintenance h3")).toEqual(["Now", "Later"]);
    expect(page.texts("#maintenance .date")).toEqual(["Mar10", "Mar10"]);
    expect(page.texts("#maintenance .state")).toEqual(["In progress", "Scheduled"]);
    expect(page.texts("#maintenance .meta")[1]).toBe("10 Mar 2026, 20:00–21:00 UTC · affects Web");
    expect(page.texts("#maintenance .text")).toEqual(["It runs.", "Planned.", "Planned."]);
    expect(page.attributes("#maintenance .section-head a", "href")).toEqual([
      "/status/acme/calendar.ics",
    ]);
  });
});

describe("components on the public page", () => {
  test("the status page shows components without a group first, and groups open by their setting", async () => {
    await using site = await createPublicSite();
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts(".component strong")).toEqual(["Docs", "API", "Web"]);
    expect(page.texts(".group h3")).toEqual(["Core 2 components"]);
    expect(page.attributes(".group", "open")).toEqual([""]);
  });

  test("the status page shows a bar per day, the same data in a table, and uptime with its formula", async () => {
    await using site = await createPublicSite();
    const docs = site.ids["Docs"] ?? "";
    await site.open({
      components: { [docs]: "major_outage" },
      started_at: "2026-03-08T10:00:00Z",
      resolved_at: "2026-03-08T16:00:00Z",
    });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.attributes(".day-chart", "aria-label")[0]).toBe("Docs, day by day");
    expect(page.texts(".component .day title")).toEqual([
      "8 Mar 2026: Major outage (6 h) · Errors",
    ]);
    expect(page.texts(".axis caption")).toEqual(["Docs", "API", "Web"]);
    expect(page.texts(".axis tbody tr").slice(0, 4)).toEqual([
      "9 – 10 Mar 2026Operational–",
      "8 Mar 2026Major outageErrors6 h",
      "1 Jan – 7 Mar 2026Operational–",
      "11 – 31 Dec 2025No data–",
    ]);
    // The others were made in this moment.
    expect(page.texts(".component .up")).toEqual([
      "99.63 % uptime",
      "– no uptime yet",
      "– no uptime yet",
    ]);
    expect(page.texts(".axis .ends")).toEqual(["90 days agoToday", "Since today"]);
    expect(page.texts(".method")[0]).toContain("1 − (major outage + 0.3 × partial outage)");
  });

  test("components with showcase: false have no bars, and only_show_if_degraded hides operational ones", async () => {
    await using site = await createPublicSite();
    const { app, ids } = site;
    await app.ctx.db.write((tx) => {
      const plain = { showcase: false };
      updateComponent(app.ctx, tx, ids["Web"] ?? "", plain, CLI_ACTOR);
      const shy = { only_show_if_degraded: true };
      updateComponent(app.ctx, tx, ids["API"] ?? "", shy, CLI_ACTOR);
    });
    const shown = async () => readHtml((await app.call("/status/acme")).text);
    expect((await shown()).texts(".component strong")).toEqual(["Docs", "Web"]);
    expect((await shown()).attributes(".day-chart", "aria-label")).toHaveLength(1);
    await site.open({ components: { [ids["API"] ?? ""]: "degraded_performance" } });
    expect((await shown()).texts(".component strong")).toEqual(["Docs", "API", "Web"]);
  });
});

describe("past entries on the public page", () => {
  test("past incidents are shown by day with duration and post-mortem, and quiet days are merged", async () => {
    await using site = await createPublicSite();
    const { app, key } = site;
    await app.clock.advance(10 * 24 * HOUR_MS);
    const times = { started_at: "2026-03-15T23:50:00Z", resolved_at: "2026-03-16T00:30:00Z" };
    const { id } = await site.open({ name: "Slow", ...times });
    const json = { body: "We know now.", publish: true };
    await app.call(`/api/v1/incidents/${id}/postmortem`, { method: "PUT", key, json });
    const page = readHtml((await app.call("/status/acme")).text);
    // The sixteenth is not quiet: it went on until then. Nor is what was before the page.
    expect(page.texts("#past li")).toEqual([
      "17 – 20 MarNo incidents or maintenance",
      "15 MarSlowNo impact · Resolved · post-mortem40 min",
      "10 – 14 MarNo incidents or maintenance",
    ]);
  });

  test("past incidents keep the shape and the word of their impact", async () => {
    await using site = await createPublicSite();
    const api = site.ids["API"] ?? "";
    for (const status of ["degraded_performance", "partial_outage", "major_outage"]) {
      const { id } = await site.open({ name: status, components: { [api]: status } });
      await site.update(id, { status: "resolved" });
    }
    const page = readHtml((await site.app.call("/status/acme")).text);
    const shapes = page.attributes("#past .shape", "class").map((name) => name.match(/t-\w+/)?.[0]);
    expect(shapes.toSorted()).toEqual(["t-degraded", "t-major", "t-partial"]);
    expect(page.texts("#past .what").toSorted()).toEqual([
      "Critical impact · Resolved · API",
      "Major impact · Resolved · API",
      "Minor impact · Resolved · API",
    ]);
  });

  test("a day is not quiet while an earlier incident is open", async () => {
    await using site = await createPublicSite();
    await site.app.clock.advance(12 * HOUR_MS);
    await site.open();
    await site.app.clock.advance(36 * HOUR_MS);
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.texts("#past li")).toEqual(["10 MarNo incidents or maintenance"]);
  });
});
