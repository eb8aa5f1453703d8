import type { Actor } from "../base/actor";
import { COMPAT_PRODUCTS } from "../base/compat";
import { composed } from "../base/validation";
import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import { createComponent, createGroup } from "../features/components/components";
import { createPage } from "../features/pages/pages";
import type { PageRow } from "../features/pages/store";
import type { PageInput } from "../features/pages/wire";

/** A page of demo data. */
export interface DemoPage {
  row: PageRow;
  /** Returns the id of a component by its name. Throws for an unknown name. */
  component(name: string): string;
}

/** A page to be created. */
export interface PagePlan {
  page: PageInput;
  /** Component names by the name of their group; "" is no group. */
  components: Readonly<Record<string, readonly string[]>>;
}

/** Creates a page with its groups and components. */
export function addPage(ctx: Ctx, tx: Tx, plan: PagePlan, actor: Actor): DemoPage {
  const row = createPage(ctx, tx, composed(plan.page), actor);
  const ids = new Map<string, string>();
  for (const [part, [title, names]] of Object.entries(plan.components).entries()) {
    const place = { managedBy: null };
    const groupId =
      title === ""
        ? null
        : createGroup(ctx, tx, row, composed({ name: title }), { ...place, position: part }, actor)
            .id;
    for (const [position, name] of names.entries()) {
      const at = { ...place, position, groupId };
      ids.set(name, createComponent(ctx, tx, row, composed({ name }), at, actor).id);
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
}

/** Public page of the demo: four groups with 14 components. */
export const PUBLIC_PAGE: PagePlan = {
  page: {
    slug: "meridian",
    name: "Meridian",
    description: "Live status of the shop, its payments and its platform.",
    default: true,
    compat: [...COMPAT_PRODUCTS],
  },
  components: {
    Shop: ["Website", "Checkout", "Search", "Live prices"],
    Payments: ["Card payments", "Bank transfer", "Refunds", "Invoices"],
    Platform: ["Public API", "Databases", "Background jobs"],
    Messages: ["Order e-mails", "Text messages", "Webhooks"],
  },
};

export const PRIVATE_PAGE: PagePlan = {
  page: { slug: "meridian-internal", name: "Meridian internal", visibility: "private" },
  components: { "": ["VPN", "Office network", "Exports"] },
};

/** A maintenance of two hours. */
export interface Work {
  name: string;
  body: string;
  component: string;
}

/** Past maintenances, the oldest first. */
export const WORKS: readonly Work[] = [
  {
    name: "New load balancers",
    body: "We replace the load balancers of the website one after the other. Pages may fail to load once or twice.",
    component: "Website",
  },
  {
    name: "Database upgrade",
    body: "The databases get a new version. For about five minutes, orders can be viewed and not changed.",
    component: "Databases",
  },
  {
    name: "Move to another payment provider",
    body: "Payments by card go to another provider. Bank transfer can be used all the time.",
    component: "Card payments",
  },
  {
    name: "Search index rebuilt",
    body: "Search finds all products meanwhile, but new products only afterwards.",
    component: "Search",
  },
  {
    name: "Network work in the second data centre",
    body: "All calls go to the first data centre meanwhile. Response times may be higher.",
    component: "Public API",
  },
  {
    name: "New version of the message queue",
    body: "Imports and stock counts wait for up to 20 minutes and then continue.",
    component: "Background jobs",
  },
  {
    name: "Renewal of webhook certificates",
    body: "Receivers that pin our certificate need the new one, which has been sent to their contacts.",
    component: "Webhooks",
  },
  {
    name: "Faster disks for the databases",
    body: "Each database moves to new disks. No interruption is expected.",
    component: "Databases",
  },
];

/** The maintenance to come. */
export const COMING_WORK: Work = {
  name: "Operating system updates",
  body: "The API servers are restarted one after the other. Single calls may fail and can be repeated.",
  component: "Public API",
};
