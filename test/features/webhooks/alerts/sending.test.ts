import { describe, expect, test } from "bun:test";
import { NEWEST } from "../../../../src/base/ids";
import { CLI_ACTOR } from "../../../../src/base/actor";
import {
  listDeliveries,
  redeliver,
  redeliverFailed,
} from "../../../../src/features/webhooks/deliveries";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { type AlertSite, createAlertSite } from "../../../support/alert-site";
import { settle } from "../../../support/clock";
import { monitorEvent } from "../../../support/gathering-site";
import { startRelay } from "../../../support/relay";
import { startMailboxes } from "../../../support/scripted-mailboxes";

const ONCALL = "oncall@example.com";

/** Returns a site with a user of that address, and a webhook for it. */
async function createOncall(relay: { port: number }) {
  const site = await createAlertSite(relay);
  await site.user(ONCALL);
  const webhook = await site.webhook(ONCALL, { events: ["incident.created", "incident.resolved"] });
  return { site, webhook };
}

/** Records that monitors go down, in one transaction. */
const recordDown = ({ app: { clock, ctx } }: AlertSite, ...names: string[]) =>
  ctx.db.write((tx) => {
    for (const name of names) ctx.outbox.record(tx, monitorEvent("down", name, clock.now()));
  });

/** Advances the clock in steps while deliveries wait for a mail, so that the deliverer is never idle. */
async function passWaiting({ app: { clock }, sender }: AlertSite, ms: number) {
  for (const until = clock.now() + ms; clock.now() < until;) {
    await clock.advance(10 * SECOND_MS);
    for (let turn = 0; turn < 3; turn++) {
      await settle();
      await sender.whenIdle();
    }
  }
}

describe("alerts by mail", () => {
  test("an event arrives as a mail, and its delivery has the relay's reply", async () => {
    await using relay = await startRelay();
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    const [mail, ...others] = relay.mails;
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ from: "status@example.com", to: [ONCALL] });
    expect(mail?.text).toContain("Subject: [Acme] Errors\r\n");
    const [delivery] = await site.deliveries(webhook.id);
    expect(delivery).toMatchObject({
      event_type: "incident.created",
      status: "delivered",
      tries: 1,
      last_try: { status_code: 250, error: null, answer: expect.stringContaining("queued as") },
    });
    expect(site.mails()).toMatchObject([
      { id: delivery.id.replace("dlv_", "eml_"), class: 2, status: "sent", template: "alert" },
    ]);
    expect((await site.read(webhook.id)).success_rate_24h).toBe(1);
  });

  test("the mails of one incident are a thread", async () => {
    await using relay = await startRelay();
    const { site } = await createOncall(relay);
    await using _ = site;
    const id = await site.open();
    const json = { status: "resolved", body: "Over." };
    await site.call(`incidents/${id}/updates`, { method: "POST", json });
    const [first = "", second = ""] = relay.mails.map(({ text }) => text);
    expect(first).toContain(`References: <${id}@example.com>\r\n`);
    expect(first).not.toContain("In-Reply-To");
    expect(second).toContain("Subject: Re: [Acme] Errors\r\n");
    expect(second).toContain(`In-Reply-To: <${id}@example.com>\r\n`);
    expect(second).toContain(`References: <${id}@example.com>\r\n`);
    for (const text of [first, second]) expect(text).not.toMatch(/^(List-|Precedence)/m);
  });

  test("a refusal for now is retried by the delays of webhooks, with the same Message-ID", async () => {
    await using relay = await startMailboxes({ [ONCALL]: "450 4.2.0 Try later" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    const [waiting] = await site.deliveries(webhook.id);
    expect(waiting).toMatchObject({
      status: "pending",
      tries: 1,
      last_try: { status_code: 450, error: "450 4.2.0 Try later" },
    });
    delete relay.answers[ONCALL];
    await site.pass(7 * SECOND_MS, SECOND_MS);
    const [delivery] = await site.deliveries(webhook.id);
    expect(delivery).toMatchObject({ status: "delivered", tries: 2 });
    expect(site.mails()).toHaveLength(1);
    expect(site.mails()[0]).toMatchObject({ status: "sent", tries: 2 });
    expect(relay.accepted).toEqual([ONCALL]);
  });

  test("an unavailable relay charges no try, and the alert arrives afterwards", async () => {
    await using relay = await startMailboxes({ "": "421 4.3.2 Not now" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    await site.pass(HOUR_MS, 10 * MINUTE_MS);
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "pending", tries: 0 }]);
    delete relay.answers[""];
    await site.pass(6 * MINUTE_MS, MINUTE_MS);
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "delivered", tries: 1 }]);
    expect(relay.accepted).toEqual([ONCALL]);
  });

  test("an alert that waits for the relay goes to the new address of its webhook", async () => {
    await using relay = await startMailboxes({ "": "421 4.3.2 Not now" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.user("night@example.com");
    await site.open();
    const json = { url: "mailto:night@example.com" };
    await site.call(`webhooks/${webhook.id}`, { method: "PATCH", json });
    delete relay.answers[""];
    await site.pass(6 * MINUTE_MS, MINUTE_MS);
    expect(relay.accepted).toEqual(["night@example.com"]);
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "delivered", tries: 1 }]);
  });

  test("an alert that cannot be sent for a day is given up", async () => {
    await using relay = await startMailboxes({ "": "421 4.3.2 Not now" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    await site.pass(25 * HOUR_MS, 30 * MINUTE_MS);
    expect(await site.deliveries(webhook.id)).toMatchObject([
      { status: "failed", last_try: { error: "The mail could not be sent within 24 hours." } },
    ]);
    expect((await site.read(webhook.id)).enabled).toBe(true);
  });

  test("an address that does not exist disables its webhook with the reason, without the address", async () => {
    await using relay = await startMailboxes({ [ONCALL]: `550 5.1.1 <${ONCALL}> is unknown` });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    expect(await site.read(webhook.id)).toMatchObject({
      enabled: false,
      disabled_reason: "The relay refused the address: 550 5.1.1 <…> is unknown",
    });
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "failed", tries: 1 }]);
    expect(site.suppressions()).toMatchObject([{ reason: "bounced" }]);
    const audit = site.app.audit().filter(({ action }) => action.startsWith("webhook."));
    expect(JSON.stringify(audit)).not.toContain(ONCALL);

    delete relay.answers[ONCALL];
    await site.call(`webhooks/${webhook.id}`, { method: "PATCH", json: { enabled: true } });
    await site.open({ name: "More errors" });
    expect(await site.read(webhook.id)).toMatchObject({
      enabled: false,
      disabled_reason: "Mail to the address is suppressed (bounced).",
    });
    expect(relay.accepted).toEqual([]);
  });

  test("a permanent refusal that is not about the address fails the delivery alone", async () => {
    await using relay = await startMailboxes({ ".": "554 5.7.1 Looks like spam" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    await site.pass(HOUR_MS, 10 * MINUTE_MS);
    expect(await site.deliveries(webhook.id)).toMatchObject([
      { status: "failed", tries: 1, last_try: { status_code: 554 } },
    ]);
    expect((await site.read(webhook.id)).enabled).toBe(true);
  });

  test("a refusal without an enhanced code disables the webhook only after a day of failures", async () => {
    await using relay = await startMailboxes({ [ONCALL]: "550 No" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    expect((await site.read(webhook.id)).enabled).toBe(true);
    await site.pass(25 * HOUR_MS, HOUR_MS);
    await site.open({ name: "More errors" });
    expect(await site.read(webhook.id)).toMatchObject({
      enabled: false,
      disabled_reason: "The relay refused the address: 550 No",
    });
  });

  test("a redelivery is another mail, since receivers drop repeats", async () => {
    await using relay = await startRelay();
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    const [delivery] = await site.deliveries(webhook.id);
    const path = `webhooks/${webhook.id}/deliveries/${delivery.id}/redeliver`;
    await site.call(path, { method: "POST" });
    const ids = relay.mails.map(({ text }) => /^Message-ID: (.*)\r$/m.exec(text)?.[1]);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^<eml_[0-9a-z]{26}@example\.com>$/);
  });

  test("after a restart a waiting alert is sent once", async () => {
    await using relay = await startMailboxes({ "": "421 4.3.2 Not now" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    await site.restart();
    delete relay.answers[""];
    await site.pass(6 * MINUTE_MS, MINUTE_MS);
    await site.restart();
    await site.pass(6 * MINUTE_MS, MINUTE_MS);
    expect(relay.accepted).toEqual([ONCALL]);
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "delivered", tries: 1 }]);
  });

  test("a result that a crash kept from the delivery is found again, and nothing is sent twice", async () => {
    await using relay = await startMailboxes({ "": "421 4.3.2 Not now" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    await site.deliverer.stop(0);
    delete relay.answers[""];
    await site.app.clock.advance(6 * MINUTE_MS);
    await site.sender.whenIdle();
    expect(site.mails()).toMatchObject([{ status: "sent" }]);
    const all = { webhookId: webhook.id, status: null, before: NEWEST, limit: 9 };
    expect(listDeliveries(site.app.ctx.db, all)).toMatchObject([
      { row: { status: "pending", tries: 0 } },
    ]);
    await site.restart();
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "delivered", tries: 1 }]);
    expect(relay.accepted).toEqual([ONCALL]);
  });

  test.each(["complained", "blocked", "soft"] as const)(
    "an address that is suppressed as %s gets no alert, and its webhook is disabled",
    async (reason) => {
      await using relay = await startMailboxes();
      const { site, webhook } = await createOncall(relay);
      await using _ = site;
      await site.suppress(ONCALL, reason);
      await site.open();
      expect(relay.accepted).toEqual([]);
      expect((await site.read(webhook.id)).disabled_reason).toBe(
        `Mail to the address is suppressed (${reason}).`,
      );
    },
  );

  test.each(["declined", "erased"] as const)(
    "an address that is marked as %s still gets the alerts that it confirmed",
    async (reason) => {
      await using relay = await startMailboxes();
      const { site } = await createOncall(relay);
      await using _ = site;
      await site.suppress(ONCALL, reason);
      await site.open();
      expect(relay.accepted).toEqual([ONCALL]);
    },
  );

  test("the dashboard shows the mail of a delivery and the relay's reply", async () => {
    await using relay = await startMailboxes({ [ONCALL]: "450 4.2.0 Try later" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    const [delivery] = await site.deliveries(webhook.id);
    const session = await site.app.signedIn("admin");
    const home = `/admin/settings/webhooks/${webhook.id}`;
    const { text } = await site.app.call(`${home}/deliveries/${delivery.id}`, { session });
    expect(text).toContain("Subject: [Acme] Errors");
    expect(text).not.toContain("webhook-signature");
    expect(text).toContain("450 4.2.0 Try later");
    const detail = await site.app.call(home, { session });
    expect(detail.text).toContain("The mail relay answered: 450 4.2.0 Try later.");
  });

  test("the mails of one monitor arrive in the order of their events", async () => {
    await using relay = await startRelay();
    const { site } = await createOncall(relay);
    await using _ = site;
    await site.webhook(ONCALL, { events: ["monitor.down", "monitor.up"], group_seconds: 0 });
    const about = (type: "monitor.down" | "monitor.up") => ({
      type,
      pageId: null,
      subjectId: "mon_1",
      data: { name: "Checkout", components: [] },
    });
    await site.app.ctx.db.write((tx) => {
      for (const type of ["monitor.down", "monitor.up", "monitor.down"] as const) {
        site.app.ctx.outbox.record(tx, about(type));
      }
    });
    await site.idle();
    const texts = relay.mails.map(({ text }) => /^Monitor (?:down|up)/m.exec(text)?.[0]);
    expect(texts).toEqual(["Monitor down", "Monitor up", "Monitor down"]);
  });

  test("gathered events of monitors are one mail, which a refusal for now repeats", async () => {
    let isRefusing = false;
    await using relay = await startRelay({
      onRcptTo(_address, _session, done) {
        const later = Object.assign(new Error("4.2.0 Try later"), { responseCode: 450 });
        done(isRefusing ? later : null);
      },
    });
    const { site } = await createOncall(relay);
    await using _ = site;
    const webhook = await site.webhook(ONCALL, { events: ["monitor.down", "monitor.up"] });
    const record = (names: string[]) =>
      site.app.ctx.db.write((tx) => {
        for (const name of names) {
          site.app.ctx.outbox.record(tx, monitorEvent("down", name, site.app.clock.now()));
        }
      });
    await record(["a", "b", "c"]);
    await site.idle();
    await record(["d"]);
    isRefusing = true;
    await site.pass(31 * SECOND_MS, SECOND_MS);
    await record(["e"]);
    isRefusing = false;
    await site.pass(10 * MINUTE_MS, SECOND_MS);
    const subjects = relay.mails.map(({ text }) => /^Subject: (.*)$/m.exec(text)?.[1]?.trim());
    expect(subjects).toEqual([
      "[status.example.com] a",
      "[status.example.com] 3 monitors are down",
      "[status.example.com] e",
    ]);
    const group = relay.mails[1]?.text ?? "";
    expect(group).not.toContain("In-Reply-To");
    const deliveries = await site.deliveries(webhook.id);
    expect(new Set(deliveries.slice(1, 4).map(({ group_id }) => group_id)).size).toBe(1);
    expect(deliveries.map(({ status }) => status)).toEqual(Array(5).fill("delivered"));
    expect(deliveries[1]?.group_id).toStartWith("dgr_");
  });

  test("the mail of a group goes without a delivery that a person sends by itself meanwhile", async () => {
    const subjects: string[] = [];
    await using relay = await startMailboxes({}, [], (line, { subject }) => {
      if (line === ".") subjects.push(subject);
      return undefined;
    });
    const { site } = await createOncall(relay);
    await using _ = site;
    const webhook = await site.webhook(ONCALL, { events: ["monitor.down"] });
    await recordDown(site, "a");
    await site.idle();
    await recordDown(site, "b", "c", "d");
    relay.answers[""] = "421 4.3.2 Not now";
    await site.pass(31 * SECOND_MS, SECOND_MS);
    const [, second] = (await site.deliveries(webhook.id)).toReversed();
    expect(second).toMatchObject({ status: "pending", sent_with: 2 });
    const { ctx } = site.app;
    await ctx.db.write((tx) => redeliver(ctx, tx, webhook.id, second.id, CLI_ACTOR));
    delete relay.answers[""];
    await passWaiting(site, 20 * MINUTE_MS);
    expect(subjects.toSorted()).toEqual([
      "Subject: [status.example.com] 2 monitors are down",
      "Subject: [status.example.com] a",
      "Subject: [status.example.com] b",
    ]);
    const deliveries = await site.deliveries(webhook.id);
    expect(deliveries.map(({ status }) => status)).toEqual(Array(4).fill("delivered"));
  });

  test("a mail at which the relay breaks off holds back the next outage for two minutes, and is not sent after its end", async () => {
    const subjects: string[] = [];
    let isStuck = true;
    await using relay = await startMailboxes({}, [], (line, { subject }) => {
      if (line !== ".") return undefined;
      if (isStuck && subject === "Subject: [status.example.com] a") return null;
      subjects.push(subject);
      return undefined;
    });
    const { site } = await createOncall(relay);
    await using _ = site;
    const webhook = await site.webhook(ONCALL, { events: ["monitor.down", "monitor.up"] });
    await recordDown(site, "a");
    await passWaiting(site, MINUTE_MS);
    expect(subjects).toEqual([]);
    await recordDown(site, "b");
    await passWaiting(site, 2 * MINUTE_MS);
    expect(subjects).toEqual(["Subject: [status.example.com] b"]);
    const { clock, ctx } = site.app;
    await ctx.db.write((tx) => ctx.outbox.record(tx, monitorEvent("up", "a", clock.now())));
    await passWaiting(site, MINUTE_MS);
    isStuck = false;
    await passWaiting(site, 10 * MINUTE_MS);
    expect(subjects.slice(1)).toEqual(["Subject: Re: [status.example.com] a"]);
    const statuses = (await site.deliveries(webhook.id)).map(({ status }) => status);
    expect(statuses).toEqual(["delivered", "delivered", "superseded"]);
  });

  test("messages about monitors arrive in order after the relay was unavailable for long", async () => {
    const subjects: string[] = [];
    await using relay = await startMailboxes({ "": "421 4.3.2 Not now" }, [], (line, session) => {
      if (line === ".") subjects.push(session.subject);
      return undefined;
    });
    const { site } = await createOncall(relay);
    await using _ = site;
    await site.webhook(ONCALL, { events: ["monitor.down"] });
    for (const name of ["a", "b", "c", "d", "e"]) {
      await recordDown(site, name);
      await passWaiting(site, 10 * MINUTE_MS);
    }
    delete relay.answers[""];
    await passWaiting(site, 10 * MINUTE_MS);
    const names = ["a", "b", "c", "d", "e"];
    expect(subjects).toEqual(names.map((name) => `Subject: [status.example.com] ${name}`));
  });

  test("a webhook that is disabled sends nothing more", async () => {
    await using relay = await startMailboxes({ "": "421 4.3.2 Not now" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    await site.call(`webhooks/${webhook.id}`, { method: "PATCH", json: { enabled: false } });
    delete relay.answers[""];
    await site.pass(10 * MINUTE_MS, MINUTE_MS);
    expect(relay.accepted).toEqual([]);
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "cancelled" }]);
    expect(site.mails()).toMatchObject([{ status: "cancelled" }]);
  });

  test("a delivery that was cancelled before its mail began is sent when it is redelivered", async () => {
    await using relay = await startMailboxes({ "": "421 4.3.2 Not now" });
    const { site, webhook } = await createOncall(relay);
    await using _ = site;
    await site.open();
    const enable = (enabled: boolean) =>
      site.call(`webhooks/${webhook.id}`, { method: "PATCH", json: { enabled } });
    const cancel = async () => {
      await enable(false);
      await site.pass(10 * MINUTE_MS, MINUTE_MS);
      expect(site.mails()).toMatchObject([{ status: "cancelled" }]);
      await enable(true);
    };
    await cancel();
    const [{ id }] = await site.deliveries(webhook.id);
    await site.call(`webhooks/${webhook.id}/deliveries/${id}/redeliver`, { method: "POST" });
    await cancel();
    delete relay.answers[""];
    const { ctx, clock } = site.app;
    const failed = { webhookId: webhook.id, since: clock.now() - HOUR_MS };
    await ctx.db.write((tx) => redeliverFailed(ctx, tx, failed, CLI_ACTOR));
    await site.pass(10 * MINUTE_MS, MINUTE_MS);
    expect(relay.accepted).toEqual([ONCALL]);
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "delivered", tries: 1 }]);
  });
});
