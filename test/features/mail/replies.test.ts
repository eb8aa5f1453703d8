import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createMailSite, type MailSite } from "../../support/mail-site";
import { startMailboxes } from "../../support/scripted-mailboxes";

const ADA = "ada@example.com";
const NO_MORE_RETRIES_MS = 20 * HOUR_MS;

/** Sends a mail of a new mailing to one address. */
async function mailTo(site: MailSite, address: string): Promise<void> {
  await site.mailing([address], { expiresAt: site.app.clock.now() + 30 * DAY_MS });
  await site.idle();
}

describe("a mail that the relay refuses for now", () => {
  for (const command of ["RCPT", "DATA", "."]) {
    test(`a mail refused for now after ${command} is tried nine times in 16 hours and then has failed`, async () => {
      await using relay = await startMailboxes({ [command]: "450 4.2.0 Try later" });
      await using site = await createMailSite(relay);
      await mailTo(site, ADA);
      const dueAfter: number[] = [];
      for (let mail = site.mails()[0]; mail?.nextTryAt; mail = site.mails()[0]) {
        expect(mail).toMatchObject({ status: "pending", reply: "450 4.2.0 Try later" });
        const waitMs = mail.nextTryAt - site.app.clock.now();
        dueAfter.push(waitMs);
        await site.pass(waitMs - 1);
        expect(site.mails()[0]?.tries).toBe(dueAfter.length);
        await site.pass(1);
      }
      const expected = [1, 5, 15, 30, 60, 120, 240, 480].map((minutes) => minutes * MINUTE_MS);
      expect(dueAfter).toHaveLength(expected.length);
      for (const [index, waitMs] of dueAfter.entries()) {
        const usual = expected[index] ?? 0;
        // Results are recorded up to 50 ms after the reply.
        expect(waitMs).toBeGreaterThanOrEqual(usual * 0.8 - SECOND_MS);
        expect(waitMs).toBeLessThanOrEqual(usual * 1.2);
      }
      expect(site.mails()).toMatchObject([{ status: "failed", tries: 9 }]);
      expect(site.subscribers()).toMatchObject([{ softFailures: 1 }]);
      expect(site.suppressions()).toEqual([]);
      expect(site.mailings()).toMatchObject([{ written: 1, failed: 1, sent: 0, state: "done" }]);
    });
  }

  test("a mail refused for now is accepted at a later try", async () => {
    await using relay = await startMailboxes({ [ADA]: "451 4.7.1 Greylisted" });
    await using site = await createMailSite(relay);
    await site.queue({ to: ADA });
    await site.idle();
    delete relay.answers[ADA];
    await site.pass(2 * MINUTE_MS);
    expect(site.mails()).toMatchObject([{ status: "sent", tries: 2 }]);
    expect(relay.accepted).toEqual([ADA]);
  });

  test("other mails over the same connection follow after RSET", async () => {
    await using relay = await startMailboxes({ [ADA]: "450 4.2.0 Try later" });
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "1" });
    await site.queue({ to: ADA }, { to: "bob@example.org" });
    await site.idle();
    expect(relay.connections()).toBe(1);
    expect(relay.accepted).toEqual(["bob@example.org"]);
    const names = relay.commands.map((line) => line.split(/[ :]/, 1)[0]);
    expect(names).toEqual(["EHLO", "MAIL", "RCPT", "RSET", "MAIL", "RCPT", "DATA", "."]);
  });
});

describe("a mail to an address that does not exist", () => {
  for (const reply of [
    "550 5.1.1",
    "550 5.1.2",
    "501 5.1.3",
    "551 5.1.6",
    "556 5.1.10",
    "550 5.2.1",
  ]) {
    test(`a mail refused with ${reply} bounced, and its address is suppressed at once`, async () => {
      await using relay = await startMailboxes({ [ADA]: `${reply} No such user` });
      await using site = await createMailSite(relay);
      await mailTo(site, ADA);
      const [mail] = site.mails();
      expect(mail).toMatchObject({ status: "bounced", tries: 1, nextTryAt: null });
      expect(site.suppressions()).toMatchObject([
        {
          addressHmac: site.subscribers()[0]?.addressHmac,
          pageId: "",
          reason: "bounced",
          mailId: mail?.id,
          note: `${reply} No such user`,
        },
      ]);
      // Later mails of mailings to it are not begun.
      await mailTo(site, ADA);
      expect(site.mails().map(({ status }) => status)).toEqual(["bounced", "cancelled"]);
      expect(site.mailings()).toMatchObject([
        { bounced: 1, state: "done" },
        { cancelled: 1, state: "done" },
      ]);
      expect(relay.commands.filter((line) => line.startsWith("RCPT"))).toHaveLength(1);
    });
  }

  for (const code of [550, 551, 553]) {
    test(`a mail refused with ${code} bounced, and the address is suppressed by a second one after a day`, async () => {
      await using relay = await startMailboxes({ [ADA]: `${code} Unavailable` });
      await using site = await createMailSite(relay);
      await mailTo(site, ADA);
      await site.pass(23 * HOUR_MS, HOUR_MS);
      await mailTo(site, ADA);
      expect(site.mails().map(({ status }) => status)).toEqual(["bounced", "bounced"]);
      expect(site.suppressions()).toEqual([]);
      await site.pass(HOUR_MS);
      await mailTo(site, ADA);
      expect(site.suppressions()).toMatchObject([{ reason: "bounced" }]);
    });
  }

  test("a mail that was accepted in between resets the count of bounces without an enhanced code", async () => {
    await using relay = await startMailboxes({ [ADA]: "550 Unavailable" });
    await using site = await createMailSite(relay);
    await mailTo(site, ADA);
    delete relay.answers[ADA];
    await site.pass(HOUR_MS);
    await mailTo(site, ADA);
    relay.answers[ADA] = "550 Unavailable";
    await site.pass(2 * DAY_MS, DAY_MS);
    await mailTo(site, ADA);
    expect(site.mails().map(({ status }) => status)).toEqual(["bounced", "sent", "bounced"]);
    expect(site.suppressions()).toEqual([]);
  });

  test("the note of a suppression, which outlives the address, does not contain it", async () => {
    await using relay = await startMailboxes({ [ADA]: `550 5.1.1 <${ADA}>: no such user` });
    await using site = await createMailSite(relay);
    await mailTo(site, ADA);
    expect(site.suppressions()).toMatchObject([{ note: "550 5.1.1 <…>: no such user" }]);
    expect(site.mails()).toMatchObject([{ reply: `550 5.1.1 <${ADA}>: no such user` }]);
  });

  test("an account mail that bounced suppresses the address, and further account mails are sent", async () => {
    await using relay = await startMailboxes({ [ADA]: "550 5.1.1 No such user" });
    await using site = await createMailSite(relay);
    await site.queue({ to: "Ada@Example.com" }, { to: ADA });
    await site.idle();
    delete relay.answers[ADA];
    expect(site.suppressions()).toHaveLength(1);
    await mailTo(site, ADA);
    await site.queue({ to: ADA });
    await site.queue({ to: ADA, class: 2 });
    await site.idle();
    expect(site.mails().slice(-3)).toMatchObject([
      { class: 3, status: "cancelled" },
      { class: 1, status: "sent" },
      { class: 2, status: "cancelled" },
    ]);
  });
});

describe("a mail refused for another reason", () => {
  for (const [command, reply] of [
    ["RCPT", "550 5.7.1 Policy"],
    ["RCPT", "552 5.2.2 Mailbox full"],
    ["RCPT", "554 Refused"],
    ["DATA", "554 5.5.1 No valid recipients"],
    [".", "552 5.3.4 Too large"],
    [".", "550 5.7.1 Spam"],
  ] as const) {
    test(`a mail refused with ${reply} after ${command} has failed, and the address stays`, async () => {
      await using relay = await startMailboxes({ [command]: reply });
      await using site = await createMailSite(relay);
      await mailTo(site, ADA);
      await site.pass(NO_MORE_RETRIES_MS, HOUR_MS);
      expect(site.mails()).toMatchObject([{ status: "failed", tries: 1, reply }]);
      expect(site.suppressions()).toEqual([]);
      expect(site.subscribers()).toMatchObject([{ softFailures: 1 }]);
    });
  }

  test("the third failure over a week suppresses the address, and a success resets the count", async () => {
    await using relay = await startMailboxes({ [ADA]: "552 5.2.2 Mailbox full" });
    await using site = await createMailSite(relay);
    const fail = async () => {
      await mailTo(site, ADA);
      const { clock } = site.app;
      clock.setWallClock(clock.now() + 4 * DAY_MS);
      await site.pass(MINUTE_MS);
    };
    await fail();
    await fail();
    delete relay.answers[ADA];
    await fail();
    expect(site.subscribers()).toMatchObject([{ softFailures: 0, softSince: null }]);
    relay.answers[ADA] = "552 5.2.2 Mailbox full";
    await fail();
    await fail();
    expect(site.suppressions()).toEqual([]);
    await fail();
    expect(site.suppressions()).toMatchObject([{ reason: "soft" }]);
    expect(site.mails().at(-1)?.status).toBe("failed");
    await fail();
    expect(site.mails().at(-1)?.status).toBe("cancelled");
  });
});

describe("an unavailable relay", () => {
  // Where the relay breaks off in the middle of a mail, each of the two mails has a wait of its own.
  for (const [what, answers, triesAtOnce] of [
    ["the greeting is refused", { "": "554 5.3.2 Not today" }, 1],
    ["EHLO is refused", { EHLO: "550 No", HELO: "550 No" }, 1],
    ["MAIL FROM is refused", { MAIL: "550 5.7.1 Sender refused" }, 1],
    ["MAIL FROM is refused for now", { MAIL: "451 4.3.0 Later" }, 1],
    ["421 answers MAIL FROM", { MAIL: "421 4.3.2 Closing" }, 1],
    ["421 answers a recipient", { RCPT: "421 4.3.2 Closing" }, 2],
    ["421 answers the end of DATA", { ".": "421 4.3.2 Closing" }, 2],
    ["the connection is closed before the greeting", { "": null }, 1],
    ["the connection is lost after a recipient", { RCPT: null }, 2],
    ["the connection is lost after the end of DATA", { ".": null }, 2],
  ] as const) {
    test(`no mail is charged a try, and all wait from 5 s to 5 min, if ${what}`, async () => {
      await using relay = await startMailboxes({ ...answers });
      await using site = await createMailSite(relay);
      const begun = () => relay.connections();
      await site.queue({ to: ADA }, { to: "bob@example.org" });
      await site.idle();
      expect(site.sender.stats().relay).toMatchObject({ isAvailable: false });
      const atFirst = begun();
      const waits = [5, 10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * SECOND_MS);
      for (const [index, waitMs] of waits.entries()) {
        await site.pass(waitMs - 1);
        expect(begun()).toBe(atFirst + index * triesAtOnce);
        await site.pass(1);
        expect(begun()).toBe(atFirst + (index + 1) * triesAtOnce);
      }
      expect(site.mails()).toMatchObject([
        { status: "pending", tries: 0 },
        { status: "pending", tries: 0 },
      ]);
      for (const key of Object.keys(answers)) delete relay.answers[key];
      await site.pass(5 * MINUTE_MS);
      expect(site.mails()).toMatchObject([
        { status: "sent", tries: 1 },
        { status: "sent", tries: 1 },
      ]);
      expect(site.sender.stats().relay).toEqual({ isAvailable: true, since: null, reply: null });
    });
  }

  test.each([
    ["a refusal", "421 4.7.0 Too many messages on this connection"],
    ["no reply", null],
  ])("a relay that ends each connection after two mails with %s delays no mail", async (_, end) => {
    await using relay = await startMailboxes({}, [], (line, { mails }) =>
      line.startsWith("MAIL") && mails === 2 ? end : undefined,
    );
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_RATE: "0" });
    await site.queue(...Array.from({ length: 20 }, (_, index) => ({ to: `user${index}@a.test` })));
    await site.idle();
    expect(relay.accepted).toHaveLength(20);
    expect(new Set(relay.accepted).size).toBe(20);
    expect(site.sender.stats().relay).toMatchObject({ isAvailable: true });
  });

  test("a relay that refuses further connections than two delays no mail", async () => {
    let open = 0;
    await using relay = await startMailboxes({}, [], (line, session) => {
      if (line !== "") return undefined;
      open += 1;
      session.closed(() => (open -= 1));
      return open > 2 ? "421 4.7.0 Too many connections from your address" : undefined;
    });
    await using site = await createMailSite(relay, {
      ALLCLEAR_SMTP_RATE: "0",
      ALLCLEAR_SMTP_CONNECTIONS: "4",
    });
    const all = Array.from({ length: 200 }, (_, index) => ({
      to: `user${index}@d${index % 9}.test`,
    }));
    await site.queue(...all);
    await site.pass(15_000, 500);
    expect(new Set(relay.accepted).size).toBe(200);
    expect(relay.accepted).toHaveLength(200);
  });

  test.each([
    ["refuses connections", { "": "421 4.3.2 Down" }],
    ["closes connections", { "": null }],
    ["refuses EHLO", { EHLO: "550 No", HELO: "550 No" }],
    ["refuses MAIL FROM", { MAIL: "451 4.3.0 Later" }],
  ] as const)(
    "a relay that %s is tried once over each connection, and then once in each wait",
    async (_, answers) => {
      await using relay = await startMailboxes({ ...answers });
      await using site = await createMailSite(relay, {
        ALLCLEAR_SMTP_RATE: "0",
        ALLCLEAR_SMTP_CONNECTIONS: "4",
      });
      await site.queue(
        ...Array.from({ length: 60 }, (_, index) => ({ to: `user${index}@d${index % 7}.test` })),
      );
      await site.idle();
      expect(relay.connections()).toBe(4);
      const waits = [5, 10, 20, 40, 80, 160, 300, 300];
      for (const [index, seconds] of waits.entries()) {
        await site.pass(seconds * SECOND_MS);
        expect(relay.connections()).toBe(5 + index);
      }
    },
  );

  test("a relay that refuses connections and one that never answers charge no try", async () => {
    const relay = await startMailboxes();
    await relay[Symbol.asyncDispose]();
    await using site = await createMailSite(relay);
    await site.queue({ to: ADA });
    await site.idle();
    expect(site.mails()).toMatchObject([{ status: "pending", tries: 0 }]);
    expect(site.sender.stats().relay).toMatchObject({
      isAvailable: false,
      reply: { stage: "connect", code: null },
    });
  });

  test("an hour without the relay loses nothing", async () => {
    await using relay = await startMailboxes({ "": "421 Down" });
    await using site = await createMailSite(relay);
    const addresses = Array.from({ length: 30 }, (_, index) => `user${index}@example.com`);
    await site.mailing(addresses);
    await site.queue({ to: ADA });
    await site.pass(HOUR_MS, MINUTE_MS);
    delete relay.answers[""];
    await site.pass(5 * MINUTE_MS);
    expect(new Set(Object.values(site.statuses()))).toEqual(new Set(["sent"]));
    expect(site.mails().every(({ tries }) => tries === 1)).toBe(true);
    expect(site.mailings()).toMatchObject([{ written: 30, sent: 30, state: "done" }]);
  });

  test("the log names the reply once and no address", async () => {
    await using relay = await startMailboxes({ RCPT: `421 4.3.2 Closing on ${ADA}` });
    await using site = await createMailSite(relay);
    await site.queue({ to: ADA });
    await site.pass(MINUTE_MS, SECOND_MS);
    const lines = site.app.logged.filter(({ msg }) => msg.includes("relay"));
    expect(lines).toMatchObject([
      { msg: "the mail relay is unavailable", code: 421, enhanced: "4.3.2", text: "Closing on …" },
    ]);
  });

  test("an account mail at which the relay always breaks off does not keep team mails and mailings waiting", async () => {
    await using relay = await startMailboxes({ [ADA]: "421 4.7.0 Try again later" });
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "4" });
    await site.queue({ to: ADA });
    await site.pass(MINUTE_MS, SECOND_MS);
    await site.queue({ to: "bob@example.org", class: 2 });
    await site.mailing(Array.from({ length: 20 }, (_, index) => `user${index}@example.net`));
    await site.pass(2 * MINUTE_MS, SECOND_MS);
    const { [ADA]: broken, ...others } = site.statuses();
    expect(broken).toBe("pending");
    expect(new Set(Object.values(others))).toEqual(new Set(["sent"]));
    // It is tried again in turn, also while the relay takes other mails.
    const tries = () => relay.commands.filter((line) => line.includes(ADA)).length;
    const before = tries();
    relay.answers[ADA] = "250 2.1.5 Ok";
    await site.pass(5 * MINUTE_MS, SECOND_MS);
    expect(tries()).toBe(before + 1);
    expect(site.statuses()[ADA]).toBe("sent");
  });

  test("a mail at which the relay breaks off does not keep others waiting", async () => {
    await using relay = await startMailboxes({ [ADA]: null });
    await using site = await createMailSite(relay);
    await site.queue({ to: ADA });
    await site.idle();
    await site.queue({ to: "bob@example.com" }, { to: "cy@example.com" });
    await site.pass(5 * SECOND_MS);
    expect(site.statuses()).toEqual({
      [ADA]: "pending",
      "bob@example.com": "sent",
      "cy@example.com": "sent",
    });
  });
});
