import { expect, test } from "bun:test";
import { trimMails } from "../../../src/features/mail/waiting";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { createMailSite } from "../../support/mail-site";
import { startMailboxes } from "../../support/scripted-mailboxes";

test("old mails that have ended are deleted with their mailings after at least 30 days, pending ones are kept", async () => {
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

  const trim = (now: number) => ctx.db.write((tx) => trimMails(tx, { before: until, now }));
  expect(await trim(until + 30 * DAY_MS - 1)).toBe(false);
  expect(site.mails()).toHaveLength(5);
  expect(await trim(until + 30 * DAY_MS)).toBe(false);
  expect(site.mails().map(({ mailingId }) => mailingId)).toEqual([open, recent]);
  expect(site.mailings().map(({ id }) => id)).toEqual([open, recent]);
  expect(site.mailings().map(({ id }) => id)).not.toContain(old);
});
