import { expect, test } from "bun:test";
import { insertInto, selectMany } from "../../../src/db/statements";
import { mailings, mailReports, suppressions } from "../../../src/db/tables/mail";
import { CLI_ACTOR } from "../../../src/base/actor";
import { parseMailAddress } from "../../../src/base/mail-address";
import { enqueueMails } from "../../../src/features/mail/mail";
import { eraseReportsAbout, makeReportToken } from "../../../src/features/mail/reports";
import { suppress } from "../../../src/features/mail/suppressions";
import { eraseAddress } from "../../../src/features/subscribers/subscribers";
import type { SubscriberRow } from "../../../src/features/subscribers/store";
import { DAY_MS } from "../../../src/base/time";
import { mailingRow } from "../../support/mail-rows";
import { createSubscribingSite, type SubscribingSite } from "../../support/subscribing";

const insertMailing = insertInto(mailings);
const insertReport = insertInto(mailReports);
const listMailings = selectMany((orm, _$: Record<string, never>) => orm.select().from(mailings));
const listReports = selectMany((orm, _$: Record<string, never>) => orm.select().from(mailReports));
const listSuppressions = selectMany((orm, _$: Record<string, never>) =>
  orm.select().from(suppressions),
);

/** Stores a mailing to the subscribers of a page so far. */
async function addMailing({ app, page }: SubscribingSite, maxSeq: number): Promise<string> {
  const id = app.ctx.newId("mlg");
  const row = mailingRow({
    id,
    pageId: page.id,
    subjectId: "inc_1",
    state: "sending",
    cursor: maxSeq,
    maxSeq,
    createdAt: app.clock.now(),
  });
  await app.ctx.db.write((tx) => insertMailing(tx, row));
  return id;
}

async function erase(site: SubscribingSite, subscriber: SubscriberRow): Promise<void> {
  const form = { action: "erase" };
  const answer = await site.app.call(site.path("manage", subscriber), { method: "POST", form });
  expect(answer.status).toBe(200);
}

test("a mailing is done although a recipient of it is erased before its mail was sent", async () => {
  await using site = await createSubscribingSite();
  const subscriber = await site.subscribed();
  const mailingId = await addMailing(site, subscriber.seq);
  const recipient = parseMailAddress("ann@example.com");
  if ("error" in recipient) throw new Error(recipient.error);
  const { ctx, clock } = site.app;
  await ctx.db.write((tx) =>
    enqueueMails(ctx, tx, [
      {
        class: 3,
        recipient,
        subjectId: "inc_1",
        template: "incident",
        params: {},
        subscriberId: subscriber.id,
        mailingId,
        expiresAt: clock.now() + DAY_MS,
      },
    ]),
  );
  await erase(site, subscriber);
  expect(listMailings(ctx.db, {})).toMatchObject([{ state: "done", written: 1, cancelled: 1 }]);
});

test("erasing deletes what the relay and reports said about the address, and keeps the suppression", async () => {
  await using site = await createSubscribingSite();
  const subscriber = await site.subscribed();
  const [mail] = site.mails();
  const mailId = mail?.id ?? "";
  const { ctx, clock } = site.app;
  const note = "550 5.1.1 <ann@example.com>: no such user";
  await ctx.db.write((tx) => {
    suppress(ctx, tx, {
      addressHmac: subscriber.addressHmac,
      reason: "bounced",
      mailId,
      note,
    });
    const excerpt = "To: ann@example.com";
    insertReport(tx, {
      id: ctx.newId("rpt"),
      at: clock.now(),
      mailId,
      kind: "hard",
      status: null,
      excerpt,
    });
    // A report that belongs to no mail of this server.
    insertReport(tx, {
      id: ctx.newId("rpt"),
      at: clock.now(),
      mailId: null,
      kind: "other",
      status: null,
      excerpt: "From: Ann <ANN@Example.com>",
    });
  });
  await erase(site, subscriber);
  const kept = listSuppressions(ctx.db, {});
  expect(kept.map(({ reason }) => reason)).toEqual(["bounced", "erased"]);
  expect(JSON.stringify([kept, listReports(ctx.db, {})]).toLowerCase()).not.toContain("ann@");
});

test("erasing an address that was never confirmed deletes the reports that contain it", async () => {
  await using site = await createSubscribingSite();
  await site.requested("ann@example.com");
  const { ctx, clock } = site.app;
  const ann = parseMailAddress("Ann@example.com");
  if ("error" in ann) throw new Error(ann.error);
  await ctx.db.write((tx) => {
    const report = { at: clock.now(), mailId: null, kind: "other" as const, status: null };
    insertReport(tx, { ...report, id: ctx.newId("rpt"), excerpt: "From: Ann <ANN@Example.com>" });
    insertReport(tx, { ...report, id: ctx.newId("rpt"), excerpt: "From: bob@example.com" });
    eraseAddress(ctx, tx, ann, undefined, CLI_ACTOR);
  });
  expect(listReports(ctx.db, {}).map(({ excerpt }) => excerpt)).toEqual(["From: bob@example.com"]);
  expect([site.requests(), site.mails()]).toEqual([[], []]);
});

const base64 = (text: string, encoding: "utf8" | "utf16le" = "utf8") =>
  Buffer.from(text, encoding).toString("base64").replaceAll(/.{20}/g, "$&\r\n");
const part = (encoding: string, text: string) =>
  `Content-Type: text/plain\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${text}\r\n`;
const parts = (...all: string[]) =>
  `Content-Type: multipart/mixed;\r\n boundary="=_b 1"\r\n\r\n--=_b 1\r\n${all.join("--=_b 1\r\n")}--=_b 1--\r\n`;
const LETTER = "Dear Ann <ANN@Example.com>, we could not deliver your mail.";

for (const [where, message] of Object.entries({
  "the clear": `Subject: Returned\r\n\r\n${LETTER}\r\n`,
  "a body in base64": part("base64", base64(LETTER)),
  "a body in base64 of which each line is padded": part(
    "BASE64",
    `${btoa("ann@")}\r\n${btoa("example.com")}`,
  ),
  "a body in quoted-printable": part("quoted-printable", "Dear =61nn=40exam=\r\nple.com,"),
  "a part between others": parts(
    part("8bit", "Hello"),
    part("base64", base64(LETTER)),
    part("7bit", "Regards"),
  ),
  "a part in quoted-printable after a line of dashes": parts(
    part("quoted-printable", "-- \r\n--- ann=40example.com"),
  ),
  "a part after one whose boundary is not declared": `${part("base64", base64("Hello"))}--b\r\n${part("base64", base64(LETTER))}`,
  "a returned message": parts(
    "Content-Type: message/rfc822\r\n\r\n" + part("base64", base64(LETTER)),
  ),
  "a returned message in base64": parts(
    `Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(part("quoted-printable", "ann=40example.com"))}\r\n`,
  ),
  "a body in UTF-16": part("base64", base64(LETTER, "utf16le")),
  "a header with encoded words":
    "Subject: =?utf-8?B?QW5uIDxhbm4=?=\r\n =?utf-8?Q?=40example=2Ecom?=\r\n\r\nHello\r\n",
  "a body that is cut off": part("base64", base64(LETTER.padEnd(40_000))),
})) {
  test(`erasing deletes an unmatched report with the address in ${where}`, async () => {
    await using site = await createSubscribingSite();
    const { ctx } = site.app;
    const subscriber = await site.subscribed();
    const token = await ctx.db.write((tx) => makeReportToken(ctx, tx, CLI_ACTOR));
    for (const raw of [
      message,
      message.replaceAll("\r\n", "\n"),
      part("base64", btoa("bob@example.com")),
    ]) {
      const headers = { "content-type": "message/rfc822" };
      const sent = { method: "POST", headers, raw };
      expect((await site.app.call(`/api/v1/mail/bounces/${token}`, sent)).status).toBe(204);
    }
    await erase(site, subscriber);
    const kept = listReports(ctx.db, {}).map(({ excerpt }) => excerpt);
    expect(kept).toEqual([part("base64", "bob@example.com")]);
  });
}

test("erasing finds an address in reports that has wildcards of LIKE, and no similar one", async () => {
  await using site = await createSubscribingSite();
  const { ctx, clock } = site.app;
  const similar = ["To: 100xxann@example.com", "To: 100%_ann@example.org"];
  await ctx.db.write((tx) => {
    const report = { at: clock.now(), mailId: null, kind: "other" as const, status: null };
    for (const excerpt of ["To: 100%_ANN@example.com", "To: a_%\\b@example.com", ...similar]) {
      insertReport(tx, { ...report, id: ctx.newId("rpt"), excerpt });
    }
    eraseReportsAbout(tx, "100%_ann@example.com");
    eraseReportsAbout(tx, "a_%\\b@example.com");
  });
  expect(listReports(ctx.db, {}).map(({ excerpt }) => excerpt)).toEqual(similar);
});

test("who confirms after an erasure is not among the recipients of an earlier mailing", async () => {
  await using site = await createSubscribingSite();
  const subscriber = await site.subscribed();
  await addMailing(site, subscriber.seq);
  await erase(site, subscriber);
  const later = await site.subscribed("bob@example.com");
  expect(later.seq).toBeGreaterThan(subscriber.seq);
});
