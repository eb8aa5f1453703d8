import { expect, test } from "bun:test";
import { trimMails } from "../../../src/features/mail";
import { DAY_MS, HOUR_MS } from "../../../src/kernel/time";
import { createMailSite } from "../../support/mail-site";
import { startMailboxes } from "../../support/scripted-mailboxes";

test("old mails that have ended are deleted with their mailings, pending ones are kept", async () => {
  await using relay = await startMailboxes({ "later@example.com": "450 4.2.0 Later" });
  await using site = await createMailSite(relay);
  const { clock, ctx } = site.app;
  const old = await site.mailing(["ada@example.com", "bob@example.com"]);
  const open = await site.mailing(["later@example.com"], { expiresAt: clock.now() + 99 * DAY_MS });
  await site.queue({ to: "cy@example.com" });
  await site.idle();
  const until = clock.now() + 1;
  clock.setWallClock(clock.now() + HOUR_MS);
  const recent = await site.mailing(["ada@example.com"]);
  await site.idle();

  expect(await ctx.db.write((tx) => trimMails(tx, { before: until, now: until }))).toBe(false);
  expect(site.mails().map(({ mailingId }) => mailingId)).toEqual([open, recent]);
  expect(site.mailings().map(({ id }) => id)).toEqual([open, recent]);
  expect(site.mailings().map(({ id }) => id)).not.toContain(old);
});
