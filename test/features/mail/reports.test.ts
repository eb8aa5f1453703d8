import { describe, expect, test } from "bun:test";
import { mutate } from "../../../src/db/statements";
import { subscribers } from "../../../src/db/tables/mail";
import { CLI_ACTOR } from "../../../src/base/actor";
import { findReport, listReportsOfMail, listUnmatched } from "../../../src/features/mail/store";
import { makeReportToken } from "../../../src/features/mail/reports";
import { trimMails } from "../../../src/features/mail/waiting";
import { DAY_MS, HOUR_MS } from "../../../src/base/time";
import { expectProblem } from "../../support/app";
import { createMailSite, type MailSite } from "../../support/mail-site";
import { bounceMessage, complaintMessage } from "../../support/mail-reports";
import { startMailboxes } from "../../support/scripted-mailboxes";

const ADA = "ada@example.com";
const BOB = "bob@example.com";

const confirmAll = mutate((orm, $: { at: number }) =>
  orm.update(subscribers).set({ confirmedAt: $.at }),
);

interface ReportSite extends AsyncDisposable {
  site: MailSite;
  token: string;
  /** Sends a message, and returns the status of the answer. */
  report(message: string): Promise<number>;
  /** Sends JSON. */
  json(body: unknown): ReturnType<MailSite["app"]["call"]>;
  /** Sends a mail of a new mailing to some addresses, which the relay accepts. */
  send(...addresses: string[]): Promise<{ id: string; sender: string }[]>;
  unmatched(): ReturnType<typeof listUnmatched>;
}

async function createReportSite(): Promise<ReportSite> {
  const relay = await startMailboxes({});
  const env = { ALLCLEAR_MAIL_BOUNCE_ADDRESS: "bounces@example.com" };
  const site = await createMailSite(relay, env);
  const { app } = site;
  const token = await app.ctx.db.write((tx) => makeReportToken(app.ctx, tx, CLI_ACTOR));
  const path = `/api/v1/mail/bounces/${token}`;
  return {
    site,
    token,
    async report(message) {
      const headers = { "content-type": "message/rfc822" };
      return (await app.call(path, { method: "POST", headers, raw: message })).status;
    },
    json: (body) => app.call(path, { method: "POST", json: body }),
    async send(...addresses) {
      const begun = relay.commands.length;
      await site.mailing(addresses, { expiresAt: app.clock.now() + 30 * DAY_MS });
      await site.idle();
      const senders = relay.commands
        .slice(begun)
        .flatMap((line) => /^MAIL FROM:<([^>]+)>/.exec(line)?.[1] ?? []);
      return senders.map((sender) => ({ id: /eml_[0-9a-z]{26}/.exec(sender)?.[0] ?? "", sender }));
    },
    unmatched: () => listUnmatched(app.ctx.db, { before: "~", limit: 100 }),
    async [Symbol.asyncDispose]() {
      await site[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
    },
  };
}

/** Reasons for which addresses get no mail. */
const reasons = ({ site }: ReportSite) => site.suppressions().map(({ reason }) => reason);

describe("a bounce that comes back later", () => {
  for (const [how, options] of Object.entries({
    "the address to which it is sent": (mail: { id: string; sender: string }) => ({
      to: mail.sender,
    }),
    "that address in upper case": (mail: { id: string; sender: string }) => ({
      to: `<${mail.sender.toUpperCase()}>`,
    }),
    "the envelope id": (mail: { id: string; sender: string }) => ({ envelopeId: mail.id }),
    "the Message-ID of the returned mail": (mail: { id: string; sender: string }) => ({
      returned: ["Subject: Checkout is slow", `Message-ID:\r\n <${mail.id}@example.com>`],
    }),
    "the sender of the returned mail": (mail: { id: string; sender: string }) => ({
      returned: [`Return-Path: <${mail.sender}>`],
    }),
  })) {
    test(`the mail is recognised by ${how}, and its address is suppressed`, async () => {
      await using reports = await createReportSite();
      const { site } = reports;
      const [mail] = await reports.send(ADA);
      expect(await reports.report(bounceMessage(options(mail!)))).toBe(204);
      expect(site.mails()).toMatchObject([{ status: "bounced" }]);
      expect(site.mails()[0]?.reply).toStartWith("550 5.1.1 <ada@example.com>: Recipient");
      expect(site.mailings()).toMatchObject([{ sent: 0, bounced: 1, state: "done" }]);
      expect(site.suppressions()).toMatchObject([{ reason: "bounced", mailId: mail!.id }]);
      // Suppressions outlive the address.
      expect(site.suppressions()[0]?.note).not.toContain(ADA);
      expect(reports.unmatched()).toEqual([]);
      await reports.send(ADA);
      expect(site.mails().map(({ status }) => status)).toEqual(["bounced", "cancelled"]);
    });
  }

  test("a forged report changes nothing and is listed", async () => {
    await using reports = await createReportSite();
    const [mail] = await reports.send(ADA, BOB);
    const wrong = mail!.sender.replace(/-[0-9a-f]{8}@/, "-00000000@");
    const unknown = "eml_01kah2v9w0e0rs6x0h3ye0a1bc";
    for (const message of [
      bounceMessage({ recipient: ADA }),
      bounceMessage({ to: wrong }),
      bounceMessage({ envelopeId: unknown }),
      bounceMessage({ returned: [`Message-ID: <${unknown}@example.com>`] }),
      // The id in other places proves nothing.
      bounceMessage({ returned: [`Subject: ${mail!.id}`] }),
      complaintMessage(["Subject: Spam"], { fields: [`Original-Rcpt-To: ${ADA}`] }),
    ]) {
      expect(await reports.report(message)).toBe(204);
    }
    expect(reports.site.mails().map(({ status }) => status)).toEqual(["sent", "sent"]);
    expect(reasons(reports)).toEqual([]);
    expect(reports.unmatched()).toHaveLength(6);
    expect(reports.unmatched().map(({ kind }) => kind)).toEqual([
      "complaint",
      "hard",
      "hard",
      "hard",
      "hard",
      "hard",
    ]);
  });

  test("the same report again changes nothing", async () => {
    await using reports = await createReportSite();
    const { site } = reports;
    const [mail] = await reports.send(ADA);
    const message = bounceMessage({
      to: mail!.sender,
      status: "5.2.2",
      diagnostic: "smtp; 552 5.2.2 Mailbox full",
    });
    for (let i = 0; i < 3; i++) expect(await reports.report(message)).toBe(204);
    expect(site.subscribers()).toMatchObject([{ softFailures: 1 }]);
    expect(site.mailings()).toMatchObject([{ sent: 0, failed: 1 }]);
    expect(listReportsOfMail(site.app.ctx.db, { mailId: mail!.id })).toMatchObject([
      { kind: "soft", status: "5.2.2", excerpt: "552 5.2.2 Mailbox full" },
    ]);
  });

  for (const [status, diagnostic, outcome] of [
    ["5.1.1", "smtp; 550 User unknown", "bounced"],
    ["5.1.2", "smtp; 550 Bad domain", "bounced"],
    ["5.1.10", "smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound", "bounced"],
    ["5.0.0", "smtp; 550 5.1.1 unknown", "bounced"],
    ["5.0.0", "smtp; 550 unknown", "uncertain"],
    ["5.2.2", "smtp; 552 5.2.2 Mailbox full", "failed"],
    ["5.7.1", "smtp; 550 5.7.1 Blocked", "failed"],
    ["5.4.4", "X-Postfix; Host or domain name not found", "failed"],
    ["4.4.7", "smtp; delivery time expired", "failed"],
  ] as const) {
    test(`a report with ${status} and “${diagnostic}” means ${outcome}`, async () => {
      await using reports = await createReportSite();
      const { site } = reports;
      const [mail] = await reports.send(ADA);
      await reports.report(bounceMessage({ to: mail!.sender, status, diagnostic }));
      expect(site.mails()).toMatchObject([{ status: outcome === "failed" ? "failed" : "bounced" }]);
      expect(reasons(reports)).toEqual(outcome === "bounced" ? ["bounced"] : []);
      expect(site.subscribers()).toMatchObject([{ softFailures: outcome === "failed" ? 1 : 0 }]);
    });
  }

  test("the second uncertain bounce suppresses the address, if a day lies between", async () => {
    await using reports = await createReportSite();
    const uncertain = { status: "5.0.0", diagnostic: "smtp; 550 No" };
    const bounce = async () => {
      const [mail] = await reports.send(ADA);
      await reports.report(bounceMessage({ to: mail!.sender, ...uncertain }));
    };
    await bounce();
    await reports.site.pass(23 * HOUR_MS);
    await bounce();
    expect(reasons(reports)).toEqual([]);
    await reports.site.pass(2 * HOUR_MS);
    await bounce();
    expect(reasons(reports)).toEqual(["bounced"]);
  });

  test("three failures in a row over a week suppress the address, although the relay accepted each mail", async () => {
    await using reports = await createReportSite();
    // Weeks pass, in which no key is used.
    reports.site.app.app.usage.stop();
    const full = { status: "5.2.2", diagnostic: "smtp; 552 5.2.2 Mailbox full" };
    for (const days of [0, 4, 4]) {
      await reports.site.pass(days * DAY_MS);
      // However short events are kept.
      const now = reports.site.app.clock.now();
      await reports.site.app.ctx.db.write((tx) => trimMails(tx, { before: now, now }));
      expect(reasons(reports)).toEqual([]);
      const [mail] = await reports.send(ADA);
      // Hours pass until the report comes.
      await reports.site.pass(HOUR_MS);
      await reports.report(bounceMessage({ to: mail!.sender, ...full }));
    }
    expect(reasons(reports)).toEqual(["soft"]);
  });

  test("a success between failures starts the count again", async () => {
    await using reports = await createReportSite();
    // Weeks pass, in which no key is used.
    reports.site.app.app.usage.stop();
    const full = { status: "5.2.2", diagnostic: "smtp; 552 5.2.2 Mailbox full" };
    for (const isFailure of [true, true, false, true]) {
      await reports.site.pass(4 * DAY_MS);
      const [mail] = await reports.send(ADA);
      if (isFailure) await reports.report(bounceMessage({ to: mail!.sender, ...full }));
    }
    expect(reasons(reports)).toEqual([]);
    expect(reports.site.subscribers()).toMatchObject([{ softFailures: 1 }]);
  });

  for (const action of ["delayed", "delivered", "relayed", "expanded"]) {
    test(`a report of the kind ${action} is ignored`, async () => {
      await using reports = await createReportSite();
      const [mail] = await reports.send(ADA);
      const message = bounceMessage({ to: mail!.sender, action, status: "4.4.1" });
      expect(await reports.report(message)).toBe(204);
      expect(reports.site.mails()).toMatchObject([{ status: "sent" }]);
      expect(reports.unmatched()).toEqual([]);
    });
  }

  test("a vacation reply and a receipt for reading are ignored, and another message is listed", async () => {
    await using reports = await createReportSite();
    const [mail] = await reports.send(ADA);
    const reply = `From: ${ADA}\r\nTo: ${mail!.sender}\r\nSubject: Away\r\n`;
    await reports.report(`${reply}Auto-Submitted: auto-replied\r\n\r\nBack on Monday.\r\n`);
    expect(reports.unmatched()).toEqual([]);
    const receipt = "multipart/report; report-type=disposition-notification; boundary=part";
    await reports.report(`${reply}Content-Type: ${receipt}\r\n\r\n--part--\r\n`);
    expect(reports.unmatched()).toEqual([]);
    await reports.report(`${reply}\r\nWho are you?\r\n`);
    expect(reports.unmatched()).toMatchObject([{ kind: "other" }]);
    expect(reports.unmatched()[0]?.beginning).toContain("Who are you?");
    expect(reasons(reports)).toEqual([]);
  });

  test("links in a message that came back are listed without their tokens", async () => {
    await using reports = await createReportSite();
    const secret = "aB3".repeat(14) + "x";
    const links = [
      `https://status.example.com/mail/manage/sub_01kah2v9w0e0rs6x0h3=\r\nye0a1bc.${secret}`,
      `https://status.example.com/admin/join/${secret.slice(0, 20)}=\r\n${secret.slice(20)}`,
    ];
    await reports.report(`Subject: Returned\r\n\r\n${links.join("\r\n")}\r\nRegards\r\n`);
    const [report] = reports.unmatched();
    expect(report?.beginning).toContain("/mail/manage/[redacted]\r\n");
    expect(report?.beginning).toEndWith("/admin/join/[redacted]\r\nRegards\r\n");
    expect(report?.beginning).not.toContain(secret.slice(20));
  });

  test("encoded parts are listed decoded, without tokens, and files are left out", async () => {
    await using reports = await createReportSite();
    const link = `https://status.example.com/mail/manage/sub_1.${"aB3".repeat(14)}x`;
    const parts = [`Open ${link} now.`, "\u0001\u0002 ada@example.com"].map(
      (text) => `Content-Transfer-Encoding: base64\r\n\r\n${btoa(text)}\r\n`,
    );
    await reports.report(`Subject: Returned\r\n${parts.join("--part\r\n")}--part--\r\n`);
    const [report] = reports.unmatched();
    expect(report?.beginning.split("\r\n")).toEqual([
      "Subject: Returned",
      "Content-Transfer-Encoding: base64",
      "",
      "Open https://status.example.com/mail/manage/[redacted] now.",
      "--part",
      "Content-Transfer-Encoding: base64",
      "",
      "[not text]",
      "--part--",
      "",
    ]);
  });

  test("a report about a mail from before a new confirmation has no consequence", async () => {
    await using reports = await createReportSite();
    const { site } = reports;
    const [mail] = await reports.send(ADA);
    await site.pass(HOUR_MS);
    const { db, clock } = site.app.ctx;
    await db.write((tx) => confirmAll(tx, { at: clock.now() }));
    await reports.report(bounceMessage({ to: mail!.sender }));
    await reports.report(complaintMessage([`Message-ID: <${mail!.id}@example.com>`]));
    expect(reasons(reports)).toEqual([]);
  });
});

describe("a complaint", () => {
  test("it suppresses the address and leaves the mail as sent", async () => {
    await using reports = await createReportSite();
    const [mail] = await reports.send(ADA);
    expect(await reports.report(complaintMessage([`Message-ID: <${mail!.id}@example.com>`]))).toBe(
      204,
    );
    expect(reasons(reports)).toEqual(["complained"]);
    expect(reports.site.mails()).toMatchObject([{ status: "sent" }]);
  });

  test("a person who says that it is no spam does not complain", async () => {
    await using reports = await createReportSite();
    const [mail] = await reports.send(ADA);
    const returned = [`Message-ID: <${mail!.id}@example.com>`];
    await reports.report(complaintMessage(returned, { type: "not-spam" }));
    expect(reasons(reports)).toEqual([]);
    expect(reports.unmatched()).toEqual([]);
  });
});

describe("reports of a service as JSON", () => {
  test("they go by mail or by address", async () => {
    await using reports = await createReportSite();
    const [mail] = await reports.send(ADA, BOB);
    const answer = await reports.json({
      reports: [
        { mail: mail!.id, kind: "hard", status: "5.1.1", diagnostic: "No such user" },
        { address: "BOB@Example.com", kind: "complaint" },
        { address: "carol@example.com", kind: "hard" },
        { mail: "eml_01kah2v9w0e0rs6x0h3ye0a1bc", kind: "hard" },
      ],
    });
    expect(answer.status).toBe(204);
    expect(reasons(reports).toSorted()).toEqual(["bounced", "bounced", "complained"]);
    expect(reports.unmatched()).toHaveLength(1);
    await reports.send(ADA, BOB);
    expect(reports.site.mails().slice(2)).toMatchObject([
      { status: "cancelled" },
      { status: "cancelled" },
    ]);
  });

  test("a soft bounce by address is about the last mail to it", async () => {
    await using reports = await createReportSite();
    const [mail] = await reports.send(ADA);
    await reports.json({ reports: [{ address: ADA, kind: "soft" }] });
    expect(listReportsOfMail(reports.site.app.ctx.db, { mailId: mail!.id })).toHaveLength(1);
    expect(reports.site.subscribers()).toMatchObject([{ softFailures: 1 }]);
  });

  test("wrong reports are refused with a pointer to each", async () => {
    await using reports = await createReportSite();
    const many = Array.from({ length: 501 }, () => ({ address: ADA, kind: "hard" }));
    for (const [body, pointers] of [
      [{}, ["#/reports"]],
      [{ reports: [{ kind: "hard" }] }, ["#/reports/0/mail"]],
      [
        {
          reports: [
            { address: ADA, kind: "hard" },
            { address: "ada", kind: "spam" },
          ],
        },
        ["#/reports/1/address", "#/reports/1/kind"],
      ],
      [{ reports: [{ mail: "sub_1", kind: "hard" }] }, ["#/reports/0/mail"]],
      [{ reports: many }, ["#/reports"]],
    ] as const) {
      const answer = await reports.json(body);
      const { errors } = expectProblem(answer, "validation_failed") as {
        errors: { pointer: string }[];
      };
      expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual([...pointers]);
    }
    expect(reasons(reports)).toEqual([]);
  });
});

describe("the route of reports", () => {
  test("a wrong token is refused, in the path and as bearer", async () => {
    await using reports = await createReportSite();
    const { app } = reports.site;
    const post = { method: "POST", json: { reports: [] } };
    const path = "/api/v1/mail/bounces";
    expectProblem(await app.call(`${path}/${"x".repeat(43)}`, post), "not_found");
    expectProblem(await app.call(`${path}/x`, post), "not_found");
    expectProblem(await app.call(path, post), "missing_key");
    expectProblem(await app.call(path, { ...post, key: "x".repeat(43) }), "invalid_key");
    const key = await app.keyWith("manage:webhooks");
    expectProblem(await app.call(path, { ...post, key }), "invalid_key");
    expect((await app.call(path, { ...post, key: reports.token })).status).toBe(204);
    // It grants nothing else.
    expectProblem(await app.call("/api/v1/webhooks", { key: reports.token }), "invalid_key");
    const replaced = await app.ctx.db.write((tx) => makeReportToken(app.ctx, tx, CLI_ACTOR));
    expectProblem(await app.call(path, { ...post, key: reports.token }), "invalid_key");
    expect((await app.call(path, { ...post, key: replaced })).status).toBe(204);
    expect(JSON.stringify(app.audit())).not.toContain(replaced);
  });

  test("other media types, and more than 900 KiB, are refused", async () => {
    await using reports = await createReportSite();
    const { app } = reports.site;
    const path = `/api/v1/mail/bounces/${reports.token}`;
    const raw = bounceMessage({});
    const as = (type: string, body: string) =>
      app.call(path, { method: "POST", headers: { "content-type": type }, raw: body });
    expectProblem(await as("text/plain", raw), "unsupported_media_type");
    expectProblem(await as("multipart/form-data; boundary=x", raw), "unsupported_media_type");
    expectProblem(await as("message/rfc822", raw.padEnd(900 * 1024 + 1)), "payload_too_large");
    expect((await as("message/rfc822", raw.padEnd(900 * 1024))).status).toBe(204);
    expectProblem(await as("application/json", "{"), "invalid_request");
  });

  test("600 reports a minute are taken, whatever the client's other requests are", async () => {
    await using reports = await createReportSite();
    const { app } = reports.site;
    const path = `/api/v1/mail/bounces/${reports.token}`;
    const post = { method: "POST", json: { reports: [] } };
    for (let i = 0; i < 600; i++) expect((await app.call(path, post)).status).toBe(204);
    const { headers } = await app.call(path, post);
    expect(headers.get("retry-after")).toBe("60");
  });

  test("unmatched reports keep their first 20 KB for 30 days, and only the newest 500 of them", async () => {
    await using reports = await createReportSite();
    const { ctx } = reports.site.app;
    await reports.report(bounceMessage({ returned: ["Subject: x".padEnd(40_000, "x")] }));
    const [first] = reports.unmatched();
    expect(Buffer.byteLength(findReport(ctx.db, { id: first!.id })?.excerpt ?? "")).toBe(20 * 1024);
    const other = { mail: "eml_01kah2v9w0e0rs6x0h3ye0a1bc", kind: "hard" };
    await reports.json({ reports: Array.from({ length: 499 }, () => other) });
    expect(findReport(ctx.db, { id: first!.id })).toBeDefined();
    await reports.json({ reports: [other] });
    expect(findReport(ctx.db, { id: first!.id })).toBeUndefined();
  });
});

describe("a hostile message", () => {
  const status =
    "\r\nContent-Type: message/delivery-status\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n";
  const multipart = "Content-Type: multipart/mixed; boundary=b\r\n\r\n";
  for (const [what, message] of Object.entries({
    "very many parts": `${multipart}${"--b\r\n\r\n".repeat(1_000)}--b${status}`,
    "very many lines": `${multipart}${"\r\n".repeat(10_000)}--b${status}`,
    "a report after 128 KiB": `${multipart}${"x".repeat(130 * 1024)}\r\n--b${status}`,
    "very deep nesting": Array.from(
      { length: 100 },
      (_, depth) => `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`,
    ).join(""),
    "a header without an end": "a: b\r\n".repeat(20_000),
    zeros: "\0".repeat(900 * 1024),
  })) {
    test(`a message with ${what} is read in part and listed`, async () => {
      await using reports = await createReportSite();
      expect(await reports.report(message)).toBe(204);
      expect(reports.unmatched()).toMatchObject([{ kind: "other" }]);
    });
  }
});
