import { describe, expect, test } from "bun:test";
import type { Role } from "../../../../src/base/actor";
import { insertRequest } from "../../../../src/features/subscribers/store";
import { DAY_MS } from "../../../../src/base/time";
import { readHtml } from "../../../support/html";
import { createMailSite } from "../../../support/mail-site";
import { startMailboxes } from "../../../support/scripted-mailboxes";
import { createSubscribingSite, type SubscribingSite } from "../../../support/subscribing";

async function noticesFor({ app }: SubscribingSite, role: Role): Promise<string[]> {
  // The overview is read again after a second.
  await app.clock.advance(1_100);
  const { text } = await app.call("/admin", { session: await app.signedIn(role) });
  return readHtml(text)
    .texts(".notice")
    .filter((notice) => /E-mail|signing up/.test(notice));
}

describe("notices about e-mail on the overview", () => {
  test("admins see how many subscribers get no messages while e-mail is not set up", async () => {
    await using site = await createSubscribingSite();
    await site.subscribed();
    await site.subscribed("bob@example.com");
    expect(await noticesFor(site, "admin")).toEqual([]);
    await site.setUpMail(false);
    const [notice = "", ...others] = await noticesFor(site, "admin");
    expect(others).toEqual([]);
    expect(notice).toContain("2 subscribers get no messages");
    expect(await noticesFor(site, "editor")).toEqual([]);
  });

  test("admins see that too many people are signing up, until the limit is free again", async () => {
    await using site = await createSubscribingSite();
    const { ctx } = site.app;
    const now = ctx.clock.now();
    await ctx.db.write((tx) => {
      for (let index = 0; index < 1_000; index++) {
        insertRequest(tx, {
          id: ctx.newId("mrq"),
          pageId: site.page.id,
          address: `p${index}@example.org`,
          addressKey: `p${index}@example.org`,
          throttleKey: `p${index}@example.org`,
          choices: { scope: "page", targets: [], events: ["incidents"] },
          ip: null,
          source: "form",
          clientKey: null,
          requestedAt: now,
          expiresAt: now + DAY_MS,
          state: "sent",
        });
      }
    });
    const [notice = ""] = await noticesFor(site, "owner");
    expect(notice).toStartWith("Too many people are signing up");
    expect(notice).toContain("Acme");
    expect(await noticesFor(site, "viewer")).toEqual([]);
    await site.app.clock.advance(60 * 60_000);
    expect(await noticesFor(site, "owner")).toEqual([]);
  });

  test("admins see that the relay is unavailable, with its reply, until it answers again", async () => {
    await using relay = await startMailboxes({ MAIL: "451 4.7.1 Not now" });
    await using site = await createMailSite(relay);
    const { app } = site;
    await app.page();
    const noticesOf = async (role: Role) => {
      const { text } = await app.call("/admin", { session: await app.signedIn(role) });
      return readHtml(text).texts(".notice");
    };
    await site.queue({ to: "ada@example.com" });
    await site.idle();
    const [notice = ""] = await noticesOf("admin");
    expect(notice).toStartWith("The mail relay is unavailable");
    expect(notice).toContain("451 4.7.1 Not now");
    expect(await noticesOf("editor")).toEqual([]);
    delete relay.answers["MAIL"];
    await site.pass(10_000, 1_000);
    expect(await noticesOf("admin")).toEqual([]);
  });
});
