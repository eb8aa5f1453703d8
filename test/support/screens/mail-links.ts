import type { Page } from "playwright-core";
import type { Ctx } from "../../../src/context";
import type { Tx } from "../../../src/db/statements";
import { listComponentsOfPage } from "../../../src/features/components/store";
import { ensureMailKey } from "../../../src/features/mail/tokens";
import { findPageBySlug } from "../../../src/features/pages/store";
import { insertChoice, storeSignUp, storeSubscriber } from "../mailed-subscriber";
import { linkPath, listRequests } from "../subscribing";
import { send, type Screen } from "./screen";

const PUBLIC = "northwind";
const PRIVATE = "northwind-internal";

/** Links of sign-ups and of subscribers. */
type Link = "confirm" | "decline" | "manage" | "unsubscribe";
type Subject = Parameters<typeof linkPath>[2];

interface LinkScreen {
  name: string;
  link: Link;
  slug?: string;
  status?: number;
  /** Performs the actions on the page to which the link leads. */
  act?(page: Page): Promise<void>;
}

const LINK_SCREENS: readonly LinkScreen[] = [
  { name: "mail-link-confirm", link: "confirm" },
  { name: "mail-link-manage", link: "manage" },
  {
    name: "mail-link-manage-errors",
    link: "manage",
    status: 422,
    async act(page) {
      for (const box of await page.getByRole("checkbox").all()) await box.uncheck();
      await send(page, "Save choices");
    },
  },
  { name: "mail-link-manage-private", link: "manage", slug: PRIVATE },
  { name: "mail-link-unsubscribe", link: "unsubscribe" },
  {
    name: "mail-link-unsubscribed",
    link: "unsubscribe",
    act: (page) => send(page, "Unsubscribe"),
  },
  { name: "mail-link-decline", link: "decline" },
  { name: "mail-link-ended", link: "manage", status: 404, act: endAndOpenAgain },
];

/** Pages to which links in mails to visitors lead. The subscribers are stored when a screen is opened. */
export const MAIL_LINK_SCREENS: readonly Screen[] = LINK_SCREENS.map(
  ({ name, link, slug = PUBLIC, status, act }) => ({
    name,
    ...(status === undefined ? {} : { status }),
    open: ({ demoData }) => ({ site: demoData, path: "/docs/errors" }),
    async reach(page, { demoData }) {
      const { ctx } = demoData.app;
      const subject = await ctx.db.write((tx) => storeSubject(ctx, tx, link, slug));
      await page.goto(demoData.origin + linkPath(ctx, link, subject));
      await act?.(page);
    },
  }),
);

/** Stores a subscriber of a page, who chose a component, or a sign-up, and returns the subject of a link. */
function storeSubject(ctx: Ctx, tx: Tx, link: Link, slug: string): Subject {
  const pageId = findPageBySlug(tx, { slug })?.id ?? "";
  if (link === "confirm" || link === "decline") {
    ensureMailKey(ctx, tx);
    storeSignUp(ctx, tx, pageId, "grace@customer-of-northwind.example");
    return listRequests(tx, {}).at(-1) ?? { id: "" };
  }
  const address = `grace.${ctx.newId("mrq")}@customer-of-northwind.example`;
  const subscriber = storeSubscriber(ctx, tx, { pageId, address, scope: "selection" });
  const [first] = listComponentsOfPage(tx, { pageId });
  if (first) insertChoice(tx, { targetId: first.id, subscriberId: subscriber.id });
  return subscriber;
}

async function endAndOpenAgain(page: Page): Promise<void> {
  const url = page.url();
  await send(page, "Unsubscribe");
  await page.goto(url);
}
