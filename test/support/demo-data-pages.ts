import { createComponent, createGroup, setManualStatuses } from "../../src/features/components";
import { createPage, type PageRow, updatePage } from "../../src/features/pages";
import type { Actor } from "../../src/domain/actor";
import { DAY_MS } from "../../src/kernel/time";
import type { TestApp } from "./app";

/** A page of the demo data. */
export interface DemoPage {
  row: PageRow;
  /** Returns the id of a component by its name. Throws for an unknown name. */
  component(name: string): string;
}

interface PagePlan {
  page: Parameters<typeof createPage>[2];
  /** Component names by the name of their group; "" is no group. */
  components: Readonly<Record<string, readonly string[]>>;
}

const SHOP: PagePlan = {
  page: {
    slug: "shop-status",
    name: "Northwind",
    description: "The shop, its emails and the API for partners.",
    time_zone: "Europe/Berlin",
    custom_domains: ["status.northwind-shop.example"],
    compat: ["uptime-kuma", "gatus"],
    accent: "#1d5fa8",
    default: true,
  },
  components: {
    "": ["Storefront", "Checkout"],
    Catalogue: ["Search", "Product images"],
    "For partners": ["Order emails", "Public API"],
  },
};

const INSIDE: PagePlan = {
  page: {
    slug: "northwind-internal",
    name: "Northwind internal",
    visibility: "private",
    time_zone: "Europe/Berlin",
  },
  components: { "": ["VPN", "Build farm", "Wiki"] },
};

/**
 * Creates a public and a private page 200 days ago. A component of the private page has a manual
 * status.
 */
export async function addPages(installation: TestApp, now: number, actor: Actor) {
  const { ctx, clock } = installation;
  clock.setWallClock(now - 200 * DAY_MS);
  const shop = await addPage(installation, SHOP, actor);
  const inside = await addPage(installation, INSIDE, actor);
  clock.setWallClock(now - 150 * DAY_MS);
  await ctx.db.write((tx) => updatePage(ctx, tx, shop.row.id, { slug: "northwind" }, actor));
  clock.setWallClock(now - 2 * DAY_MS);
  const why = { source: "manual", actor, reason: "Its search index is being rebuilt." } as const;
  const slow = new Map([[inside.component("Wiki"), "degraded_performance"] as const]);
  await ctx.db.write((tx) => setManualStatuses(ctx, tx, slow, why));
  return { shop, inside };
}

function addPage({ ctx }: TestApp, plan: PagePlan, actor: Actor): Promise<DemoPage> {
  return ctx.db.write((tx) => {
    const row = createPage(ctx, tx, plan.page, actor);
    const ids = new Map<string, string>();
    for (const [part, [title, names]] of Object.entries(plan.components).entries()) {
      const place = { managedBy: null };
      const groupId =
        title === ""
          ? null
          : createGroup(ctx, tx, row, { name: title }, { ...place, position: part }, actor).id;
      for (const [position, name] of names.entries()) {
        const at = { ...place, position, groupId };
        ids.set(name, createComponent(ctx, tx, row, { name }, at, actor).id);
      }
    }
    return {
      row,
      component(name) {
        const id = ids.get(name);
        if (id === undefined) throw new Error(`${row.name} has no component ${name}`);
        return id;
      },
    };
  });
}
