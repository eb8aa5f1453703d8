import { describe, expect, test } from "bun:test";
import { listComponentsOfPage } from "../../../src/features/components/store";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, linesOf } from "../../support/apply";
import { createComponent, createGroup, createPage } from "../../support/examined";

const fileOf = (ungrouped: string[], groups: Record<string, string[]>) =>
  JSON.stringify({
    pages: [
      {
        slug: "acme",
        name: "Acme",
        components: ungrouped.map((name) => ({ name })),
        groups: Object.entries(groups).map(([name, components]) => ({
          name,
          components: components.map((component) => ({ name: component })),
        })),
      },
    ],
  });

/** Creates a page with positions that are not numbered from 0: `{group: {component: position}}`. */
async function pageWith(
  app: TestApp,
  groups: Record<string, { position: number; components: Record<string, number> }>,
) {
  return app.ctx.db.write((tx) => {
    const page = createPage(app.ctx, tx, { slug: "acme", name: "Acme" }, CLI_ACTOR);
    const shared = { managedBy: null };
    for (const [name, { position, components }] of Object.entries(groups)) {
      const group = createGroup(app.ctx, tx, page, { name }, { ...shared, position }, CLI_ACTOR);
      for (const [component, at] of Object.entries(components)) {
        const placement = { ...shared, position: at, groupId: group.id };
        createComponent(app.ctx, tx, page, { name: component }, placement, CLI_ACTOR);
      }
    }
    return () =>
      listComponentsOfPage(app.ctx.db, { pageId: page.id }).map(
        ({ name, position }) => `${name} ${position}`,
      );
  });
}

const GROUPS = {
  Web: { position: 4, components: { Shop: 7, Search: 9 } },
  Core: { position: 8, components: { API: 3, Jobs: 8 } },
};

describe("positions of objects in a file", () => {
  test("a page in the order of the file keeps its positions", async () => {
    await using app = await createTestApp();
    const components = await pageWith(app, GROUPS);
    const same = fileOf([], { Web: ["Shop", "Search"], Core: ["API", "Jobs"] });
    expect((await apply(app, same)).changes).toEqual([]);
    expect(components()).toEqual(["API 3", "Shop 7", "Jobs 8", "Search 9"]);
  });

  test("a page from which an object is removed keeps the positions of the others", async () => {
    await using app = await createTestApp();
    await apply(app, fileOf(["Shop", "API", "Jobs"], {}));
    expect(linesOf(await apply(app, fileOf(["Shop", "Jobs"], {}), true))).toEqual([
      "- component acme/api",
    ]);
  });

  test.each<[string, Record<string, string[]>]>([
    ["of two components", { Web: ["Search", "Shop"], Core: ["API", "Jobs"] }],
    ["of two groups", { Core: ["API", "Jobs"], Web: ["Shop", "Search"] }],
    ["by a component in another group", { Web: ["Shop"], Core: ["Search", "API", "Jobs"] }],
    ["by a new component", { Web: ["Shop", "New", "Search"], Core: ["API", "Jobs"] }],
  ])("another order, %s, numbers the page as the file has it, once", async (_what, groups) => {
    await using app = await createTestApp();
    const components = await pageWith(app, GROUPS);
    expect((await apply(app, fileOf([], groups))).changes).not.toEqual([]);
    expect(components()).toEqual(
      Object.values(groups)
        .flat()
        .map((name, position) => `${name} ${position}`),
    );
    expect((await apply(app, fileOf([], groups))).changes).toEqual([]);
  });
});
