import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { makeReportToken } from "../../../src/features/mail/reports";
import { undoSuppression } from "../../../src/features/mail/suppressions";
import { DAY_MS, HOUR_MS, toIso } from "../../../src/base/time";
import { importForm } from "../../support/import-form";
import { bounceMessage, complaintMessage } from "../../support/mail-reports";
import { storeMail } from "../../support/mailed-subscriber";
import { createSubscribingSite } from "../../support/subscribing";

const ANN = "ann@example.com";

type Report = string | Record<string, string>;

/** A page with one subscriber, and reports about the mails to it. */
async function createReported() {
  const site = await createSubscribingSite();
  const { app } = site;
  const { ctx, clock } = app;
  const subscriber = await site.subscribed(ANN);
  const token = await ctx.db.write((tx) => makeReportToken(ctx, tx, CLI_ACTOR));
  const path = `/api/v1/mail/bounces/${token}`;
  const pass = (ms: number) => clock.setWallClock(clock.now() + ms);
  return {
    site,
    pass,
    /** Stores a mail that the relay accepted an hour later. */
    mailed() {
      pass(HOUR_MS);
      return ctx.db.write((tx) => storeMail(ctx, tx, subscriber));
    },
    /** Sends a message, or the report of a service, and returns the reasons of suppressions. */
    async report(report: Report) {
      const body =
        typeof report === "string"
          ? { headers: { "content-type": "message/rfc822" }, raw: report }
          : { json: { reports: [report] } };
      expect((await app.call(path, { method: "POST", ...body })).status).toBe(204);
      return site.suppressions().map(({ reason }) => reason);
    },
    /** Confirms another sign-up, once the address may get the mail. */
    async confirmAgain() {
      pass(31 * DAY_MS);
      const answer = await app.call(await site.requested(ANN), { method: "POST", form: {} });
      expect(answer.status).toBe(303);
    },
    async endByAdmin() {
      pass(31 * DAY_MS);
      const { addressHmac } = subscriber;
      const bounce = { addressHmac, reason: "bounced", request: "" };
      await ctx.db.write((tx) => undoSuppression(ctx, tx, bounce, CLI_ACTOR));
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

const returned = (mail: string) => [`Message-ID: <${mail}@example.com>`];

const BOUNCES: Record<string, (mail: string) => Report> = {
  "a delivery status": (mail) => bounceMessage({ returned: returned(mail) }),
  "a bounce as JSON by mail": (mail) => ({ mail, kind: "hard" }),
  "a bounce as JSON by address": () => ({ address: ANN, kind: "hard" }),
};
const COMPLAINTS: Record<string, (mail: string) => Report> = {
  "a complaint as a message": (mail) => complaintMessage(returned(mail)),
  "a complaint as JSON by mail": (mail) => ({ mail, kind: "complaint" }),
  "a complaint as JSON by address": () => ({ address: ANN, kind: "complaint" }),
};

for (const [reports, reason, ends] of [
  [BOUNCES, "bounced", ["confirmAgain", "endByAdmin"]],
  [COMPLAINTS, "complained", ["confirmAgain"]],
] as const) {
  for (const [what, reportAbout] of Object.entries(reports)) {
    for (const end of ends) {
      const ended = end === "endByAdmin" ? "an admin ended" : "a confirmation ended";
      test(`${what} about an earlier mail suppresses no address whose suppression ${ended}`, async () => {
        await using reported = await createReported();
        const { report } = reported;
        const mails = [await reported.mailed(), await reported.mailed()];
        expect(await report(reportAbout(mails[1] ?? ""))).toEqual([reason]);
        await reported[end]();
        for (const mail of mails) expect(await report(reportAbout(mail))).toEqual([]);
        expect(await report(reportAbout(await reported.mailed()))).toEqual([reason]);
      });
    }
  }
}

for (const by of ["mail", "address"] as const) {
  test(`a report by ${by} counts from the time that the service gives`, async () => {
    await using reported = await createReported();
    const { site, report } = reported;
    const complaint = (mail: string) => ({
      ...(by === "mail" ? { mail } : { address: ANN }),
      kind: "complaint",
      occurred_at: toIso(site.app.clock.now()),
    });
    const mail = await reported.mailed();
    const old = complaint(mail);
    expect(await report(old)).toEqual(["complained"]);
    await reported.confirmAgain();
    expect(await report(old)).toEqual([]);
    reported.pass(1);
    const again = complaint(mail);
    expect(await report(again)).toEqual(["complained"]);
    await reported.confirmAgain();
    await reported.mailed();
    expect(await report(old)).toEqual([]);
    expect(await report(again)).toEqual([]);
  });
}

test("a confirmation that ends a suppression is a new consent, and one with other choices is none", async () => {
  await using reported = await createReported();
  const { site, report } = reported;
  const confirmedAt = () => site.subscribers()[0]?.confirmedAt;
  const first = confirmedAt();
  await reported.confirmAgain();
  expect(confirmedAt()).toBe(first);
  await report({ mail: await reported.mailed(), kind: "complaint" });
  await reported.confirmAgain();
  expect(confirmedAt()).toBe(site.app.clock.now());
});

test("a confirmation on another page ends the suppression for good", async () => {
  await using reported = await createReported();
  const { site, report } = reported;
  const mails = [await reported.mailed(), await reported.mailed()];
  await report({ mail: mails[1] ?? "", kind: "complaint" });
  const other = await site.app.page({ slug: "other", name: "Other" });
  reported.pass(31 * DAY_MS);
  await site.app.call("/status/other/subscribe", { form: { email: ANN } });
  await site.decide();
  const link = site.path("confirm", site.requests().at(-1) ?? { id: "" });
  expect((await site.app.call(link, { method: "POST", form: {} })).status).toBe(303);
  expect(site.subscribers().map(({ pageId }) => pageId)).toContain(other.page.id);
  expect(await report({ mail: mails[0] ?? "", kind: "complaint" })).toEqual([]);
  expect(await report({ address: ANN, kind: "complaint" })).toEqual([]);
});

test("a subscription that the team adds on another page hides no complaint", async () => {
  await using reported = await createReported();
  const { site, report } = reported;
  const mail = await reported.mailed();
  const { page } = await site.app.page({ slug: "other", name: "Other" });
  reported.pass(HOUR_MS);
  const session = await site.app.signedIn("owner");
  const file = { page: page.id, kind: "consent", consent: "By phone.", intent: "import" };
  const answer = await site.app.call("/admin/subscribers/import", {
    session,
    ...importForm(`email\n${ANN}\n`, file),
  });
  expect(answer.status).toBe(303);
  expect(site.subscribers()).toHaveLength(2);
  expect(await report({ mail, kind: "complaint" })).toEqual(["complained"]);
});
