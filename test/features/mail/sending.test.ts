import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { CLI_ACTOR } from "../../../src/base/actor";
import {
  cancelMailsOfSubscriber,
  supersedeMailing,
  wakeSender,
} from "../../../src/features/mail/mail";
import { bounceMac, findMailKey } from "../../../src/features/mail/tokens";
import {
  findMailHold,
  releaseAllMailings,
  suppressionsOfHold,
} from "../../../src/features/mail/hold";
import { relayTakesUtf8 } from "../../../src/features/mail/settings";
import { suppress } from "../../../src/features/mail/suppressions";
import { settle } from "../../support/clock";
import { startHeldRelay } from "../../support/held-relay";
import { createMailSite, type MailSite } from "../../support/mail-site";
import { startRelay } from "../../support/relay";
import { setMailingState } from "../../support/mailing-state";
import { startMailboxes } from "../../support/scripted-mailboxes";

const addresses = (count: number, domain = "example.com") =>
  Array.from({ length: count }, (_, index) => `user${index}@${domain}`);

const countsOf = (site: MailSite) =>
  Object.fromEntries(
    Map.groupBy(site.mails(), ({ status }) => status)
      .entries()
      .map(([status, rows]) => [status, rows.length]),
  );

describe("sending mails", () => {
  test("a queued mail is sent to its recipient and recorded", async () => {
    await using relay = await startRelay();
    await using site = await createMailSite(relay);
    const [id] = await site.queue({ to: "ada@example.com", params: { subject: "Welcome" } });
    await site.idle();
    expect(relay.mails).toMatchObject([{ from: "status@example.com", to: ["ada@example.com"] }]);
    expect(relay.mails[0]?.text).toContain("Subject: Welcome");
    expect(relay.mails[0]?.name).toBe("status.example.com");
    expect(site.mails()).toMatchObject([
      { id, status: "sent", tries: 1, nextTryAt: null, reply: "250 2.0.0 Ok: queued as 4XyZ" },
    ]);
    expect(site.sender.stats().results(1, "sent")).toBe(1);
  });

  test("the relay is asked for reports about failures if it offers DSN", async () => {
    await using relay = await startMailboxes({}, ["DSN"]);
    await using site = await createMailSite(relay);
    const [id] = await site.queue({ to: "ada@example.com" });
    await site.idle();
    expect(relay.commands.slice(1, 3)).toEqual([
      `MAIL FROM:<status@example.com> RET=HDRS ENVID=${id}`,
      expect.stringMatching(/^RCPT TO:<ada@example\.com> NOTIFY=FAILURE/),
    ]);
  });

  test("the last connection shows if the relay takes addresses outside ASCII", async () => {
    for (const extensions of [[], ["SMTPUTF8"]]) {
      await using relay = await startMailboxes({}, extensions);
      await using site = await createMailSite(relay);
      expect(relayTakesUtf8(site.app.ctx)).toBe(false);
      await site.queue({ to: "ada@example.com" });
      await site.idle();
      await settle();
      expect(relayTakesUtf8(site.app.ctx)).toBe(extensions.length > 0);
    }
  });

  test("with a bounce address, the envelope sender names the mail", async () => {
    await using relay = await startMailboxes();
    await using site = await createMailSite(relay, {
      ALLCLEAR_MAIL_BOUNCE_ADDRESS: "bounces-of-northwind-abc@example.com",
    });
    await site.mailing(["ada@example.com"]);
    await site.idle();
    const key = findMailKey(site.app.ctx.db);
    const [{ id } = { id: "" }] = site.mails();
    if (!key) throw new Error("there is no key");
    const local = `bounces-of-northwind-abc+${id}-${bounceMac(key, id)}`;
    expect(local).toHaveLength(64);
    expect(relay.commands[1]).toBe(`MAIL FROM:<${local}@example.com>`);
  });

  test("a mail that is not wanted any more is cancelled, and one that cannot be written is tried again", async () => {
    await using relay = await startRelay();
    await using site = await createMailSite(relay);
    await site.queue(
      { to: "ada@example.com", params: { unwanted: true } },
      { to: "bob@example.com", template: "broken" },
      { to: "cy@example.com", template: "missing" },
    );
    await site.idle();
    expect(relay.mails).toEqual([]);
    expect(site.mails()).toMatchObject([
      { status: "cancelled", tries: 0 },
      { status: "pending", tries: 1, reply: "The message could not be written." },
      { status: "pending", tries: 1 },
    ]);
  });

  test("nothing is sent while mail is not ready, and the rest is sent once it is", async () => {
    await using relay = await startRelay();
    await using site = await createMailSite(relay);
    const { ctx } = site.app;
    const { config } = ctx;
    ctx.baseUrl = `http://127.0.0.1:${config.listen.port}`;
    ctx.config = { ...config, listen: { ...config.listen, host: "127.0.0.1" } };
    ctx.signals.settingsChanged.emit();
    await site.queue({ to: "ada@example.com" });
    await site.pass(HOUR_MS, 30 * MINUTE_MS);
    expect(countsOf(site)).toEqual({ pending: 1 });
    ctx.baseUrl = "https://status.example.com";
    ctx.signals.settingsChanged.emit();
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 1 });
  });

  test("a sender sends what another process has queued", async () => {
    await using relay = await startRelay();
    await using site = await createMailSite(relay);
    const { signals } = site.app.ctx;
    const { emit } = signals.mailsQueued;
    signals.mailsQueued.emit = () => undefined;
    await site.queue({ to: "ada@example.com" });
    await site.idle();
    signals.mailsQueued.emit = emit;
    expect(relay.mails).toEqual([]);
    signals.databaseChangedElsewhere.emit();
    await site.idle();
    expect(relay.mails).toHaveLength(1);
  });
});

describe("connections", () => {
  test("a connection is replaced after 100 mails and closed after 30 s without use", async () => {
    await using relay = await startMailboxes();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "1" });
    await site.mailing(addresses(150));
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 150 });
    expect(relay.connections()).toBe(2);
    await site.queue({ to: "ada@example.com" });
    await site.idle();
    expect(relay.connections()).toBe(2);
    await site.pass(30 * SECOND_MS);
    await site.queue({ to: "bob@example.com" });
    await site.idle();
    expect(relay.connections()).toBe(3);
  });

  test("new settings hold from the next connection on", async () => {
    await using relay = await startMailboxes();
    await using other = await startMailboxes();
    await using site = await createMailSite(relay);
    await site.queue({ to: "ada@example.com" });
    await site.idle();
    const { ctx } = site.app;
    ctx.config = { ...ctx.config, smtpPort: other.port };
    ctx.signals.settingsChanged.emit();
    await site.queue({ to: "bob@example.com" });
    await site.idle();
    expect(relay.accepted).toEqual(["ada@example.com"]);
    expect(other.accepted).toEqual(["bob@example.com"]);
  });

  test("a mail is sent over a new connection if the relay has closed the one that was not in use", async () => {
    await using relay = await startMailboxes();
    await using site = await createMailSite(relay);
    await site.queue({ to: "ada@example.com" });
    await site.idle();
    relay.answers["MAIL"] = null;
    const queued = site.queue({ to: "bob@example.com" });
    while (relay.commands.filter((line) => line.startsWith("MAIL")).length < 2) await settle();
    delete relay.answers["MAIL"];
    await queued;
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 2 });
    expect(site.sender.stats().relay.isAvailable).toBe(true);
  });
});

describe("the order of mails", () => {
  test("account mails go before team mails, these before mailings, and older mailings before newer ones", async () => {
    await using relay = await startMailboxes();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "1" });
    await site.sender.stop(0);
    await site.mailing(["m1@example.com", "m2@example.com"]);
    await site.mailing(["m3@example.org", "m4@example.org"]);
    await site.queue({ to: "t1@example.com", class: 2 }, { to: "t2@example.com", class: 2 });
    await site.queue({ to: "a1@example.com" }, { to: "a2@example.com" });
    await site.restart();
    await site.idle();
    expect(relay.accepted).toEqual(
      ["a1", "a2", "t1", "t2", "m1", "m2"]
        .map((name) => `${name}@example.com`)
        .concat(["m3@example.org", "m4@example.org"]),
    );
  });

  test("mailings never use all connections, so that an account mail is sent at once", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "4" });
    await site.mailing(addresses(50));
    await relay.until(3);
    await settle();
    expect(relay.waiting()).toHaveLength(3);
    await site.queue({ to: "ada@example.org" });
    await relay.until(4);
    expect(relay.waiting()).toContain("ada@example.org");
    relay.acceptAll();
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 51 });
    expect(relay.most).toBe(4);
  });

  test("while mailings use all of their connections, the queue is not searched again and again", async () => {
    await using relay = await startHeldRelay();
    let searches = 0;
    const throttle = { take: () => ++searches > 0, waitMs: () => 0 };
    const env = { ALLCLEAR_SMTP_CONNECTIONS: "4" };
    await using site = await createMailSite(relay, env, { throttle });
    await site.mailing(Array.from({ length: 100 }, (_, index) => `user@d${index}.test`));
    await relay.until(3);
    await settle();
    const before = searches;
    await settle();
    await settle();
    expect(searches - before).toBe(0);
    relay.acceptAll();
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 100 });
  });

  test("with one connection, an account mail waits for one mail of a mailing at most", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "1" });
    await site.mailing(addresses(5));
    await relay.until(1);
    await site.queue({ to: "ada@example.org" });
    relay.acceptAll();
    await site.idle();
    expect(relay.arrived[1]).toBe("ada@example.org");
    expect(relay.most).toBe(1);
  });

  test("domains take turns, and one has at most half of the connections while others wait", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "5" });
    const others = [...addresses(5, "small.test"), ...addresses(5, "tiny.test")];
    await site.mailing([...addresses(30, "large.test"), ...others]);
    const waitingTo = (domain: string) =>
      relay.waiting().filter((address) => address.endsWith(`@${domain}`));
    // Mails to the large domain take long.
    for (let accepted = 0; accepted < others.length; accepted++) {
      await relay.until(4 + accepted);
      const areOthersWaiting = accepted <= others.length - 2;
      if (areOthersWaiting) expect(waitingTo("large.test")).toHaveLength(2);
      relay.accept(relay.waiting().find((address) => !address.endsWith("@large.test")));
    }
    // No other domain waits any more.
    await relay.until(14);
    expect(waitingTo("large.test")).toHaveLength(4);
    relay.acceptAll();
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 40 });
  });

  test("a large number of domains takes turns, each mail once", async () => {
    await using relay = await startMailboxes();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "2" });
    const many = Array.from({ length: 300 }, (_, index) => `user@d${index}.test`);
    await site.mailing([...addresses(60, "big.test"), ...many]);
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 360 });
    expect(new Set(relay.accepted).size).toBe(360);
    // One after the other among all domains that are known at a time.
    const first = relay.accepted.slice(0, 32).map((address) => address.split("@")[1]);
    expect(new Set(first).size).toBe(32);
    expect(
      relay.accepted.findLastIndex((address) => address.endsWith("@big.test")),
    ).toBeGreaterThan(300);
  });

  test("mails of a mailing go by their batches, also if there is none between two of them", async () => {
    await using relay = await startMailboxes();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "1" });
    await site.sender.stop(0);
    const ordered = ["a@example.com", "b@example.com", "c@example.com"];
    await site.mailing(ordered.toReversed(), { batches: [7, 4, 2] });
    await site.restart();
    await site.idle();
    expect(relay.accepted).toEqual(ordered);
  });

  test("a domain that refuses two mails within a minute gets one connection for a minute", async () => {
    await using relay = await startMailboxes();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "4" });
    relay.answers["RCPT"] = "450 4.7.0 Slow down";
    await site.mailing(addresses(2));
    await site.idle();
    delete relay.answers["RCPT"];
    await using held = await startHeldRelay();
    const { ctx } = site.app;
    ctx.config = { ...ctx.config, smtpPort: held.port };
    ctx.signals.settingsChanged.emit();
    await site.mailing(addresses(10).slice(2));
    await held.until(1);
    await settle();
    expect(held.waiting()).toHaveLength(1);
    await site.app.clock.advance(MINUTE_MS);
    await held.until(3);
    expect(held.waiting()).toHaveLength(3);
    held.acceptAll();
    await site.pass(10 * MINUTE_MS, MINUTE_MS);
    expect(countsOf(site)).toEqual({ sent: 10 });
  });

  test("mails about one subject go to one recipient one after the other", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay);
    const about = { to: "ada@example.com", subjectId: "inc_1", class: 2 } as const;
    const ids = await site.queue(
      about,
      { ...about, to: "ADA@example.com" },
      { ...about, subjectId: "inc_2" },
    );
    await relay.until(2);
    await settle();
    expect(relay.waiting()).toHaveLength(2);
    expect(relay.messageIds.toSorted()).toEqual(
      [ids[0], ids[2]].map((id) => `<${id}@example.com>`),
    );
    relay.acceptAll();
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 3 });
  });

  test("the limit of mails a minute lets those of ten seconds start and then one at a time", async () => {
    await using relay = await startRelay();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_RATE: "60" });
    await site.queue(...addresses(30).map((to) => ({ to })));
    await site.idle();
    expect(relay.mails).toHaveLength(10);
    await site.pass(5 * SECOND_MS, 500);
    expect(relay.mails).toHaveLength(15);
    await site.pass(20 * SECOND_MS, 500);
    expect(countsOf(site)).toEqual({ sent: 30 });
  });
});

describe("mails that are not sent any more", () => {
  test("a mail whose time is over has expired, also while it waits for a retry or for the relay", async () => {
    await using relay = await startMailboxes({ RCPT: "450 4.2.0 Later" });
    await using site = await createMailSite(relay);
    const expiresAt = site.app.clock.now() + 3 * MINUTE_MS;
    await site.mailing(["ada@example.com"], { expiresAt });
    await site.pass(4 * MINUTE_MS, MINUTE_MS);
    expect(site.mails()).toMatchObject([{ status: "expired", tries: 2 }]);
    expect(site.mailings()).toMatchObject([{ expired: 1, state: "done" }]);

    relay.answers[""] = "421 Down";
    const later = site.app.clock.now() + 3 * MINUTE_MS;
    await site.pass(MINUTE_MS);
    await site.mailing(addresses(20), { expiresAt: later });
    await site.pass(4 * MINUTE_MS, MINUTE_MS);
    expect(site.mailings().at(-1)).toMatchObject({ expired: 20, state: "done" });
  });

  test("mails of a held mailing wait, and those of a stopped one are cancelled", async () => {
    await using relay = await startRelay();
    await using site = await createMailSite(relay);
    const held = await site.mailing(addresses(3), { state: "held" });
    await site.mailing(addresses(600, "example.org"), { state: "stopped" });
    await site.idle();
    expect(relay.mails).toEqual([]);
    expect(countsOf(site)).toEqual({ pending: 3, cancelled: 600 });
    expect(site.mailings()[1]).toMatchObject({ cancelled: 600, state: "stopped" });
    await setMailingState(site.app.ctx, held, "sending");
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 3, cancelled: 600 });
  });

  test("stopping a mailing cancels within a second what has not been begun", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay);
    const id = await site.mailing(addresses(100));
    await relay.until(3);
    await setMailingState(site.app.ctx, id, "stopped");
    await site.app.clock.advance(SECOND_MS);
    relay.acceptAll();
    await site.idle();
    expect(countsOf(site)).toEqual({ sent: 3, cancelled: 97 });
    expect(site.mailings()).toMatchObject([{ written: 100, sent: 3, cancelled: 97 }]);
  });

  test("a superseded mail is not sent, unless the relay has it already", async () => {
    await using relay = await startHeldRelay();
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "2" });
    const { ctx } = site.app;
    const first = await site.mailing(addresses(2), { subjectId: "inc_1" });
    await relay.until(1);
    const by = await site.mailing(addresses(2), { subjectId: "inc_1" });
    const newer = site.mails().slice(2);
    const superseded = await ctx.db.write((tx) =>
      supersedeMailing(ctx, tx, first, { by, seqs: [1, 2] }),
    );
    expect(superseded).toBe(2);
    relay.acceptAll();
    await site.idle();
    const [sent, replaced, ...later] = site.mails();
    expect(sent).toMatchObject({ status: "sent", supersededBy: newer[0]?.id });
    expect(replaced).toMatchObject({ status: "superseded", supersededBy: newer[1]?.id });
    expect(later.map(({ status }) => status)).toEqual(["sent", "sent"]);
    expect(site.mailings().find(({ id }) => id === first)).toMatchObject({
      sent: 1,
      superseded: 1,
      state: "done",
    });
  });

  test("a mail that is cancelled while it is under way stays cancelled if the relay refuses it", async () => {
    await using relay = await startMailboxes({ RCPT: "450 4.2.0 Later" });
    await using site = await createMailSite(relay);
    const { ctx } = site.app;
    const { write } = ctx.db;
    await site.mailing(addresses(1));
    const recorded = Promise.withResolvers<void>();
    // Holds the result back until the mail is cancelled.
    ctx.db.write = (change) => recorded.promise.then(() => write(change));
    while (relay.commands.at(-1) !== "RSET") await settle();
    const id = site.subscribers()[0]?.id ?? "";
    await write((tx) => cancelMailsOfSubscriber(ctx, tx, id));
    ctx.db.write = write;
    recorded.resolve();
    await site.pass(10 * MINUTE_MS, MINUTE_MS);
    expect(site.mails()).toMatchObject([{ status: "cancelled", nextTryAt: null, tries: 1 }]);
    expect(site.mailings()).toMatchObject([{ written: 1, cancelled: 1, failed: 0 }]);
  });

  test("mails of a subscriber who leaves are cancelled", async () => {
    await using relay = await startMailboxes({ RCPT: "450 4.2.0 Later" });
    await using site = await createMailSite(relay);
    await site.mailing(addresses(2));
    await site.idle();
    const { ctx } = site.app;
    const [subscriber] = site.subscribers();
    const id = subscriber?.id ?? "";
    expect(await ctx.db.write((tx) => cancelMailsOfSubscriber(ctx, tx, id))).toBe(1);
    delete relay.answers["RCPT"];
    await site.pass(2 * MINUTE_MS);
    expect(site.statuses()).toEqual({
      "user0@example.com": "cancelled",
      "user1@example.com": "sent",
    });
  });

  test("a suppression of one page stops the mailings of that page alone, and a blocked address gets no alert", async () => {
    await using relay = await startRelay();
    await using site = await createMailSite(relay);
    await site.mailing(addresses(2));
    await site.idle();
    const { ctx } = site.app;
    const [first, second] = site.subscribers();
    await ctx.db.write((tx) => {
      const { pageId = "", addressHmac = "" } = first ?? {};
      suppress(ctx, tx, { addressHmac, reason: "unsubscribed", pageId });
      suppress(ctx, tx, { addressHmac: second?.addressHmac ?? "", reason: "blocked" });
    });
    await site.mailing(addresses(2));
    await site.queue(...addresses(2).map((to) => ({ to, class: 2 as const })));
    await site.queue(...addresses(2).map((to) => ({ to })));
    await site.idle();
    expect(
      site
        .mails()
        .slice(2)
        .map(({ status }) => status),
    ).toEqual(["cancelled", "cancelled", "sent", "cancelled", "sent", "sent"]);
  });
});

describe("too many failures", () => {
  test("mailings are held after 21 failures among 100 mails, and go on when an admin releases them", async () => {
    await using relay = await startMailboxes({ RCPT: "550 5.1.1 No such user" });
    await using site = await createMailSite(relay, { ALLCLEAR_SMTP_CONNECTIONS: "1" });
    const { ctx } = site.app;
    await site.mailing(addresses(200));
    await site.idle();
    const { bounced = 0, pending = 0 } = countsOf(site);
    expect(bounced).toBeGreaterThanOrEqual(21);
    // Results are recorded in groups.
    expect(bounced).toBeLessThan(21 + 64 + 1);
    expect(pending).toBe(200 - bounced);
    const hold = findMailHold(ctx.db);
    expect(hold).toBeDefined();
    if (!hold) return;
    expect(suppressionsOfHold(ctx.db, hold, ctx.clock.now())).toHaveLength(bounced);

    delete relay.answers["RCPT"];
    await site.mailing(["late@example.org"]);
    await site.queue({ to: "ada@example.org" }, { to: "team@example.org", class: 2 });
    await site.restart();
    await site.pass(2 * MINUTE_MS, MINUTE_MS);
    expect(relay.accepted.toSorted()).toEqual(["ada@example.org", "team@example.org"]);

    await ctx.db.write((tx) => releaseAllMailings(ctx, tx, CLI_ACTOR));
    await site.idle();
    expect(countsOf(site)).toEqual({ bounced, sent: 3 + pending });
    expect(findMailHold(ctx.db)).toBeUndefined();
    expect(site.app.audit().at(-1)).toMatchObject({ action: "mailing.release" });
  });
});

describe("a mail that is planned for later", () => {
  test("goes at its time, after others that were queued later, also after a restart", async () => {
    await using relay = await startMailboxes();
    await using site = await createMailSite(relay);
    const { clock } = site.app;
    const planned = { dueAt: clock.now() + HOUR_MS, expiresAt: clock.now() + DAY_MS };
    await site.queue({ to: "later@example.com", ...planned }, { to: "now@example.com" });
    await site.idle();
    const waiting = { "later@example.com": "pending", "now@example.com": "sent" };
    expect(site.statuses()).toEqual(waiting);
    await site.restart();
    await site.pass(HOUR_MS - 1);
    expect(site.statuses()).toEqual(waiting);
    await site.pass(1);
    expect(site.statuses()["later@example.com"]).toBe("sent");
  });
});

describe("the clock of the machine", () => {
  test("a clock set back by a day does not delay new mails or prolong waits", async () => {
    await using relay = await startMailboxes({ "ada@example.com": "450 4.2.0 Later" });
    await using site = await createMailSite(relay);
    const { clock } = site.app;
    await site.queue({ to: "ada@example.com", expiresAt: clock.now() + 30 * DAY_MS });
    await site.idle();
    clock.setWallClock(clock.now() - DAY_MS);
    delete relay.answers["ada@example.com"];
    await site.restart();
    await site.queue({ to: "bob@example.com" });
    await site.pass(2 * MINUTE_MS);
    expect(countsOf(site)).toEqual({ sent: 2 });
  });
});

test("a queue that cannot be read for some time does not end the process", async () => {
  await using relay = await startMailboxes();
  await using site = await createMailSite(relay);
  const { ctx, clock, logged } = site.app;
  const { statements } = ctx.db;
  let isReadable = false;
  Object.defineProperty(ctx.db, "statements", {
    get() {
      if (!isReadable) throw new Error("disk I/O error");
      return statements;
    },
  });
  await clock.advance(2 * MINUTE_MS);
  expect(logged.some(({ msg }) => msg === "the queue of mails cannot be read")).toBe(true);
  isReadable = true;
  await site.queue({ to: "ada@example.com" });
  await site.pass(MINUTE_MS);
  expect(countsOf(site)).toEqual({ sent: 1 });
});

test("waking a sender without mails does nothing", async () => {
  await using relay = await startMailboxes();
  await using site = await createMailSite(relay);
  const { ctx } = site.app;
  await ctx.db.write((tx) => wakeSender(ctx, tx));
  await site.idle();
  expect(relay.connections()).toBe(0);
});
