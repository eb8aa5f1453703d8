import { describe, expect, test } from "bun:test";
import {
  type ComponentOrder,
  deleteComponent,
  orderComponents,
} from "../../../src/features/components/components";
import { listComponentsOfPage, listGroups } from "../../../src/features/components/store";
import { deletePage } from "../../../src/features/pages/deletion";
import { getPage } from "../../../src/features/pages/pages";
import { CLI_ACTOR } from "../../../src/base/actor";
import { type ArrangedSite, createArrangedSite } from "../../support/grouped-site";
import { fieldErrorsOf } from "../../support/user-installation";
import { rejectionOf } from "../../support/rejection";
import { createComponent, createPage } from "../../support/examined";

/** An order by names: parts after each other, a part's own name first unless it is in no group. */
function orderIn({ ids }: ArrangedSite, parts: [string | null, ...string[]][]): ComponentOrder {
  const id = (name: string) => ids[name] ?? name;
  return {
    groups: parts.flatMap(([group]) => (group === null ? [] : [id(group)])),
    components: parts.flatMap(([group, ...names]) =>
      names.map((name) => ({ id: id(name), groupId: group === null ? null : id(group) })),
    ),
  };
}

const AS_IT_IS: [string | null, ...string[]][] = [
  [null, "Docs"],
  ["Core", "API", "Web"],
  ["Edge", "CDN"],
];

function order({ app, page }: ArrangedSite, desired: ComponentOrder): Promise<boolean> {
  return app.ctx.db.write((tx) => orderComponents(app.ctx, tx, page.id, desired, CLI_ACTOR));
}

const versionsOf = ({ app, page }: ArrangedSite) => {
  const at = { pageId: page.id };
  const rows = [...listGroups(app.ctx.db, at), ...listComponentsOfPage(app.ctx.db, at)];
  return Object.fromEntries(rows.map(({ name, version }) => [name, version]));
};

describe("an order of a page's components", () => {
  test("a new order of groups and components is visible at the next read of the API", async () => {
    await using site = await createArrangedSite();
    expect(await site.outline()).toBe("Docs | Core: API, Web | Edge: CDN");
    const desired = orderIn(site, [
      [null, "Web"],
      ["Edge", "CDN", "Docs"],
      ["Core", "API"],
    ]);
    expect(await order(site, desired)).toBe(true);
    expect(await site.outline()).toBe("Web | Edge: CDN, Docs | Core: API");
  });

  test("a new order writes one audit entry and changes the page once", async () => {
    await using site = await createArrangedSite();
    const { app, page } = site;
    const audited = app.audit().length;
    const { contentVersion } = getPage(app.ctx.db, page.id);
    await order(site, orderIn(site, AS_IT_IS.toReversed()));
    expect(app.audit().slice(audited)).toMatchObject([
      {
        action: "component.order",
        targetId: page.id,
        summary: "Changed the order of the components of “Acme”",
      },
    ]);
    expect(getPage(app.ctx.db, page.id).contentVersion).toBe(contentVersion + 1);
    expect(app.events()).toEqual([]);
  });

  test("a new order raises the versions of the moved components only", async () => {
    await using site = await createArrangedSite();
    await order(
      site,
      orderIn(site, [
        [null, "Docs"],
        ["Core", "Web", "API"],
        ["Edge", "CDN"],
      ]),
    );
    expect(versionsOf(site)).toEqual({ Core: 1, Edge: 1, Docs: 1, API: 2, Web: 2, CDN: 1 });
  });

  test("an order equal to the current one writes nothing", async () => {
    await using site = await createArrangedSite();
    const before = await site.state();
    const versions = versionsOf(site);
    expect(await order(site, orderIn(site, AS_IT_IS))).toBe(false);
    expect(await site.state()).toEqual(before);
    expect(versionsOf(site)).toEqual(versions);
  });

  test("an order can move all components into one group and leave others empty", async () => {
    await using site = await createArrangedSite();
    const { ids } = site;
    const mixed = ["Web", "CDN", "API", "Docs"].map((name) => ({
      id: ids[name] ?? "",
      groupId: ids["Edge"] ?? "",
    }));
    await order(site, { groups: [ids["Core"] ?? "", ids["Edge"] ?? ""], components: mixed });
    expect(await site.outline()).toBe(" | Core: | Edge: Web, CDN, API, Docs");
  });

  test("a new order keeps the statuses of components", async () => {
    await using site = await createArrangedSite();
    const { app, ids } = site;
    const key = await app.keyWith("write:components");
    const path = `/api/v1/components/${ids["API"]}`;
    await app.call(path, { method: "PATCH", key, json: { status: "partial_outage" } });
    await order(site, orderIn(site, AS_IT_IS.toReversed()));
    const [row] = listComponentsOfPage(app.ctx.db, { pageId: site.page.id }).filter(
      ({ id }) => id === ids["API"],
    );
    expect(row).toMatchObject({ status: "partial_outage", baselineStatus: "partial_outage" });
  });
});

describe("an incomplete or invalid order of a page's components", () => {
  const REFUSED: {
    what: string;
    parts(site: ArrangedSite): Promise<ComponentOrder> | ComponentOrder;
    errors: Record<string, string>;
  }[] = [
    {
      what: "without a component and a group",
      parts: (site) =>
        orderIn(site, [
          [null, "Docs"],
          ["Core", "API", "Web"],
        ]),
      errors: {
        "#/groups": "does not name “Edge”",
        "#/components": "does not name “CDN”",
      },
    },
    {
      what: "with one named twice",
      parts: (site) => orderIn(site, [[null, "Docs", "Docs"], ...AS_IT_IS.slice(1)]),
      errors: { "#/components/1": "is named twice" },
    },
    {
      what: "with a group named twice",
      parts: (site) => orderIn(site, [...AS_IT_IS, ["Core"]]),
      errors: { "#/groups/2": "is named twice" },
    },
    {
      what: "with a component that is not there",
      parts: (site) => orderIn(site, [[null, "Docs", "cmp_none"], ...AS_IT_IS.slice(1)]),
      errors: { "#/components/1": "is not a component of this page" },
    },
    {
      what: "with a component in a group that is not there",
      parts(site) {
        const { groups, components } = orderIn(site, AS_IT_IS);
        const [first, ...rest] = components;
        return { groups, components: [{ id: first?.id ?? "", groupId: "grp_none" }, ...rest] };
      },
      errors: { "#/components/0/groupId": "must be a group of this page" },
    },
    {
      what: "with a component of another page",
      async parts(site) {
        const { ctx } = site.app;
        const other = await ctx.db.write((tx) => {
          const page = createPage(ctx, tx, { slug: "other", name: "Other" }, CLI_ACTOR);
          const at = { position: 0, groupId: null, managedBy: null };
          return createComponent(ctx, tx, page, { name: "Else" }, at, CLI_ACTOR).id;
        });
        return orderIn(site, [[null, "Docs", other], ...AS_IT_IS.slice(1)]);
      },
      errors: { "#/components/1": "is not a component of this page" },
    },
    {
      what: "with a component that was deleted meanwhile",
      async parts(site) {
        const { ctx } = site.app;
        await ctx.db.write((tx) => deleteComponent(ctx, tx, site.ids["Web"] ?? "", CLI_ACTOR));
        return orderIn(site, AS_IT_IS);
      },
      errors: { "#/components/2": "is not a component of this page" },
    },
  ];

  for (const { what, parts, errors } of REFUSED) {
    test(what, async () => {
      await using site = await createArrangedSite();
      const desired = await parts(site);
      const before = await site.state();
      expect(fieldErrorsOf(await rejectionOf(order(site, desired)))).toEqual(errors);
      expect(await site.state()).toEqual(before);
    });
  }

  test("an order of a deleted page is not_found", async () => {
    await using site = await createArrangedSite();
    const { ctx } = site.app;
    await ctx.db.write((tx) => deletePage(ctx, tx, site.page.id, CLI_ACTOR));
    const rejection = await rejectionOf(order(site, orderIn(site, AS_IT_IS)));
    expect(rejection.code).toBe("not_found");
  });
});
