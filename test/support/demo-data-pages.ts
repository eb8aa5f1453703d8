import { addPage, type PagePlan } from "../../src/demo/year";
import { setManualStatuses } from "../../src/features/components/statuses";
import type { Actor } from "../../src/base/actor";
import { DAY_MS } from "../../src/base/time";
import type { TestApp } from "./app";
import { updatePage } from "./examined";

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
  const shop = await ctx.db.write((tx) => addPage(ctx, tx, SHOP, actor));
  const inside = await ctx.db.write((tx) => addPage(ctx, tx, INSIDE, actor));
  clock.setWallClock(now - 150 * DAY_MS);
  await ctx.db.write((tx) => updatePage(ctx, tx, shop.row.id, { slug: "northwind" }, actor));
  clock.setWallClock(now - 2 * DAY_MS);
  const why = { source: "manual", actor, reason: "Its search index is being rebuilt." } as const;
  const slow = new Map([[inside.component("Wiki"), "degraded_performance"] as const]);
  await ctx.db.write((tx) => setManualStatuses(ctx, tx, slow, why));
  return { shop, inside };
}
