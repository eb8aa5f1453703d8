import type { Actor } from "../../src/base/actor";
import type { TestApp } from "./app";
import { createTemplate } from "./examined";

/** Names of the templates in the demo data. */
export const DEMO_TEMPLATES = { checkout: "Checkout down", provider: "Provider outage" } as const;

/** Adds three incident templates: two of the shop, one for all pages. */
export function addTemplates({ ctx }: TestApp, by: Actor): Promise<void> {
  return ctx.db.write((tx) => {
    const checkout = {
      page: "northwind",
      name: DEMO_TEMPLATES.checkout,
      title: "Orders cannot be placed",
      body: "Placing an order fails. We are looking into the cause and will post an update within 30 minutes.",
      impact_override: "critical" as const,
      components: { "northwind:checkout": "major_outage" as const },
    };
    createTemplate(ctx, tx, checkout, by);
    const slow = {
      page: "northwind",
      name: "Slow shop",
      title: "The shop is slow",
      body: "Pages of the shop load slowly. You can still place orders.",
      status: "identified" as const,
      components: { "northwind:storefront": "degraded_performance" as const },
    };
    createTemplate(ctx, tx, slow, by);
    const provider = {
      name: DEMO_TEMPLATES.provider,
      title: "Problem at our provider",
      body: "A provider that we depend on reports an outage. We follow its progress.",
      status: "monitoring" as const,
    };
    createTemplate(ctx, tx, provider, by);
  });
}
