import { suppress } from "../../../src/features/mail/suppressions";
import { listComponentsOfPage } from "../../../src/features/components/store";
import { findPageBySlug } from "../../../src/features/pages/store";
import { insertChoice, storeMail, storeSignUp, storeSubscriber } from "../mailed-subscriber";
import type { SubscriberRow } from "../../../src/features/subscribers/store";
import type { DemoSites } from "../demo-sites";
import { DAY_MS, MINUTE_MS } from "../../../src/base/time";
import { inDemoData, openDialog, send, type Screen } from "./screen";

const SUBSCRIBERS = "/admin/subscribers";

/** Ids of the stored subscribers by the first word of their address, by installation. */
const stored = new WeakMap<object, Record<string, string>>();

/** First words of the addresses whose screens are opened. */
const NAMES = ["maya", "bounced", "gone", "choosy", "declined"];

/** Stores subscribers of the first page, once, and returns their ids by the first word of their address. */
function subscribersOf({ demoData }: DemoSites): Record<string, string> {
  const { ctx } = demoData.app;
  const known = stored.get(ctx);
  if (known) return known;
  // Known before they are stored, since a screen's path is needed at once.
  const ids = Object.fromEntries(NAMES.map((name) => [name, ctx.newId("sub")]));
  stored.set(ctx, ids);
  void ctx.db.write((tx) => {
    const pageId = findPageBySlug(tx, { slug: "northwind" })?.id ?? "";
    const [component] = listComponentsOfPage(tx, { pageId });
    const now = ctx.clock.now();
    const add = (name: string, more: Omit<Partial<SubscriberRow>, "address"> = {}) => {
      const address = `${name}@customer-of-northwind.example`;
      const id = ids[name] ?? ctx.newId("sub");
      return storeSubscriber(ctx, tx, { pageId, address, id, ...more });
    };
    for (let index = 1; index <= 24; index++) {
      add(`reader.${index}`, { confirmedAt: now - (40 - index) * DAY_MS });
    }
    const choosy = add("choosy", { scope: "selection", confirmedAt: now - 3 * DAY_MS });
    if (component) insertChoice(tx, { targetId: component.id, subscriberId: choosy.id });
    const gone = { status: "unsubscribed" as const, unsubscribedAt: now - 2 * DAY_MS };
    add("gone", { ...gone, tokenVersion: 2 });
    const bounced = add("bounced", { confirmedAt: now - 90 * DAY_MS });
    const note = "550 5.1.1 Recipient address rejected: User unknown";
    suppress(ctx, tx, { addressHmac: bounced.addressHmac, reason: "bounced", note });
    suppress(ctx, tx, { addressHmac: add("declined").addressHmac, reason: "declined" });
    suppress(ctx, tx, {
      addressHmac: add("blocked").addressHmac,
      reason: "blocked",
      note: "Legal",
    });
    storeSignUp(ctx, tx, pageId, "curious@customer-of-northwind.example");
    const maya = add("maya", { confirmedAt: now - 200 * DAY_MS });
    const subject = "[Northwind] Search answers slowly for customers in Europe";
    storeMail(ctx, tx, maya, { subject, reply: "250 2.0.0 Ok: queued as 4cXyZ12bKq" });
    storeMail(ctx, tx, maya, { status: "superseded", subject: "[Northwind] Sign-in fails" });
    const refused = "550 5.7.1 Message rejected due to content restrictions";
    storeMail(ctx, tx, maya, { status: "failed", subject, tries: 1, reply: refused });
    const later = { tries: 3, nextTryAt: now + 15 * MINUTE_MS, reply: "451 4.7.1 Try again later" };
    storeMail(ctx, tx, maya, { status: "pending", subject, ...later });
    storeMail(ctx, tx, bounced, { status: "bounced", subject, reply: note });
  });
  return ids;
}

/** A screen of the list. */
function inList(query: string, role: "owner" | "editor" = "owner"): Screen["open"] {
  return (demoSites) => {
    subscribersOf(demoSites);
    return inDemoData(() => `${SUBSCRIBERS}?page=northwind${query}`, role)(demoSites);
  };
}

/** A screen of one subscriber. */
function inSubscriber(name: string, path = ""): Screen["open"] {
  return (demoSites) => {
    const ids = subscribersOf(demoSites);
    return inDemoData(() => `${SUBSCRIBERS}/${ids[name]}${path}`)(demoSites);
  };
}

/** Subscribers of a page. */
export const SUBSCRIBER_SCREENS: readonly Screen[] = [
  { name: "subscribers", open: inList("") },
  { name: "subscribers-search", open: inList("&q=reader.2") },
  { name: "subscribers-none", open: inList("&q=nobody") },
  { name: "subscribers-unconfirmed", open: inList("&show=unconfirmed") },
  { name: "subscribers-suppressed", open: inList("&show=suppressed") },
  { name: "subscribers-ended", open: inList("&show=unsubscribed") },
  { name: "subscribers-numbers", open: inList("", "editor") },
  { name: "subscriber-add", open: inDemoData(() => `${SUBSCRIBERS}/new?page=northwind`) },
  {
    name: "subscriber-add-errors",
    status: 422,
    open: inDemoData(() => `${SUBSCRIBERS}/new?page=northwind`),
    async reach(page) {
      await page.getByLabel("E-mail", { exact: true }).fill("maya");
      await page.getByLabel("Selected components").check();
      await send(page, "Ask to subscribe");
    },
  },
  { name: "subscriber", open: inSubscriber("maya") },
  { name: "subscriber-bounced", open: inSubscriber("bounced") },
  { name: "subscriber-ended", open: inSubscriber("gone") },
  { name: "subscriber-edit", open: inSubscriber("choosy", "/edit") },
  {
    name: "subscriber-remove",
    isOverlay: true,
    open: inSubscriber("maya"),
    reach: (page) => openDialog(page, "Remove"),
  },
  { name: "subscriber-links", open: inSubscriber("maya", "/links") },
  { name: "subscriber-block", open: inSubscriber("maya", "/block") },
  {
    name: "subscriber-reactivate",
    isOverlay: true,
    open: inSubscriber("declined"),
    reach: async (page) => {
      await page.getByRole("link", { name: "End suppression" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
];
