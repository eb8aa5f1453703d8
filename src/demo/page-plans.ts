import { COMPAT_PRODUCTS } from "../domain/compat";
import type { PagePlan } from "./pages";

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

/** Names of past maintenances, the oldest first, with a component each. */
export const WORKS: readonly (readonly [name: string, component: string])[] = [
  ["New load balancers", "Website"],
  ["Database upgrade", "Databases"],
  ["Move to another payment provider", "Card payments"],
  ["Search index rebuilt", "Search"],
  ["Network of the second data centre", "Public API"],
  ["New version of the message queue", "Background jobs"],
  ["Certificates exchanged", "Webhooks"],
  ["Faster disks", "Databases"],
];

/** The maintenance to come. */
export const COMING_WORK = ["Operating systems updated", "Public API"] as const;
