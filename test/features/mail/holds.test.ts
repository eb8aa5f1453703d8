import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { unavailable } from "../../../src/base/errors";
import {
  findMailHold,
  listMailHolds,
  releaseAllMailings,
  suppressionsOfHold,
  undoSuppressions,
} from "../../../src/features/mail/hold";
import { suppress } from "../../../src/features/mail/suppressions";
import { MINUTE_MS } from "../../../src/base/time";
import { createMailSite, type MailSite } from "../../support/mail-site";
import { startMailboxes } from "../../support/scripted-mailboxes";

const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `user${index}@example.com`);

const countsOf = (site: MailSite) =>
  Object.fromEntries(
    Map.groupBy(site.mails(), ({ status }) => status)
      .entries()
      .map(([status, rows]) => [status, rows.length]),
  );

test("mailings stay held although the hold cannot be written for a time", async () => {
  await using relay = await startMailboxes({ RCPT: "550 5.1.1 No such user" });
  await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "1" });
  const { db } = site.app.ctx;
  const { write } = db;
  let isBroken = true;
  db.write = (change) =>
    write((tx) => {
      const result = change(tx);
      if (isBroken && findMailHold(tx)) throw unavailable("The disk is full.", 5);
      return result;
    });
  await site.mailing(addresses(200));
  await site.idle();
  const { bounced = 0 } = countsOf(site);
  expect(bounced).toBeLessThan(21 + 64 + 1);
  await site.mailing(["late@example.org"]);
  await site.pass(3 * MINUTE_MS, MINUTE_MS);
  expect(countsOf(site)).toMatchObject({ bounced });
  expect(findMailHold(db)).toBeUndefined();
  isBroken = false;
  await site.pass(2_000, 1_000);
  expect(findMailHold(db)).toMatchObject({ reason: "failures", endedAt: null });
  expect(countsOf(site)).toMatchObject({ bounced });
});

test("the suppressions of a hold are undone one by one or together, also after it, and audited without addresses", async () => {
  await using relay = await startMailboxes({ RCPT: "550 5.1.1 No such user" });
  await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "1" });
  const { ctx } = site.app;
  await site.mailing(addresses(100));
  await site.idle();
  await ctx.db.write((tx) => releaseAllMailings(ctx, tx, CLI_ACTOR));
  const [hold] = listMailHolds(ctx.db);
  if (!hold) throw new Error("there was no hold");
  const listed = suppressionsOfHold(ctx.db, hold, ctx.clock.now());
  const ids = listed.map(({ mailId }) => mailId ?? "");
  expect(listed.length).toBeGreaterThanOrEqual(21);
  // Those that people caused meanwhile end by other rules.
  const [declined, complained] = listed.map(({ addressHmac }) => addressHmac);
  await ctx.db.write((tx) => {
    const mailId = "eml_declined";
    suppress(ctx, tx, { addressHmac: declined ?? "", reason: "declined", mailId });
    suppress(ctx, tx, { addressHmac: complained ?? "", reason: "complained", mailId });
  });
  const open = { ...hold, endedAt: null };
  expect(suppressionsOfHold(ctx.db, open, ctx.clock.now())).toEqual(listed);
  const undo = (...mailIds: string[]) =>
    ctx.db.write((tx) => undoSuppressions(ctx, tx, hold, new Set(mailIds), CLI_ACTOR));
  expect(await undo(ids[0] ?? "", "eml_unknown")).toBe(1);
  expect(suppressionsOfHold(ctx.db, hold, ctx.clock.now())).toHaveLength(ids.length - 1);
  expect(await undo(...ids)).toBe(ids.length - 1);
  expect(suppressionsOfHold(ctx.db, hold, ctx.clock.now())).toEqual([]);
  const audited = site.app.audit().filter(({ action }) => action === "subscriber.reactivate");
  expect(audited).toHaveLength(ids.length);
  expect(audited[0]?.summary).toMatch(/^Ended the suppression of .…@.* \(bounced\)$/);
});

test("mails expire although hundreds of others are due before them", async () => {
  await using relay = await startMailboxes({ "": null });
  await using site = await createMailSite(relay);
  const { clock } = site.app;
  const soon = clock.now() + 10 * MINUTE_MS;
  const others = (count: number, mail: object) =>
    Array.from({ length: count }, (_, index) => ({ to: `user${index}@example.org`, ...mail }));
  await site.queue(...others(600, { subjectId: "many" }));
  await site.mailing(addresses(600));
  await site.queue({ to: "late@example.org", expiresAt: soon });
  await site.mailing(["late@example.net"], { expiresAt: soon });
  await site.pass(12 * MINUTE_MS, MINUTE_MS);
  expect(site.statuses()).toMatchObject({
    "late@example.org": "expired",
    "late@example.net": "expired",
  });
  expect(countsOf(site)).toMatchObject({ expired: 2, pending: 1_200 });
});
