import type { DemoIncident, DemoPage } from "../../src/demo/year";
import type { Actor } from "../../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";

const CARDS_POSTMORTEM = `## What happened

Our payment provider rotated the certificate that its answers are signed with. Our copy of the old one was checked for **38 minutes** after the new one was in use.

## What was affected

Payments by card. About 1 in 9 failed; nobody was charged for an order that was not placed.

## What we do so that it does not happen again

- The certificate is fetched every hour.
- We are told when a signature does not match, before customers are.
`;

/** Actors that report incidents in the demo data. */
interface Tellers {
  noor: Actor;
  jonas: Actor;
  bot: Actor;
}

/** Returns the incidents of half a year: two are open, one is a draft, the others are resolved. */
export function incidentStories(
  { shop, inside }: { shop: DemoPage; inside: DemoPage },
  { noor, jonas, bot }: Tellers,
): readonly DemoIncident[] {
  return [
    {
      page: shop,
      name: "Order emails arrive late",
      ago: 49 * MINUTE_MS,
      updates: [
        {
          by: noor,
          after: 0,
          body: "Confirmations of orders take up to half an hour to arrive. Orders themselves are not affected. We are looking into the cause.",
          components: { "Order emails": "partial_outage" },
        },
        {
          by: noor,
          after: 30 * MINUTE_MS,
          status: "identified",
          body: "Our mail provider holds back messages to two large mailbox providers. Everything is queued and will be delivered.\n\nWe have asked them to let our messages through first.",
        },
      ],
    },
    {
      page: shop,
      name: "Search answers slowly",
      ago: 3 * HOUR_MS + 8 * MINUTE_MS,
      source: "api",
      more: { external_ref: "OPS-1187" },
      updates: [
        {
          by: bot,
          after: 0,
          body: "The 95th percentile of search is above two seconds.",
          components: { Search: "degraded_performance" },
        },
        {
          by: jonas,
          after: 100 * MINUTE_MS,
          status: "monitoring",
          body: "We have moved search to larger machines and are watching whether it stays fast.",
        },
      ],
    },
    {
      page: shop,
      name: "Some product images are missing",
      ago: 12 * MINUTE_MS,
      more: { draft: true },
      updates: [
        {
          by: noor,
          after: 0,
          body: "Images of products that were added today may not be shown.",
          components: { "Product images": "degraded_performance" },
        },
      ],
    },
    {
      page: shop,
      name: "Payments by card fail for some customers",
      ago: 6 * DAY_MS + 3 * HOUR_MS,
      updates: [
        {
          by: jonas,
          after: 4 * MINUTE_MS,
          body: "Some payments by card are refused. We are looking into it.",
          components: { Checkout: "partial_outage" },
        },
        {
          by: jonas,
          after: 19 * MINUTE_MS,
          status: "identified",
          body: "The signatures of our payment provider do not match. We are installing its new certificate.",
        },
        {
          by: noor,
          after: 42 * MINUTE_MS,
          status: "resolved",
          body: "The new certificate is in place, and payments work as usual again.",
        },
      ],
      postmortem: { by: jonas, after: 26 * HOUR_MS, body: CARDS_POSTMORTEM, publish: true },
    },
    {
      page: inside,
      name: "VPN drops connections",
      ago: 15 * DAY_MS,
      updates: [
        { by: noor, after: 0, body: "We look into it.", components: { VPN: "major_outage" } },
        { by: noor, after: 90 * MINUTE_MS, status: "resolved", body: "The gateway was restarted." },
      ],
    },
    {
      page: shop,
      name: "Storefront, checkout and search cannot be reached",
      ago: 34 * DAY_MS,
      source: "api",
      updates: [
        {
          by: bot,
          after: 0,
          body: "The storefront cannot be reached from outside.",
          components: {
            Storefront: "major_outage",
            Checkout: "major_outage",
            Search: "major_outage",
            "Public API": "partial_outage",
          },
        },
        {
          by: jonas,
          after: 47 * MINUTE_MS,
          status: "resolved",
          body: "A change of our DNS was wrong and has been taken back.",
        },
      ],
    },
    {
      page: shop,
      name: "Some orders were confirmed twice",
      ago: 81 * DAY_MS,
      updates: [
        { by: noor, after: 0, body: "Some customers got two emails for one order." },
        {
          by: noor,
          after: 5 * HOUR_MS,
          status: "resolved",
          body: "Nobody was charged twice. The queue no longer sends a message again that was sent.",
        },
      ],
      postmortem: {
        by: noor,
        after: 30 * HOUR_MS,
        body: "## What happened\n\nA restart of the queue.",
        publish: false,
      },
    },
  ];
}
