import { expect, test } from "bun:test";
import { listUnmatched } from "../../../src/features/mail/store";
import { takeReport } from "../../../src/features/mail/reports";
import { trimMails } from "../../../src/features/mail/waiting";
import { DAY_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";

test("unmatched reports are deleted after 30 days, however long mails are kept", async () => {
  await using app = await createTestApp();
  const { ctx, clock } = app;
  const unknown = { isCertain: false, status: null, diagnostic: "", mails: [] };
  await ctx.db.write((tx) => takeReport(ctx, tx, { ...unknown, kind: "other", excerpt: "a" }));
  const leftAfter = async (ms: number) => {
    await ctx.db.write((tx) => trimMails(tx, { before: 0, now: clock.now() + ms }));
    return listUnmatched(ctx.db, { before: "~", limit: 10 }).length;
  };
  expect(await leftAfter(30 * DAY_MS)).toBe(1);
  expect(await leftAfter(30 * DAY_MS + 1)).toBe(0);
});
