import type { Scope } from "../../src/features/keys/scopes";
import { CLI_ACTOR } from "../../src/base/actor";
import { openData } from "./open-data";
import { createComponent, createGroup, createKey, createPage } from "../../test/support/examined";

/** The page that is read and written: three groups, twenty components, as a shop would have them. */
const PAGE = {
  slug: "acme",
  name: "Acme Status",
  description: "Live status of Acme's shops, payments and platform, and the history of incidents.",
  time_zone: "Europe/Berlin",
};

const GROUPS: Record<string, Record<string, string>> = {
  Storefront: {
    Website: "The shop at acme.example, in all countries",
    "Mobile app": "Browsing and buying on iOS and Android",
    Search: "Finding products by words, filters and pictures",
    Checkout: "From the basket to the confirmed order",
    "Customer accounts": "Sign-in, addresses, orders and returns",
    Recommendations: "What others bought, on product pages",
    "Image delivery": "Product pictures from the content network",
  },
  Payments: {
    Cards: "Visa, Mastercard and American Express",
    "Bank transfer": "SEPA credit transfer and direct debit",
    Wallets: "Apple Pay, Google Pay and PayPal",
    Refunds: "Money back to the way it came from",
    Invoices: "PDF invoices and their delivery by mail",
    "Fraud screening": "Risk scores for new orders",
  },
  Platform: {
    "Public API": "REST and webhooks for partners at api.acme.example",
    "Partner dashboard": "Stock, prices and orders for sellers",
    Database: "The primary cluster and its replicas",
    "Message queue": "Background work and integrations",
    "Object storage": "Uploads, exports and backups",
    "Mail delivery": "Confirmations and newsletters",
    "Build and deploy": "Releases to production",
  },
};

export interface Seed {
  dataDir: string;
  slug: string;
  componentIds: string[];
  /** The values of as many keys as were asked for, each with the greatest limit there is. */
  keys: string[];
}

/** Fills a new data directory with the page and with keys. */
export async function seed(
  dataDir: string,
  given: { keys?: number; scopes?: Scope[] } = {},
): Promise<Seed> {
  const { keys: keyCount = 0, scopes = ["read:status"] } = given;
  const installation = openData(dataDir, { canCreate: true });
  const { ctx } = installation;
  try {
    const componentIds = await ctx.db.write((tx) => {
      const page = createPage(ctx, tx, PAGE, CLI_ACTOR);
      const ids: string[] = [];
      let position = 0;
      for (const [name, components] of Object.entries(GROUPS)) {
        const at = () => ({ position: position++, managedBy: null });
        const group = createGroup(ctx, tx, page, { name }, at(), CLI_ACTOR);
        for (const [component, description] of Object.entries(components)) {
          const fields = { name: component, description };
          const place = { ...at(), groupId: group.id };
          ids.push(createComponent(ctx, tx, page, fields, place, CLI_ACTOR).id);
        }
      }
      return ids;
    });
    const keys = await ctx.db.write((tx) =>
      Array.from({ length: keyCount }, (_, index) => {
        const body = { name: `bench ${index}`, scopes, rate_limit: 1_000_000 };
        return createKey(ctx, tx, body, CLI_ACTOR).value;
      }),
    );
    return { dataDir, slug: PAGE.slug, componentIds, keys };
  } finally {
    installation.close();
  }
}
