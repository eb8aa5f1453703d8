import type { ComponentStatus } from "../domain/component-status";

/** An incident of the past year, without its time. */
export interface PastIncident {
  name: string;
  component: string;
  status: ComponentStatus;
  minutes: number;
  /** Effect for users, and the cause once it is known. */
  effect: string;
  cause: string;
  /** True if the incident has a post-mortem. */
  hasPostmortem?: true;
}

type Columns = [string, string, ComponentStatus, number, string, string, true?];

const ROWS: readonly Columns[] = [
  [
    "Website slow in Asia",
    "Website",
    "degraded_performance",
    74,
    "Pages load slowly for visitors from Asia.",
    "A provider routes traffic around a broken cable.",
  ],
  [
    "Some card payments refused",
    "Card payments",
    "partial_outage",
    38,
    "About one in nine payments by card is refused. Nobody is charged twice.",
    "The payment provider changed a certificate before the announced time.",
    true,
  ],
  [
    "Search results incomplete",
    "Search",
    "degraded_performance",
    125,
    "New products are missing from search results.",
    "The search index stopped to take in changes.",
  ],
  [
    "Order e-mails delayed",
    "Order e-mails",
    "degraded_performance",
    190,
    "Confirmations arrive up to an hour late. Orders are not affected.",
    "A large mailbox provider limits our messages.",
  ],
  [
    "API errors for partners",
    "Public API",
    "partial_outage",
    27,
    "Some calls of the API are answered with 502.",
    "One of three gateways ran out of connections.",
  ],
  [
    "Checkout unavailable",
    "Checkout",
    "major_outage",
    19,
    "Orders cannot be placed. Baskets are kept.",
    "A release needed a database column that was not there yet.",
    true,
  ],
  [
    "Refunds delayed",
    "Refunds",
    "degraded_performance",
    310,
    "Refunds take a day longer than usual.",
    "A nightly job stopped after half of its work.",
  ],
  [
    "Prices not updated",
    "Live prices",
    "partial_outage",
    42,
    "Prices on open pages are not updated. Reloading the page helps.",
    "Connections were closed by a new load balancer.",
  ],
  [
    "Bank transfers booked late",
    "Bank transfer",
    "degraded_performance",
    240,
    "Transfers are booked some hours late.",
    "The bank delivered its files late.",
  ],
  [
    "Database failover",
    "Databases",
    "partial_outage",
    9,
    "Some requests failed for a few minutes.",
    "The primary database restarted, and the replica took over.",
  ],
  [
    "Exports missing",
    "Background jobs",
    "degraded_performance",
    95,
    "Exports that were requested this morning are late.",
    "Workers were busy with an import.",
  ],
  [
    "Text messages not delivered",
    "Text messages",
    "partial_outage",
    66,
    "Text messages to two networks are not delivered.",
    "The networks have an outage of their own.",
  ],
  [
    "Webhooks delayed",
    "Webhooks",
    "degraded_performance",
    51,
    "Webhooks arrive some minutes late. None is lost.",
    "A receiver that answers slowly held back the others.",
  ],
  [
    "Website unreachable",
    "Website",
    "major_outage",
    14,
    "The website cannot be reached.",
    "A change of our DNS was wrong and was taken back.",
  ],
  [
    "Invoices without logo",
    "Invoices",
    "degraded_performance",
    400,
    "Invoices of today lack our logo. They are valid.",
    "A file was left out of a release.",
  ],
  [
    "Sign-in slow",
    "Public API",
    "degraded_performance",
    33,
    "Signing in takes up to ten seconds.",
    "Passwords were hashed with an outdated setting.",
  ],
  [
    "Search unavailable",
    "Search",
    "major_outage",
    22,
    "Search answers with an error. Categories work.",
    "Two of three search nodes had a full disk.",
  ],
  [
    "Payments slow",
    "Card payments",
    "degraded_performance",
    48,
    "Payments take up to 20 seconds.",
    "Fraud screening answered slowly.",
  ],
  [
    "Wrong stock in the shop",
    "Background jobs",
    "partial_outage",
    130,
    "Some products are shown as sold out.",
    "Stock was read from an old replica.",
  ],
  [
    "Order e-mails sent twice",
    "Order e-mails",
    "degraded_performance",
    85,
    "Some customers get two e-mails for one order.",
    "A queue sent messages again after its restart.",
  ],
  [
    "Checkout slow",
    "Checkout",
    "degraded_performance",
    57,
    "Placing an order takes longer than usual.",
    "More orders than ever before.",
  ],
  [
    "API rate limits too strict",
    "Public API",
    "degraded_performance",
    36,
    "Some partners are limited too early.",
    "A new limit was applied to all keys.",
  ],
  [
    "Refund page fails",
    "Refunds",
    "partial_outage",
    29,
    "The page for refunds shows an error.",
    "A service was not restarted after a change of its password.",
  ],
  [
    "Delays in text messages",
    "Text messages",
    "degraded_performance",
    0,
    "Text messages arrive up to 15 minutes late.",
    "Our provider works on a backlog.",
  ],
];

/** The incidents from the oldest to the newest. The last one is open. */
export const PAST_INCIDENTS: readonly PastIncident[] = ROWS.map(
  ([name, component, status, minutes, effect, cause, hasPostmortem]) => ({
    name,
    component,
    status,
    minutes,
    effect,
    cause,
    ...(hasPostmortem ? { hasPostmortem } : {}),
  }),
);

/** Returns the post-mortem of an incident. */
export function postmortemOf({ effect, cause, minutes }: PastIncident): string {
  return `## What happened\n\n${effect} This lasted **${minutes} minutes**.\n\n## Cause\n\n${cause}\n\n## What changes\n\n- A test covers this case before each release.\n- An alert is sent after two minutes instead of ten.\n`;
}
