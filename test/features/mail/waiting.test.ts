import { expect, test } from "bun:test";
import { waitingMails } from "../../../src/features/mail/waiting";
import { MINUTE_MS } from "../../../src/base/time";
import { createMailSite } from "../../support/mail-site";
import { startMailboxes } from "../../support/scripted-mailboxes";

test("waiting mails of mailings are counted with the time of the oldest, few as well as many", async () => {
  await using relay = await startMailboxes({ MAIL: "451 4.7.1 Not now" });
  await using site = await createMailSite(relay);
  const { ctx, clock } = site.app;
  expect(waitingMails(ctx.db, 3)).toEqual({ count: 0, oldestAt: undefined });
  const startedAt = clock.now();
  await site.mailing(["ada@example.com", "bob@example.org"]);
  await clock.advance(MINUTE_MS);
  await site.mailing(["ada@example.com"]);
  expect(waitingMails(ctx.db, 3)).toEqual({ count: 3, oldestAt: startedAt });
  await site.mailing(Array.from({ length: 1_500 }, (_, index) => `person${index}@example.net`));
  expect(waitingMails(ctx.db, 3)).toEqual({ count: 1_503, oldestAt: startedAt });
});
