import { MINUTE_MS } from "../../../src/kernel/time";
import type { Furnished } from "../furnished";
import { inEmpty, inFurnished, openDialog, send, sendLate, type Screen } from "./screen";

const LIST = "/admin/settings/webhooks";

function of(name: string, path = "") {
  return ({ webhooks }: Furnished) => `${LIST}/${webhooks.ids[name]}${path}`;
}

const retried = ({ webhooks }: Furnished) =>
  `${LIST}/${webhooks.ids["On-call relay"]}/deliveries/${webhooks.retried}`;

/** Webhooks. What makes one is among the screens of an empty installation. */
export const WEBHOOK_SCREENS: readonly Screen[] = [
  { name: "webhooks", open: inFurnished(() => LIST, "admin") },
  { name: "webhook-create", open: inFurnished(() => `${LIST}/new`) },
  {
    name: "webhook-create-telegram",
    open: inFurnished(() => `${LIST}/new`),
    async reach(page) {
      await page.getByLabel("Description").fill("The team's group");
      await send(page, "Telegram");
    },
  },
  {
    name: "webhook-create-errors",
    status: 422,
    open: inFurnished(() => `${LIST}/new?format=telegram`),
    async reach(page) {
      await page.getByLabel("URL").fill("https://api.telegram.org");
      await page.getByLabel("Chat id").fill("our group");
      await page.getByLabel("Only some events").check();
      await send(page, "Create webhook");
    },
  },
  { name: "webhook", open: inFurnished(of("On-call relay")) },
  { name: "webhook-of-a-channel", open: inFurnished(of("#status in Slack")) },
  { name: "webhook-failing", open: inFurnished(of("Screen in the warehouse")) },
  { name: "webhook-disabled", open: inFurnished(of("The pager before this one")) },
  {
    name: "webhook-nothing-found",
    open: inFurnished(of("#status in Slack", "?show=failed")),
  },
  { name: "webhook-edit", open: inFurnished(of("Screen in the warehouse", "/edit")) },
  {
    name: "webhook-edit-late",
    status: 409,
    open: inFurnished(of("On-call relay", "/edit")),
    reach: (page) => sendLate(page, "Save changes"),
  },
  { name: "webhook-rotate", open: inFurnished(of("On-call relay", "/rotate")) },
  {
    name: "webhook-redeliver-dialog",
    isOverlay: true,
    open: inFurnished(of("On-call relay")),
    reach: (page) => openDialog(page, "Redeliver failed"),
  },
  {
    name: "webhook-disable-dialog",
    isOverlay: true,
    open: inFurnished(of("On-call relay")),
    reach: (page) => openDialog(page, "Disable"),
  },
  { name: "webhook-delete", open: inFurnished(of("#status in Slack", "/delete")) },
  { name: "delivery", open: inFurnished(retried) },
  { name: "delivery-first-try", open: inFurnished((house) => `${retried(house)}?try=1`) },
];

/** Those that make one, in an installation that has none. */
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
];
