import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import type { SuppressionReason } from "../../../../src/base/mail-address";
import { addressHmac, ensureMailKey } from "../../../../src/features/mail/tokens";
import {
  findReportToken,
  isReportToken,
  makeReportToken,
} from "../../../../src/features/mail/reports";
import { listSuppressionsOf } from "../../../../src/features/mail/suppression-store";
import { suppress } from "../../../../src/features/mail/suppressions";
import { DAY_MS } from "../../../../src/base/time";
import { createTestApp, expectProblem, type TestApp } from "../../../support/app";
import { readHtml } from "../../../support/html";
import { bounceMessage } from "../../../support/mail-reports";
import { storeSubscriber } from "../../../support/mailed-subscriber";

const MAIL = "/admin/mail";
const SUPPRESSIONS = `${MAIL}/suppressions`;
const ADA = "ada@example.com";

/** Suppresses an address and returns its mark. */
function suppressed({ ctx }: TestApp, reason: SuppressionReason, address = ADA): Promise<string> {
  return ctx.db.write((tx) => {
    const hmac = addressHmac(ensureMailKey(ctx, tx), address);
    suppress(ctx, tx, { addressHmac: hmac, reason, note: "550 5.1.1 No such user" });
    return hmac;
  });
}

let forms = 0;
async function undo(app: TestApp, session: string, path: string, request = "") {
  forms += 1;
  return app.call(path, { session, form: { form: `undo-${forms}`, request } });
}

describe("the token for reports", () => {
  test("it is made, shown once, replaced and revoked", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const make = (form: string) => app.call(`${MAIL}/token`, { session, form: { form } });
    const made = await make("1");
    const [, token = ""] = /\/api\/v1\/mail\/bounces\/([0-9A-Za-z]{43})/.exec(made.text) ?? [];
    expect(made.headers.get("cache-control")).toBe("no-store");
    expect(isReportToken(app.ctx.db, token)).toBe(true);
    // The same form again, in case the first answer was lost, makes no other token.
    expect((await make("1")).text).toContain(token);
    expect((await app.call(MAIL, { session })).text).not.toContain(token);
    expect(JSON.stringify(findReportToken(app.ctx.db))).not.toContain(token);
    const replaced = await make("2");
    expect(replaced.text).not.toContain(token);
    expect(isReportToken(app.ctx.db, token)).toBe(false);
    const revoked = await app.call(`${MAIL}/token/revoke`, { session, form: {} });
    expect([revoked.status, revoked.headers.get("location")]).toEqual([303, MAIL]);
    expect(findReportToken(app.ctx.db)).toBeUndefined();
    expect(app.audit().filter(({ action }) => action === "mail.token")).toMatchObject([
      { summary: "Created the token for reports about mails" },
      { summary: "Replaced the token for reports about mails" },
      { summary: "Revoked the token for reports about mails" },
    ]);
    expect(JSON.stringify([app.audit(), app.logged])).not.toContain(token);
  });

  test("an admin cannot make it", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("admin");
    const form = { form: "1" };
    expectProblem(await app.call(`${MAIL}/token`, { session, form }), "insufficient_role");
    expectProblem(await app.call(SUPPRESSIONS, { session }), "insufficient_role");
    expectProblem(await app.call(`${MAIL}/reports`, { session }), "insufficient_role");
  });
});

describe("unmatched reports", () => {
  test("they are listed and shown as text", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const token = await app.ctx.db.write((tx) => makeReportToken(app.ctx, tx, CLI_ACTOR));
    const raw = bounceMessage({ diagnostic: "smtp; 550 5.1.1 <script>alert(1)</script>" });
    const headers = { "content-type": "message/rfc822" };
    await app.call(`/api/v1/mail/bounces/${token}`, { method: "POST", headers, raw });
    const shown = await app.call(MAIL, { session });
    expect(shown.text).toContain("1 report in the last 30 days.");
    const list = readHtml((await app.call(`${MAIL}/reports`, { session })).text);
    expect(list.texts("tbody a")).toEqual(["Undelivered Mail Returned to Sender"]);
    const [path = ""] = list.attributes("tbody a", "href");
    const detail = await app.call(path, { session });
    expect(detail.text).not.toContain("<script>alert");
    expect(readHtml(detail.text).texts("code").join("")).toContain("Reporting-MTA: dns;");
    expectProblem(await app.call(`${MAIL}/reports/rpt_1`, { session }), "not_found");
    const older = await app.call(`${MAIL}/reports?before=rpt_0`, { session });
    expect(older.text).toContain("No older reports");
  });
});

describe("suppressed addresses", () => {
  test("they are listed by reason, in parts", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    for (let i = 0; i < 60; i++) {
      await app.clock.advance(1_000);
      await suppressed(app, "bounced", `person${i}@example.com`);
    }
    await suppressed(app, "blocked");
    const rowsOf = async (path: string) => {
      const page = readHtml((await app.call(path, { session })).text);
      return { rows: page.texts("tbody tr").length, hrefs: page.attributes("main a", "href") };
    };
    const first = await rowsOf(SUPPRESSIONS);
    expect(first.rows).toBe(50);
    const older = first.hrefs.find((href) => href.includes("before=")) ?? "";
    expect((await rowsOf(older)).rows).toBe(10);
    expect((await rowsOf(`${SUPPRESSIONS}?reason=blocked`)).rows).toBe(1);
    expect((await rowsOf(`${SUPPRESSIONS}?reason=complained`)).rows).toBe(0);
    expect((await rowsOf(`${SUPPRESSIONS}?before=x`)).rows).toBe(50);
  });

  test("one is found by the whole address in any spelling, which gets into no log", async () => {
    await using app = await createTestApp({ logLevel: "debug" });
    const session = await app.signedIn();
    await suppressed(app, "bounced");
    const find = async (address: string) =>
      readHtml((await app.call(SUPPRESSIONS, { session, form: { address } })).text);
    const found = await find(" ADA@Example.com ");
    expect(found.texts("tbody tr")).toHaveLength(1);
    expect((await find("bob@example.com")).texts("tbody tr")).toEqual([]);
    expect((await find("ada")).texts(".field-error").join()).toContain("must be an e-mail address");
    expect(JSON.stringify(app.logged).toLowerCase()).not.toContain(ADA);
  });

  test("each is shown with its own address, which the audit log masks", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const { ctx } = app;
    const { page } = await app.page({ name: "Acme" });
    const names = ["ada@example.com", "bob@example.org", "cy@example.net"];
    const rows = await ctx.db.write((tx) =>
      names.map((address) => storeSubscriber(ctx, tx, { pageId: page.id, address })),
    );
    for (const address of [...names, "dan@example.com"]) {
      app.clock.setWallClock(app.clock.now() + 1);
      await suppressed(app, "bounced", address);
    }
    const list = readHtml((await app.call(SUPPRESSIONS, { session })).text);
    expect(list.texts("tbody .strong")).toEqual(["Not stored any more", ...names.toReversed()]);
    const [, bob] = rows;
    await undo(app, session, `${SUPPRESSIONS}/bounced/${bob?.addressHmac}`);
    expect(app.audit().at(-1)).toMatchObject({
      targetId: bob?.id ?? "",
      summary: "Ended the suppression of b…@example.org (bounced)",
    });
  });

  for (const reason of ["bounced", "soft"] as const) {
    test(`an owner ends ${reason} once in 7 days`, async () => {
      await using app = await createTestApp();
      const session = await app.signedIn();
      const mark = await suppressed(app, reason);
      const path = `${SUPPRESSIONS}/${reason}/${mark}`;
      expect((await undo(app, session, path)).status).toBe(303);
      const left = () => listSuppressionsOf(app.ctx.db, { addressHmac: mark, pageId: null });
      expect(left()).toEqual([]);
      expectProblem(await undo(app, session, path), "not_found");
      await app.clock.advance(7 * DAY_MS - 1);
      const later = await app.signedIn();
      await suppressed(app, reason);
      const again = await undo(app, later, path);
      expect(again.status).toBe(409);
      expect(again.text).toContain("This was ended less than 7 days ago");
      expect(left()).toHaveLength(1);
      await app.clock.advance(1);
      expect((await undo(app, later, path)).status).toBe(303);
      expect(left()).toEqual([]);
      expect(app.audit().at(-1)).toMatchObject({
        action: "subscriber.reactivate",
        summary: `Ended the suppression of an address that is not stored (${reason})`,
      });
    });
  }

  test("declined ends with the person's request in words alone", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const mark = await suppressed(app, "declined");
    const path = `${SUPPRESSIONS}/declined/${mark}`;
    const form = readHtml((await app.call(path, { session })).text);
    expect(form.attributes("textarea", "name")).toEqual(["request"]);
    const without = await undo(app, session, path, "  ");
    expect(without.status).toBe(422);
    expect(readHtml(without.text).texts(".field-error").join()).toContain("person’s request");
    const words = `She wrote from ${ADA}: please mail me again`;
    expect((await undo(app, session, path, words)).status).toBe(303);
    const { summary = "" } = app.audit().at(-1) ?? {};
    expect(summary).toContain("please mail me again");
    expect(summary).not.toContain(ADA);
  });

  test("blocked ends at once, and complained only by the person", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn();
    const mark = await suppressed(app, "blocked");
    await suppressed(app, "complained");
    expect((await undo(app, session, `${SUPPRESSIONS}/blocked/${mark}`)).status).toBe(303);
    const refused = await undo(app, session, `${SUPPRESSIONS}/complained/${mark}`);
    expect(refused.status).toBe(409);
    expect(refused.text).toContain("Only the person can end this");
    expectProblem(await undo(app, session, `${SUPPRESSIONS}/spam/${mark}`), "not_found");
  });
});
