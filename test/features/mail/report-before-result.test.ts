import { expect, test } from "bun:test";
import { findMail } from "../../../src/features/mail/store";
import { listSuppressionsOf } from "../../../src/features/mail/suppression-store";
import { takeReport } from "../../../src/features/mail/reports";
import { MailResults } from "../../../src/features/mail/sending/results";
import { createTestApp } from "../../support/app";
import { storeMail, storeSubscriber } from "../../support/mailed-subscriber";

test("a bounce that is reported before the relay's reply is recorded stays", async () => {
  await using app = await createTestApp();
  const { ctx } = app;
  const { page } = await app.page({ name: "Acme" });
  const { addressHmac, mailId } = await ctx.db.write((tx) => {
    const row = storeSubscriber(ctx, tx, { pageId: page.id, address: "ada@example.com" });
    const mailId = storeMail(ctx, tx, row, { status: "pending", nextTryAt: ctx.clock.now() });
    return { addressHmac: row.addressHmac, mailId };
  });
  const accepted = { stage: "message", code: 250, enhanced: "2.0.0", text: "Queued" } as const;
  await ctx.db.write((tx) =>
    takeReport(ctx, tx, {
      kind: "hard",
      isCertain: true,
      status: "5.1.1",
      diagnostic: "550 5.1.1 No such user",
      mails: [{ id: mailId }],
      excerpt: "",
    }),
  );
  const results = new MailResults(
    ctx,
    () => 0,
    () => {},
  );
  const nextTryAt = results.add({ mailId, result: { kind: "reply", reply: accepted } });
  await results.flush();
  expect(await nextTryAt).toBeNull();
  expect([results.count(3, "bounced"), results.count(3, "sent")]).toEqual([1, 0]);
  expect(findMail(ctx.db, { id: mailId })).toMatchObject({
    status: "bounced",
    reply: "550 5.1.1 No such user",
  });
  const left = listSuppressionsOf(ctx.db, { addressHmac, pageId: null });
  expect(left.map(({ reason }) => reason)).toEqual(["bounced"]);
});
