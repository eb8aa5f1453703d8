import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { setManualStatuses } from "../../../src/features/components/statuses";
import { storeFirstRun } from "../../../src/first-run";
import { createTestApp, expectProblem, type TestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";

const FILE = `
pages:
  - slug: northwind
    name: Northwind
    description: All of it
    time_zone: Europe/Berlin
    components:
      - name: Marketing site
    groups:
      - name: Shop
        collapse: collapsed
        components:
          - name: Storefront
            start_date: 2025-01-01
          - name: Search
            only_show_if_degraded: true
      - name: Platform
        components:
          - { name: API, ref: core-api, showcase: false }
`;

async function read(app: TestApp, slug = "northwind") {
  const key = await app.keyWith("read:status");
  return (await app.call(`/api/v1/status/${slug}`, { key })).body;
}

describe("apply", () => {
  test("apply creates the objects of the file in its order", async () => {
    await using app = await createTestApp();
    const outcome = await apply(app, FILE);
    expect(linesOf(outcome)).toEqual([
      "+ page northwind",
      "+ component northwind/marketing-site",
      "+ group northwind/shop",
      "+ component northwind/storefront",
      "+ component northwind/search",
      "+ group northwind/platform",
      "+ component northwind/core-api",
    ]);
    const { page, groups, components } = await read(app);
    expect(page).toMatchObject({ ref: "northwind", time_zone: "Europe/Berlin", default: true });
    const [shop, platform] = groups;
    expect(groups).toMatchObject([
      { name: "Shop", collapse: "collapsed" },
      { name: "Platform", collapse: "expanded" },
    ]);
    expect(components).toMatchObject([
      { name: "Marketing site", group_id: null, ref: "marketing-site" },
      { name: "Storefront", group_id: shop.id, start_date: "2025-01-01" },
      { name: "Search", group_id: shop.id, only_show_if_degraded: true },
      { name: "API", group_id: platform.id, ref: "core-api", showcase: false },
    ]);
  });

  test("applying a file twice changes nothing, not even versions, events or audit entries", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const before = await read(app);
    const audited = app.audit().length;
    const outcome = await apply(app, FILE);
    expect(outcome).toMatchObject({ changes: [], leftovers: [] });
    expect(await read(app)).toEqual(before);
    // One more row: the key that the second reading was made with.
    expect(app.audit()).toHaveLength(audited + 1);
    expect(app.events()).toEqual([]);
  });

  test("apply changes what differs, reports old and new values, and never changes a status", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const { components } = await read(app);
    await app.ctx.db.write((tx) =>
      setManualStatuses(app.ctx, tx, new Map([[components[3].id, "major_outage"]]), {
        source: "manual",
        actor: CLI_ACTOR,
        reason: null,
      }),
    );
    const outcome = await apply(
      app,
      FILE.replace("name: API", "name: Public API").replace("    description: All of it\n", ""),
    );
    expect(linesOf(outcome)).toEqual([
      '~ page northwind: description "All of it" → none',
      '~ component northwind/core-api: name "API" → "Public API"',
    ]);
    expect((await read(app)).components[3]).toMatchObject({
      id: components[3].id,
      name: "Public API",
      status: "major_outage",
    });
  });

  test("a component that moves to another group or position stays the same component", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const before = await read(app);
    const moved = FILE.replace(
      "          - name: Search\n            only_show_if_degraded: true\n",
      "",
    ).concat("          - name: Search\n            only_show_if_degraded: true\n");
    expect(linesOf(await apply(app, moved))).toEqual([
      "~ component northwind/core-api: position 3 → 2",
      '~ component northwind/search: position 2 → 3, group "shop" → "platform"',
    ]);
    const after = await read(app);
    const search = after.components.at(-1);
    expect(search).toMatchObject({ name: "Search", group_id: after.groups[1].id });
    expect(search.id).toBe(before.components[2].id);
  });

  test("previous_refs and previous_slugs rename objects, and the old slug still redirects", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const before = await read(app);
    const renamed = FILE.replace(
      "slug: northwind\n    name: Northwind",
      "slug: nw\n    previous_slugs: [northwind]\n    name: NW Traders",
    ).replace("- name: Marketing site", "- name: Website\n        previous_refs: [marketing-site]");
    await apply(app, renamed);
    const after = await read(app, "northwind");
    expect(after.page).toMatchObject({ id: before.page.id, slug: "nw", name: "NW Traders" });
    expect(after.components[0]).toMatchObject({ id: before.components[0].id, name: "Website" });
    expect((await apply(app, renamed)).changes).toEqual([]);
  });

  test("two entries of a file never become the same page, even through earlier slugs", async () => {
    await using app = await createTestApp();
    await apply(app, "pages: [{ slug: acme, ref: acme, name: Acme }]");
    const swapped =
      "pages: [{ slug: other, ref: acme, name: Acme }, { slug: acme, ref: fresh, name: Fresh }]";
    await expect(apply(app, swapped)).rejects.toThrow("line 1: The slug acme is taken.");
    expect((await read(app, "acme")).page).toMatchObject({ slug: "acme", name: "Acme" });
  });

  test("objects missing from the file stay until they are pruned, and pruning removes only those of apply", async () => {
    await using app = await createTestApp();
    const byHand = await app.page({ slug: "by-hand", name: "By hand" });
    await apply(app, FILE);
    const smaller = FILE.replace("      - name: Marketing site\n", "      []\n");
    const kept = await apply(app, smaller);
    expect(kept.leftovers).toEqual(["component northwind/marketing-site"]);
    expect(linesOf(kept).some((line) => line.startsWith("-"))).toBe(false);
    const pruned = await apply(app, smaller, true);
    expect(linesOf(pruned)).toContain("- component northwind/marketing-site");
    await apply(app, "pages: []", true);
    const key = await app.keyWith("read:status");
    const { body } = await app.call("/api/v1/status", { key });
    expect(body.data.map((each: { page: { id: string } }) => each.page.id)).toEqual([
      byHand.page.id,
    ]);
  });

  test("the first page of a file replaces the sample page", async () => {
    await using app = await createTestApp();
    await storeFirstRun(app.ctx);
    await apply(app, FILE.replaceAll("northwind", "sample"));
    expect((await read(app, "sample")).page).toMatchObject({ sample: false, default: true });
  });

  test("an error of the database rolls back the whole file and names the line", async () => {
    await using app = await createTestApp();
    await app.page({ slug: "by-hand", name: "By hand" });
    await apply(app, FILE);
    const before = await read(app);
    const taking = FILE.replace("slug: northwind", "slug: by-hand").replace(
      "pages:\n",
      "pages:\n  - { slug: first, name: First }\n",
    );
    await expect(apply(app, taking)).rejects.toThrow("line 4: The slug by-hand is taken.");
    expect(await read(app)).toEqual(before);
    const key = await app.keyWith("read:status");
    expectProblem(await app.call("/api/v1/status/first", { key }), "not_found");
  });
});
