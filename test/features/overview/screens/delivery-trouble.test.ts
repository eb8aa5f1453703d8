import { describe, expect, test } from "bun:test";
import { CLI_ACTOR, type Role } from "../../../../src/base/actor";
import { createDeliverySite, type DeliverySite } from "../../../support/delivery-site";
import { openOverview } from "../../../support/overview";
import { startReceiver } from "../../../support/receiver";
import { WEBHOOK_LIST } from "../../../support/webhook-dashboard";
import { updateWebhook } from "../../../support/examined";

const MINUTE = 60_000;

/** Returns the rows of the overview that need attention and the targets of their links. */
async function rowsOf({ app }: DeliverySite, role: Role = "admin") {
  const { page } = await openOverview(app, await app.signedIn(role));
  const links = page.attributes("#attention .row-title a", "href");
  return { texts: page.texts("#attention .row"), links };
}

const NONE = { texts: [], links: [] };

describe("webhooks that need attention", () => {
  test("the overview shows no row for deliveries that arrive or are late by minutes", async () => {
    let status = 500;
    await using receiver = startReceiver(() => status);
    await using site = await createDeliverySite();
    await site.app.page();
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.pass(4 * MINUTE);
    expect(await rowsOf(site)).toEqual(NONE);
    status = 200;
    await site.pass(10 * MINUTE);
    expect(await rowsOf(site)).toEqual(NONE);
  });

  test("the overview names a webhook whose events wait longer than ten minutes, until they arrive", async () => {
    let status = 500;
    await using receiver = startReceiver(() => status);
    await using well = startReceiver();
    await using site = await createDeliverySite();
    await site.app.page();
    await site.endpoint(well.url);
    const { id } = await site.endpoint(receiver.url, { description: "Pager" });
    await site.recordEvents("cmp_1", "cmp_2");
    await site.pass(11 * MINUTE);
    const { texts, links } = await rowsOf(site);
    expect(texts).toEqual([
      expect.stringContaining(
        "Webhook · 2 pending events, the oldest queued 11 min ago. Last attempt: 500 Internal Server Error.",
      ),
    ]);
    expect(links).toEqual([`${WEBHOOK_LIST}/${id}`]);
    status = 200;
    await site.pass(40 * MINUTE);
    expect(await rowsOf(site)).toEqual(NONE);
  });

  test("the overview names a webhook that was disabled automatically and the reason, until it is enabled", async () => {
    await using gone = startReceiver(() => 410);
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    await site.app.page();
    const { id } = await site.endpoint(gone.url, { description: "Pager" });
    const off = await site.endpoint(gone.url, { description: "Off" });
    const set = (which: string, enabled: boolean) =>
      ctx.db.write((tx) => updateWebhook(ctx, tx, which, { enabled }, CLI_ACTOR));
    await set(off.id, false);
    await site.recordEvents("cmp_1");
    await site.idle();
    const { texts, links } = await rowsOf(site);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/^Pager Disabled for .*Webhook · The endpoint answered 410 Gone/);
    expect(links).toEqual([`${WEBHOOK_LIST}/${id}`]);
    await set(id, true);
    expect(await rowsOf(site)).toEqual(NONE);
  });

  test.each(["viewer", "editor"] as const)(
    "the overview tells a %s that webhooks fail, without names or links",
    async (role) => {
      await using gone = startReceiver(() => 410);
      await using site = await createDeliverySite();
      await site.app.page();
      await site.endpoint(gone.url, { description: "Pager" });
      await site.recordEvents("cmp_1");
      await site.idle();
      const { texts, links } = await rowsOf(site, role);
      expect(texts[0]).toStartWith("Notifications Events do not reach 1 webhook");
      expect(texts[0]).not.toContain("Pager");
      expect(links).toEqual([]);
    },
  );
});
