import type { Page } from "playwright-core";
import { listAllWebhooks, setPause } from "../../../src/features/webhooks/store";
import { destinationKey } from "../../../src/features/webhooks/deliver/delivery-queue";
import { MINUTE_MS } from "../../../src/base/time";
import type { DemoData } from "../demo-data";
import type { DemoSites } from "../demo-sites";
import { withRelayAt } from "./mail";
import { inEmpty, inDemoData, openDialog, send, sendLate, type Screen } from "./screen";

const LIST = "/admin/settings/webhooks";

function of(name: string, path = "") {
  return ({ webhooks }: DemoData) => `${LIST}/${webhooks.ids[name]}${path}`;
}

const retried = ({ webhooks }: DemoData) =>
  `${LIST}/${webhooks.ids["On-call relay"]}/deliveries/${webhooks.retried}`;

/** Screens of webhooks, except the form for the first one. */
export const WEBHOOK_SCREENS: readonly Screen[] = [
  { name: "webhooks", open: inDemoData(() => LIST, "admin") },
  { name: "webhook-create", open: inDemoData(() => `${LIST}/new`) },
  {
    name: "webhook-create-monitors",
    open: inDemoData(() => `${LIST}/new`),
    async reach(page) {
      await page.getByLabel("Selected monitors", { exact: true }).check();
      await page.getByLabel("VPN gateway").check();
    },
  },
  {
    name: "webhook-create-telegram",
    open: inDemoData(() => `${LIST}/new`),
    async reach(page) {
      await page.getByLabel("Description").fill("The team's group");
      await send(page, "Telegram");
    },
  },
  {
    name: "webhook-create-template",
    open: inDemoData(() => `${LIST}/new`),
    async reach(page) {
      await send(page, "Any receiver");
      await send(page, "PagerDuty");
    },
  },
  {
    name: "webhook-create-template-errors",
    status: 422,
    open: inDemoData(() => `${LIST}/new?format=template`),
    async reach(page) {
      await send(page, "Matrix");
      await page.getByLabel("Headers", { exact: true }).fill("Authorization: Bearer 1234");
      await page.getByLabel("Body", { exact: true }).fill('{"body": {title}}');
      await send(page, "Create webhook");
    },
  },
  {
    name: "webhook-template",
    open: inDemoData(() => `${LIST}/new?format=template`),
    async reach(page) {
      await send(page, "Opsgenie");
      await page.getByLabel("Description").fill("On call");
      await page.getByLabel("API_KEY").fill("quite-private");
      await send(page, "Create webhook");
      await page.getByRole("link", { name: "Open webhook" }).click();
    },
  },
  {
    name: "webhook-create-errors",
    status: 422,
    open: inDemoData(() => `${LIST}/new?format=telegram`),
    async reach(page) {
      await page.getByLabel("URL").fill("https://api.telegram.org");
      await page.getByLabel("Chat id").fill("our group");
      await page.getByLabel("Selected events").check();
      await send(page, "Create webhook");
    },
  },
  { name: "webhook", open: inDemoData(of("On-call relay")) },
  { name: "webhook-of-a-channel", open: inDemoData(of("#status in Slack")) },
  { name: "webhook-failing", open: inDemoData(of("Screen in the warehouse")) },
  { name: "webhook-disabled", open: inDemoData(of("The pager before this one")) },
  {
    name: "webhook-nothing-found",
    open: inDemoData(of("#status in Slack", "?show=failed")),
  },
  { name: "webhook-edit", open: inDemoData(of("Screen in the warehouse", "/edit")) },
  {
    name: "webhook-edit-late",
    status: 409,
    open: inDemoData(of("On-call relay", "/edit")),
    async reach(page) {
      await page.getByLabel("Description").fill("Relay of the on-call team");
      await sendLate(page, "Save changes");
    },
  },
  { name: "webhook-rotate", open: inDemoData(of("On-call relay", "/rotate")) },
  {
    name: "webhook-redeliver-dialog",
    isOverlay: true,
    open: inDemoData(of("On-call relay")),
    reach: (page) => openDialog(page, "Redeliver failed deliveries"),
  },
  {
    name: "webhook-disable-dialog",
    isOverlay: true,
    open: inDemoData(of("On-call relay")),
    reach: (page) => openDialog(page, "Disable"),
  },
  { name: "webhook-delete", open: inDemoData(of("#status in Slack", "/delete")) },
  { name: "delivery", open: inDemoData(retried) },
  {
    name: "delivery-first-try",
    open: inDemoData((installation) => `${retried(installation)}?try=1`),
  },
  {
    name: "webhook-without-monitors",
    open: inDemoData(() => `${LIST}/new`),
    async reach(page) {
      await page.getByLabel("URL").fill("https://relay.northwind.example/second");
      await page.getByLabel("Description").fill("Relay of the second line");
      await page.getByLabel("Selected monitors", { exact: true }).check();
      await send(page, "Create webhook");
      await page.getByRole("link", { name: "Open webhook" }).click();
      await page.getByText("No monitor is selected").waitFor();
    },
  },
];

/** Creates a webhook whose receiver then refuses messages for 90 seconds. */
async function createPaused(page: Page, { empty }: DemoSites): Promise<void> {
  await page.getByLabel("URL").fill("https://relay.northwind.example/paused");
  await page.getByLabel("Description").fill("Relay with a limit");
  await send(page, "Create webhook");
  const { clock, ctx } = empty.app;
  const row = listAllWebhooks(ctx.db, {}).at(-1);
  const destination = row && destinationKey(row);
  if (destination === undefined) throw new Error("one was created");
  const until = clock.now() + 1.5 * MINUTE_MS;
  await ctx.db.write((tx) => setPause(tx, { destination, until }));
}

/** Screens that create a webhook in an installation without one. */
export const FIRST_WEBHOOK_SCREENS: readonly Screen[] = [
  { name: "webhooks-empty", open: ({ empty }) => inEmpty(empty, LIST) },
  {
    name: "webhook-secret",
    open: ({ empty }) => inEmpty(empty, `${LIST}/new`),
    async reach(page) {
      await page.getByLabel("URL").fill("https://relay.northwind.example/allclear");
      await page.getByLabel("Description").fill("On-call relay");
      await send(page, "Create webhook");
    },
  },
  {
    name: "webhook-secret-shown-before",
    open: ({ empty }) => inEmpty(empty, `${LIST}/new?format=slack`),
    async reach(page, { empty }) {
      await page.getByLabel("URL").fill("https://hooks.slack.com/services/T0/B0/unshown");
      await send(page, "Create webhook");
      await empty.app.clock.advance(MINUTE_MS);
      await page.reload();
    },
  },
  {
    name: "webhook-paused",
    open: ({ empty }) => inEmpty(empty, `${LIST}/new`),
    async reach(page, demoSites) {
      await createPaused(page, demoSites);
      await page.getByRole("link", { name: "Open webhook" }).click();
      await page.getByText("Paused by the receiver").waitFor();
    },
  },
  {
    name: "webhooks-paused",
    open: ({ empty }) => inEmpty(empty, `${LIST}/new`),
    async reach(page, demoSites) {
      await createPaused(page, demoSites);
      await page.goto(new URL(LIST, page.url()).href);
      await page.getByText("by the receiver until").first().waitFor();
    },
  },
  {
    name: "webhook-create-email",
    open: withRelayAt(`${LIST}/new?format=email`),
    reach: (page) => page.getByLabel("Address").fill("oncall@northwind.example"),
  },
  {
    name: "webhook-email-created",
    open: withRelayAt(`${LIST}/new?format=email`),
    async reach(page) {
      await page.getByLabel("Address").fill("oncall@northwind.example");
      await send(page, "Create webhook");
    },
  },
  {
    name: "webhook-unconfirmed",
    open: withRelayAt(`${LIST}/new?format=email`),
    async reach(page) {
      await page.getByLabel("Address").fill("oncall@northwind.example");
      await send(page, "Create webhook");
      await page.getByRole("link", { name: "Open webhook" }).click();
      await page.getByText("A link for the address waits to be mailed").waitFor();
    },
  },
];
