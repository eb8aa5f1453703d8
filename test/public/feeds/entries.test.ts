import { describe, expect, test } from "bun:test";
import { deleteIncident } from "../../../src/features/incidents/incidents";
import { CLI_ACTOR } from "../../../src/base/actor";
import { MINUTE_MS } from "../../../src/base/time";
import { createFollowedPage, type FollowedPage } from "../../support/feed-site";
import { updatePage } from "../../support/examined";

const START = "2026-03-10T12:00:00.000Z";
const LATER = "2026-03-10T12:10:00.000Z";

/** Each entry of the Atom feed, in its order. */
async function entriesOf(site: FollowedPage) {
  return (await site.atom()).entries ?? [];
}

async function namesOf(site: FollowedPage) {
  return (await entriesOf(site)).map((entry) => entry.title?.value);
}

describe("an incident in the feeds", () => {
  test("an incident is one feed entry with its permalink and all updates, newest first", async () => {
    await using site = await createFollowedPage();
    const { id, url } = await site.open({ components: { [site.api]: "major_outage" } });
    await site.app.clock.advance(10 * MINUTE_MS);
    await site.send("POST", `/incidents/${id}/updates`, {
      status: "resolved",
      body: "**Mended.**",
    });
    const entries = await entriesOf(site);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      title: { value: "Errors" },
      links: [{ href: url }],
      published: START,
      updated: LATER,
      categories: [{ term: "incident" }, { term: "critical" }, { term: "resolved" }],
    });
    const content = entries[0]?.content?.value ?? "";
    expect(content).toContain("<strong>Mended.</strong>");
    expect(content).toContain("<bdi>API</bdi>: Major outage");
    expect(content.indexOf("Mended.")).toBeLessThan(content.indexOf("We look into it."));
    const { items = [] } = await site.rss();
    expect(items).toMatchObject([{ title: "Errors", link: url, description: content }]);
  });

  test("an incident in RSS has the date of its last update as pubDate", async () => {
    await using site = await createFollowedPage();
    const { id, updates } = await site.open({ started_at: "2026-03-09T08:00:00Z" });
    const dateOf = async () => (await site.rss()).items?.[0]?.pubDate;
    expect(await dateOf()).toBe("Mon, 09 Mar 2026 08:00:00 GMT");
    await site.app.clock.advance(10 * MINUTE_MS);
    const path = `/incidents/${id}/updates`;
    await site.send("PATCH", `${path}/${updates[0].id}`, { body: "Corrected." });
    expect(await dateOf()).toBe("Mon, 09 Mar 2026 08:00:00 GMT");
    expect((await entriesOf(site))[0]).toMatchObject({
      updated: LATER,
      content: { value: expect.stringContaining("Corrected.") },
    });
    await site.send("POST", path, { body: "More." });
    expect(await dateOf()).toBe("Tue, 10 Mar 2026 12:10:00 GMT");
  });

  test("a feed entry keeps its id after changes of the incident's name and the page's slug", async () => {
    await using site = await createFollowedPage();
    const { id } = await site.open();
    const before = { atom: await site.atom(), rss: await site.rss() };
    const { ctx } = site.app;
    await site.send("PATCH", `/incidents/${id}`, { name: "Another name" });
    await ctx.db.write((tx) => updatePage(ctx, tx, site.pageId, { slug: "fresh" }, CLI_ACTOR));
    const after = { atom: await site.atom("fresh"), rss: await site.rss("fresh") };
    const [entry] = after.atom.entries ?? [];
    expect(entry).toMatchObject({
      title: { value: "Another name" },
      links: [{ href: `https://status.test/status/fresh/incidents/${id}` }],
    });
    expect(entry?.id).toBe(before.atom.entries?.[0]?.id as string);
    expect(entry?.id).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(after.atom.id).toBe(before.atom.id as string);
    expect(after.rss.items?.[0]?.guid).toEqual({ value: entry?.id as string, isPermaLink: false });
    expect(after.rss.items?.[0]?.guid).toEqual(before.rss.items?.[0]?.guid);
  });

  test("a draft is in no feed, a published incident is, and a deleted one is removed", async () => {
    await using site = await createFollowedPage();
    const { id } = await site.open({ draft: true });
    expect(await namesOf(site)).toEqual([]);
    expect((await site.rss()).items ?? []).toEqual([]);
    await site.send("PATCH", `/incidents/${id}`, { draft: false });
    expect(await namesOf(site)).toEqual(["Errors"]);
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteIncident(ctx, tx, id, CLI_ACTOR));
    expect(await namesOf(site)).toEqual([]);
  });

  test("a feed entry contains only a published post-mortem", async () => {
    await using site = await createFollowedPage();
    const { id } = await site.open();
    const path = `/incidents/${id}/postmortem`;
    const contentOf = async () => (await entriesOf(site))[0]?.content?.value;
    await site.send("PUT", path, { body: "A cable was cut." });
    expect(await contentOf()).not.toContain("A cable was cut.");
    await site.app.clock.advance(10 * MINUTE_MS);
    await site.send("PUT", path, { body: "A cable was cut.", publish: true });
    expect(await contentOf()).toContain("A cable was cut.");
    expect((await site.rss()).items?.[0]?.pubDate).toBe("Tue, 10 Mar 2026 12:10:00 GMT");
  });

  test("a feed entry with many long updates links to the incident's page", async () => {
    await using site = await createFollowedPage();
    const { id, url } = await site.open({ body: "The very first." });
    for (const letter of ["a", "b", "c"]) {
      const body = letter.repeat(9_000);
      await site.send("POST", `/incidents/${id}/updates`, { body });
    }
    const content = (await entriesOf(site))[0]?.content?.value ?? "";
    expect(content).toContain("c".repeat(9_000));
    expect(content).not.toContain("The very first.");
    expect(content).toEndWith(`<p><a href="${url}">Earlier updates</a></p>`);
  });
});

describe("maintenance in the feeds", () => {
  test("maintenance in the feeds contains its planned times and all updates", async () => {
    await using site = await createFollowedPage();
    const { id, url } = await site.plan();
    await site.app.clock.advance(10 * MINUTE_MS);
    await site.send("POST", `/maintenance/${id}/cancel`);
    const entries = await entriesOf(site);
    expect(entries).toMatchObject([
      {
        title: { value: "Upgrade" },
        links: [{ href: url }],
        published: START,
        updated: LATER,
        categories: [{ term: "maintenance" }, { term: "cancelled" }],
      },
    ]);
    const content = entries[0]?.content?.value ?? "";
    expect(content).toContain('<time datetime="2026-03-10T14:00:00.000Z">');
    expect(content).toContain("Affected: <bdi>API</bdi>");
    expect(content.indexOf("Cancelled")).toBeGreaterThan(0);
    expect(content.indexOf("Cancelled")).toBeLessThan(content.indexOf("A minute without search."));
  });
});

describe("the feeds", () => {
  test("a feed contains the 50 entries updated last, newest first", async () => {
    await using site = await createFollowedPage();
    const { id: oldest } = await site.open({ name: "oldest", started_at: "2026-03-01T00:00:00Z" });
    for (let n = 0; n < 51; n++) {
      await site.app.clock.advance(MINUTE_MS);
      await site.open({ name: `incident ${n}`, status: "resolved" });
    }
    const before = await namesOf(site);
    expect(before).toHaveLength(50);
    expect(before.slice(0, 2)).toEqual(["incident 50", "incident 49"]);
    expect(before).not.toContain("oldest");
    await site.app.clock.advance(MINUTE_MS);
    await site.send("POST", `/incidents/${oldest}/updates`, { body: "Still open." });
    await site.plan();
    expect((await namesOf(site)).slice(0, 3).sort()).toEqual(["Upgrade", "incident 50", "oldest"]);
    expect((await site.rss()).items).toHaveLength(50);
  });

  test("a feed sorts backdated incidents after newer ones", async () => {
    await using site = await createFollowedPage();
    await site.open({ name: "today" });
    const past = { started_at: "2019-01-01T00:00:00Z", resolved_at: "2019-01-02T00:00:00Z" };
    await site.open({ name: "of old", ...past });
    expect(await namesOf(site)).toEqual(["today", "of old"]);
    expect((await site.rss()).items?.[1]?.pubDate).toBe("Wed, 02 Jan 2019 00:00:00 GMT");
  });

  test("a feed's ETag changes only with incidents and maintenance", async () => {
    await using site = await createFollowedPage();
    await site.open();
    for (const file of ["feed.atom", "feed.rss"]) {
      const first = (await site.read(file)).headers.get("etag");
      await site.app.clock.advance(10 * MINUTE_MS);
      await site.send("PATCH", `/components/${site.api}`, { status: "degraded_performance" });
      expect((await site.read(file)).headers.get("etag")).toBe(first);
      await site.open();
      expect((await site.read(file)).headers.get("etag")).not.toBe(first);
    }
  });

  test("a feed of a page without incidents has no entries", async () => {
    await using site = await createFollowedPage({ description: "How we are doing." });
    expect(await site.atom()).toMatchObject({
      title: { value: "Acme" },
      subtitle: { value: "How we are doing." },
      updated: START,
      links: [
        { rel: "alternate", href: "https://status.test/status/acme" },
        { rel: "self", href: "https://status.test/status/acme/feed.atom" },
      ],
    });
    expect(await site.rss()).toMatchObject({
      title: "Acme",
      description: "How we are doing.",
      link: "https://status.test/status/acme",
    });
  });
});
