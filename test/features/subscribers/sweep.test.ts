import { describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { insertInto, mutate, selectMany } from "../../../src/db/statements";
import { mailReports, mails } from "../../../src/db/tables/mail";
import { deleteComponent } from "../../../src/features/components/components";
import { suppress } from "../../../src/features/mail/suppressions";
import { trimMails } from "../../../src/features/mail/waiting";
import { subscriberFamilies } from "../../../src/features/metrics/families";
import { deletePage } from "../../../src/features/pages/deletion";
import { countSubscribers } from "../../../src/features/subscribers/store";
import { eraseSubscriber, sweepSubscribers } from "../../../src/features/subscribers/subscribers";
import { listSubscribers } from "../../../src/features/subscribers/list";
import { CLI_ACTOR } from "../../../src/base/actor";
import { DAY_MS } from "../../../src/base/time";
import { scrape } from "../../support/scrape";
import { createSubscribingSite, type SubscribingSite } from "../../support/subscribing";

const insertReport = insertInto(mailReports);
const setAllSent = mutate((orm, _$: Record<string, never>) =>
  orm.update(mails).set({ status: "sent", nextTryAt: null }),
);
const listIndex = selectMany((orm, _$: Record<string, never>) =>
  orm.select({ block: sql<Uint8Array>`block` }).from(sql`subscriber_search_data`),
);
const listReports = selectMany((orm, _$: Record<string, never>) => orm.select().from(mailReports));

/** Creates an installation for weeks that pass, whose keys are not used. */
async function createCalmSite(): Promise<SubscribingSite> {
  const site = await createSubscribingSite();
  site.app.app.usage.stop();
  return site;
}

async function sweep({ app: { ctx } }: SubscribingSite, addressesDays = 90): Promise<void> {
  const now = ctx.clock.now();
  const addressesUntil = now - addressesDays * DAY_MS;
  while (await ctx.db.write((tx) => sweepSubscribers(tx, { now, addressesUntil })));
}

test("a suppressed address waits 30 days for its next sign-up mail, however short events are kept", async () => {
  await using site = await createCalmSite();
  const { ctx, clock } = site.app;
  const { addressHmac } = await site.subscribed();
  await ctx.db.write((tx) => suppress(ctx, tx, { addressHmac, reason: "complained" }));
  const mailsAfter = async (days: number) => {
    clock.setWallClock(clock.now() + days * DAY_MS);
    const now = clock.now();
    await ctx.db.write((tx) => {
      setAllSent(tx, {});
      trimMails(tx, { before: now - DAY_MS, now });
    });
    const before = site.mails().length;
    await site.requested();
    return site.mails().length - before;
  };
  expect(await mailsAfter(29)).toBe(0);
  expect(await mailsAfter(1)).toBe(1);
});

describe("data about subscribers that is deleted in time", () => {
  test("sign-ups are deleted after 7 days, also confirmed ones", async () => {
    await using site = await createCalmSite();
    await site.subscribed();
    await site.requested("bob@example.com");
    await site.app.clock.advance(7 * DAY_MS - 60_000);
    await sweep(site);
    expect(site.requests()).toHaveLength(2);
    await site.app.clock.advance(60_000);
    await sweep(site);
    expect(site.requests()).toEqual([]);
    expect(site.subscribers()).toHaveLength(1);
  });

  test("an unsubscribed person's address is removed after 30 days, and its link still works", async () => {
    await using site = await createCalmSite();
    const path = site.path("unsubscribe", await site.subscribed());
    const form = { "List-Unsubscribe": "One-Click" };
    await site.app.call(path, { form });
    site.worker.cancel();
    await site.app.clock.advance(30 * DAY_MS - 1);
    await sweep(site);
    expect(site.subscribers()[0]?.address).toBe("ann@example.com");
    await site.app.clock.advance(1);
    await sweep(site);
    const [subscriber] = site.subscribers();
    expect([subscriber?.address, subscriber?.addressKey]).toEqual([null, null]);
    expect((await site.app.call(path, { form })).status).toBe(200);
  });

  test("client addresses of consents are removed as long as they are kept, the consent stays", async () => {
    await using site = await createCalmSite();
    await site.subscribed();
    await site.app.clock.advance(10 * DAY_MS);
    await sweep(site, 11);
    expect(site.subscribers()[0]?.consentIp).toBe("203.0.113.7");
    await sweep(site, 9);
    const [subscriber] = site.subscribers();
    expect(subscriber?.consentIp).toBeNull();
    expect(subscriber?.consentText).toContain("Messages about Acme");
  });

  test("subscribers of a deleted page are erased after 30 days", async () => {
    await using site = await createCalmSite();
    await site.subscribed();
    const { ctx } = site.app;
    const [mail] = site.mails();
    const report = { at: ctx.clock.now(), kind: "hard" as const, status: null, excerpt: "To: ann" };
    const reported = { ...report, id: ctx.newId("rpt"), mailId: mail?.id ?? null };
    await ctx.db.write((tx) => insertReport(tx, reported));
    site.worker.cancel();
    await ctx.db.write((tx) => deletePage(ctx, tx, site.page.id, CLI_ACTOR));
    await site.app.clock.advance(30 * DAY_MS - 1);
    await sweep(site);
    expect(site.subscribers()).toHaveLength(1);
    await site.app.clock.advance(1);
    await sweep(site);
    expect(site.subscribers()).toEqual([]);
    expect(site.mails()).toEqual([]);
    expect(listReports(ctx.db, {})).toEqual([]);
    expect(countSubscribers(ctx.db)).toEqual({ active: 0, unsubscribed: 0 });
  });

  test("nothing of a deleted address stays in the search index", async () => {
    await using site = await createCalmSite();
    const { ctx } = site.app;
    const indexed = () => Buffer.concat(listIndex(ctx.db, {}).map(({ block }) => block)).toString();
    const ann = await site.subscribed("qvw@example.com");
    await site.subscribed("bob@example.com");
    // A part is stored without what it has in common with the part before it.
    expect(indexed()).toContain("qvw");
    await ctx.db.write((tx) => eraseSubscriber(ctx, tx, ann));
    await sweep(site);
    expect(indexed()).not.toContain("qvw");
    const query = { pageId: site.page.id, view: "active" as const, search: "bob@", limit: 9 };
    expect(listSubscribers(ctx.db, query).rows).toHaveLength(1);
  });

  test("a deleted component is taken from selections", async () => {
    await using site = await createCalmSite();
    const { API = "", Web = "" } = site.components;
    const ann = await site.subscribed("ann@example.com", {
      scope: "selection",
      component: [API, Web],
    });
    const bob = await site.subscribed("bob@example.com", { scope: "selection", component: API });
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteComponent(ctx, tx, API, CLI_ACTOR));
    await sweep(site);
    expect(site.choices(ann).targets).toEqual([Web]);
    expect(site.choices(bob)).toMatchObject({ scope: "selection", targets: [] });
  });
});

test("the metrics count subscribers by status and sign-ups by result", async () => {
  await using site = await createCalmSite();
  const { app } = site;
  app.app.metrics.add(...subscriberFamilies(app.ctx.db, site.worker));
  const subscriber = await site.subscribed();
  await site.subscribed("bob@example.com");
  await app.call(site.path("unsubscribe", subscriber), {
    form: { "List-Unsubscribe": "One-Click" },
  });
  await site.requested("bob@example.com");
  const values = await scrape(app, await app.keyWith("read:analytics"));
  expect(values.value("allclear_subscribers", { status: "active" })).toBe(1);
  expect(values.value("allclear_subscribers", { status: "unsubscribed" })).toBe(1);
  const of = (result: string) => values.value("allclear_mail_signups_total", { result });
  expect([of("confirmation"), of("already_subscribed"), of("none")]).toEqual([2, 0, 1]);
});
