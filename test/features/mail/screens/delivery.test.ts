import { sql } from "drizzle-orm";
import { describe, expect, test } from "bun:test";
import { mutate } from "../../../../src/db/statements";
import { users } from "../../../../src/db/tables/users";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { readDelivery } from "../../../../src/features/mail/waiting";
import { readHtml } from "../../../support/html";
import { createMailSite, type MailSite } from "../../../support/mail-site";
import { startMailboxes } from "../../../support/scripted-mailboxes";

const MAIL = "/admin/mail";

const moveAllToLocalhost = mutate((orm, _$: Record<string, never>) =>
  orm.update(users).set({ email: sql`${users.id} || '@localhost'` }),
);

async function texts({ app }: MailSite, selector: string): Promise<string> {
  const session = await app.signedIn();
  const answer = await app.call(MAIL, { session });
  return readHtml(answer.text).texts(selector).join(" ");
}

describe("the state of sending in the mail settings", () => {
  test("says since when the relay is available, and what waits by class", async () => {
    await using relay = await startMailboxes({});
    await using site = await createMailSite(relay);
    expect(await texts(site, "#mail-state")).toContain("Nothing was sent through the relay yet.");
    await site.queue({ to: "ada@example.com" });
    await site.idle();
    expect(await texts(site, "#mail-state")).toContain("The relay is available since");
    relay.answers["bob@example.org"] = "450 4.2.0 Later";
    await site.queue({ to: "bob@example.org", class: 2 });
    await site.idle();
    expect(await texts(site, "#mail-queue dd")).toMatch(/^None 1, oldest .* None$/);
  });

  test("names the relay's reply and the next try while it is unavailable, without addresses", async () => {
    await using relay = await startMailboxes({ MAIL: "451 4.7.1 <ada@example.com> Not now" });
    await using site = await createMailSite(relay);
    await site.queue({ to: "ada@example.com" });
    await site.idle();
    const shown = await texts(site, "#mail-state");
    expect(shown).toContain("The relay is unavailable");
    expect(shown).toContain("451 4.7.1 <…> Not now");
    expect(shown).not.toContain("ada@");
    const { relay: record } = readDelivery(site.app.ctx.db);
    const now = site.app.clock.now();
    expect(record).toMatchObject({
      isAvailable: false,
      since: now,
      nextTryAt: now + 5 * SECOND_MS,
    });
    delete relay.answers["MAIL"];
    await site.pass(MINUTE_MS, SECOND_MS);
    expect(readDelivery(site.app.ctx.db).relay).toMatchObject({ isAvailable: true, reply: null });
    await site.restart();
    await site.idle();
    expect(readDelivery(site.app.ctx.db).relay).toBeUndefined();
  });

  test("an owner without a dot in the address reads that no test mail can be sent", async () => {
    await using relay = await startMailboxes({});
    await using site = await createMailSite(relay);
    const { app } = site;
    const session = await app.signedIn();
    expect(readHtml((await app.call(MAIL, { session })).text).texts("#mail-test button")).toEqual([
      "Send test mail",
    ]);
    await app.ctx.db.write((tx) => moveAllToLocalhost(tx, {}));
    const page = readHtml((await app.call(MAIL, { session })).text);
    expect(page.texts("#mail-test button")).toEqual([]);
    expect(page.texts("#mail-test p").join()).toMatch(
      /^No test mail can be sent to your address usr_\w+@localhost: it must be an e-mail address/,
    );
  });
});
