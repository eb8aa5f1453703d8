import { describe, expect, test } from "bun:test";
import { selectMany } from "../../../../src/db/statements";
import { webhooks } from "../../../../src/db/tables/webhooks";
import { undoPath } from "../../../../src/features/mail/screens/reports";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { hasStoppedAlerts } from "../../../../src/features/mail/alert-stop-store";
import { isSuppressed } from "../../../../src/features/mail/suppressions";
import { findPageBySlug } from "../../../../src/features/pages/store";
import { suppressionsOfSubscriber } from "../../../../src/features/subscribers/subscribers";
import { findQuestion } from "../../../../src/features/webhooks/alerts/confirmation";
import { listAllWebhooks } from "../../../../src/features/webhooks/store";
import { requestConfirmation } from "../../../../src/features/webhooks/webhooks";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { type AlertSite, createAlertSite } from "../../../support/alert-site";
import { readHtml } from "../../../support/html";
import { storeSubscriber } from "../../../support/mailed-subscriber";
import { type TestRelay, startRelay } from "../../../support/relay";

const listUrls = selectMany((orm, _$: Record<string, never>) =>
  orm.select({ url: webhooks.url }).from(webhooks),
);

const ONCALL = "oncall@example.com";
const PATH = /https:\/\/status\.example\.com(\/mail\/alerts\/\S+)/;

/** Returns the path of the link in the newest mail to an address. */
function linkIn(relay: TestRelay): string {
  const text = relay.mails.at(-1)?.text.replaceAll("=\r\n", "").replaceAll("=3D", "=") ?? "";
  return PATH.exec(text)?.[1] ?? "";
}

const press = (site: AlertSite, path: string, action: string) =>
  site.app.call(path, { method: "POST", form: { action } });

describe("addresses of webhooks for e-mail", () => {
  test("a stranger's address gets nothing but a question until its owner presses the button", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const webhook = await site.webhook(ONCALL);
    expect(webhook).toMatchObject({ url: `mailto:${ONCALL}`, confirmed_at: null, secret: null });
    expect(relay.mails.map(({ to, text }) => [to, /^Subject: (.*)\r$/m.exec(text)?.[1]])).toEqual([
      [[ONCALL], "Confirm alerts from status.example.com"],
    ]);
    await site.open();
    expect(relay.mails).toHaveLength(1);
    expect(await site.deliveries(webhook.id)).toEqual([]);
    const refused = await site.call(`webhooks/${webhook.id}/test`, { method: "POST" });
    expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });

    const link = linkIn(relay);
    for (const method of ["GET", "HEAD"]) await site.app.call(link, { method });
    const page = await site.app.call(link);
    expect(page.text).toContain("o…@example.com");
    expect(page.text).not.toContain(ONCALL);
    expect(await site.read(webhook.id)).toMatchObject({ confirmed_at: null });

    expect((await press(site, link, "confirm")).status).toBe(200);
    expect((await site.read(webhook.id)).confirmed_at).toBeString();
    await site.open({ name: "More errors" });
    expect(relay.mails).toHaveLength(2);
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "delivered" }]);
    const again = await press(site, link, "confirm");
    expect(again.status).toBe(200);
    const audit = site.app.audit().filter(({ action }) => action.startsWith("webhook."));
    expect(JSON.stringify(audit)).not.toContain(ONCALL);
    expect(audit.at(-1)?.summary).toContain("confirmed");
  });

  test("another webhook for a confirmed address needs no question", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    await site.webhook(ONCALL);
    await press(site, linkIn(relay), "confirm");
    expect((await site.webhook("OnCall@EXAMPLE.com")).confirmed_at).toBeString();
    expect(relay.mails).toHaveLength(1);
  });

  test("an address that declines gets neither alerts nor another question", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const webhook = await site.webhook(ONCALL);
    const link = linkIn(relay);
    await press(site, link, "confirm");
    expect((await press(site, link, "decline")).status).toBe(200);
    expect(await site.read(webhook.id)).toMatchObject({ confirmed_at: null });
    await site.open();
    await site.pass(DAY_MS, HOUR_MS);
    await site.webhook(ONCALL);
    expect(relay.mails).toHaveLength(1);
    expect(site.suppressions()).toMatchObject([{ reason: "unsubscribed", pageId: "alerts" }]);
    const audit = site.app.audit().filter(({ summary }) => summary.includes("declined"));
    expect(audit).toMatchObject([{ action: "webhook.update", targetId: webhook.id }]);
    expect(JSON.stringify(audit)).not.toContain(ONCALL);
  });

  test("an address that stops alerts keeps its subscriptions to pages", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const { ctx } = site.app;
    await site.webhook(ONCALL);
    const link = linkIn(relay);
    await press(site, link, "confirm");
    const pageId = findPageBySlug(ctx.db, { slug: "acme" })?.id ?? "";
    const subscriber = await ctx.db.write((tx) =>
      storeSubscriber(ctx, tx, { pageId, address: ONCALL }),
    );
    await press(site, link, "decline");
    expect(suppressionsOfSubscriber(ctx.db, subscriber, site.app.clock.now())).toEqual([]);
    const mail = { class: 3, recipient: ONCALL, subscriberId: subscriber.id, pageId } as const;
    expect(isSuppressed(ctx.db, mail)).toBe(false);
    // Warnings to users, such as about their keys, are no alerts.
    expect(isSuppressed(ctx.db, { ...mail, class: 2, subscriberId: null })).toBe(false);
  });

  test("a person who stopped alerts gets them again after pressing the other button of the link", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const webhook = await site.webhook(ONCALL);
    const link = linkIn(relay);
    await press(site, link, "decline");
    expect((await site.app.call(link)).text).toContain("Send me alerts");
    await press(site, link, "confirm");
    expect(site.suppressions()).toEqual([]);
    expect((await site.app.call(link)).text).toContain("Stop alerts");
    await site.open();
    expect(await site.deliveries(webhook.id)).toMatchObject([{ status: "delivered" }]);
  });

  test("a user who stopped alerts gets none until an owner ends that with the user's words", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const { ctx } = site.app;
    const webhook = await site.webhook(ONCALL, { events: ["incident.created"] });
    const link = linkIn(relay);
    await site.user(ONCALL);
    await press(site, link, "decline");
    expect(await site.read(webhook.id)).toMatchObject({ confirmed_at: null });
    await site.open();
    expect(relay.mails).toHaveLength(1);
    const [{ addressHmac } = { addressHmac: "" }] = site.suppressions();
    const session = await site.app.signedIn("owner");
    const path = undoPath({ reason: "unsubscribed", addressHmac });
    expect((await site.app.call(path, { session })).text).toContain("The person stopped alerts");
    const end = async (request: string) => {
      const { text } = await site.app.call(path, { session });
      const [form = ""] = readHtml(text).attributes('input[name="form"]', "value");
      return (await site.app.call(path, { session, form: { form, request } })).status;
    };
    expect(await end(" ")).toBe(422);
    expect(hasStoppedAlerts(ctx.db, addressHmac)).toBe(true);
    expect(await end("Ada asked for alerts again.")).toBe(303);
    const { summary } = site.app.audit().at(-1) ?? {};
    expect(summary).toBe(
      "Ended the suppression of o…@example.com (stopped alerts): “Ada asked for alerts again.”",
    );
    await site.open({ name: "More errors" });
    expect(relay.mails).toHaveLength(2);
  });

  test("a user's address gets alerts at once, and none while the user is disabled", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    await site.user("first@example.com");
    const id = await site.user(ONCALL);
    const webhook = await site.webhook(ONCALL, { events: ["incident.created"] });
    expect(webhook.confirmed_at).toBe(webhook.created_at);
    await site.open();
    expect(relay.mails).toHaveLength(1);
    await site.disableUser(id);
    await site.open({ name: "More errors" });
    expect(relay.mails).toHaveLength(1);
    expect(await site.read(webhook.id)).toMatchObject({ confirmed_at: null });
  });

  test("another address needs a confirmation of its own", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const webhook = await site.webhook(ONCALL);
    await press(site, linkIn(relay), "confirm");
    const json = { url: "mailto:other@example.com" };
    const { body } = await site.call(`webhooks/${webhook.id}`, { method: "PATCH", json });
    expect(body.confirmed_at).toBeNull();
    expect(relay.mails.at(-1)?.to).toEqual(["other@example.com"]);
  });

  test("a deleted webhook keeps no address", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const webhook = await site.webhook(ONCALL);
    await press(site, linkIn(relay), "confirm");
    await site.call(`webhooks/${webhook.id}`, { method: "DELETE" });
    expect(listUrls(site.app.ctx.db, {})).toEqual([{ url: "mailto:o…@example.com" }]);
    await site.pass(11 * MINUTE_MS);
    expect((await site.webhook(ONCALL)).confirmed_at).toBeNull();
  });

  test("links end after 7 days, and with their webhook; wrong ones and other actions change nothing", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const webhook = await site.webhook(ONCALL);
    const link = linkIn(relay);
    const wrong = link.slice(0, -2) + (link.endsWith("AA") ? "BB" : "AA");
    expect((await press(site, wrong, "confirm")).status).toBe(404);
    expect((await press(site, link, "erase")).status).toBe(422);
    await site.pass(7 * DAY_MS, 6 * HOUR_MS);
    expect((await press(site, link, "confirm")).status).toBe(404);
    expect(await site.read(webhook.id)).toMatchObject({ confirmed_at: null });

    const other = await site.webhook("other@example.com");
    await site.call(`webhooks/${other.id}`, { method: "DELETE" });
    expect((await site.app.call(linkIn(relay))).status).toBe(404);
  });

  test("one address gets a question at most every 10 minutes and three a day", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    await site.webhook(ONCALL);
    await site.webhook("on.call+2@example.com");
    expect(relay.mails).toHaveLength(1);
    for (let nth = 0; nth < 5; nth++) {
      await site.pass(11 * MINUTE_MS);
      await site.webhook(ONCALL);
    }
    expect(relay.mails).toHaveLength(3);
  });

  test("all addresses get 20 questions an hour; further ones are sent later, but not for deleted webhooks", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const made = [];
    for (let nth = 0; nth < 23; nth++) made.push(await site.webhook(`p${nth}@example.com`));
    expect(relay.mails).toHaveLength(20);
    await site.call(`webhooks/${made[20].id}`, { method: "DELETE" });
    const json = { url: "mailto:elsewhere@example.com" };
    await site.call(`webhooks/${made[21].id}`, { method: "PATCH", json });
    await site.pass(HOUR_MS - 1);
    expect(relay.mails).toHaveLength(20);
    await site.pass(1);
    expect(relay.mails.slice(20).map(({ to }) => to[0])).toEqual([
      "p22@example.com",
      "elsewhere@example.com",
    ]);
    const link = linkIn(relay);
    await site.pass(6 * DAY_MS, DAY_MS);
    expect((await press(site, link, "confirm")).status).toBe(200);
    expect((await site.read(made[21].id)).confirmed_at).toBeString();
  });

  test("addresses beyond 100 a day wait for a day at most, or for a press of the button", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    for (let nth = 0; nth < 121; nth++) await site.webhook(`p${nth}@example.com`);
    const waits = site.mails().map(({ nextTryAt, finishedAt, createdAt }) => {
      return (nextTryAt ?? finishedAt ?? 0) - createdAt;
    });
    const hours = [0, 1, 2, 3, 4, 24].flatMap((hour) => Array(20).fill(hour * HOUR_MS));
    expect(waits).toEqual(hours);
    const { ctx } = site.app;
    const last = listAllWebhooks(ctx.db, {}).at(-1);
    expect(last && findQuestion(ctx.db, last)).toEqual({ state: "unasked" });
    expect(last && (await site.read(last.id)).confirmed_at).toBeNull();
    await site.pass(25 * HOUR_MS, HOUR_MS);
    expect(relay.mails).toHaveLength(120);
    const ask = () => ctx.db.write((tx) => requestConfirmation(ctx, tx, last?.id ?? "", CLI_ACTOR));
    expect(await ask()).toBe(site.app.clock.now());
    await site.idle();
    expect(relay.mails.at(-1)?.to).toEqual(["p120@example.com"]);
  }, 600_000);

  test.each([
    ["mailto:a@example.com,b@example.com", "#/url"],
    ["mailto:a@example.com?cc=b@example.com", "#/url"],
    ["mailto:a@example.com%0d%0aBcc:b@example.com", "#/url"],
    ["mailto:", "#/url"],
    ["mailto:a@localhost", "#/url"],
    ["https://example.com/", "#/url"],
    ["oncall@example.com", "#/url"],
  ])("the address %s is rejected", async (url, pointer) => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const json = { format: "email", url };
    const { status, body } = await site.call("webhooks", { method: "POST", json });
    expect(status).toBe(422);
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).toEqual([pointer]);
    expect(relay.mails).toEqual([]);
  });

  test("a mailto: URL of another format, a secret and a rotation are rejected", async () => {
    await using relay = await startRelay();
    await using site = await createAlertSite(relay);
    const post = (json: object) => site.call("webhooks", { method: "POST", json });
    const url = `mailto:${ONCALL}`;
    expect((await post({ url })).status).toBe(422);
    const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
    expect((await post({ url, format: "email", secret })).body.errors).toMatchObject([
      { pointer: "#/secret" },
    ]);
    const { id } = await site.webhook(ONCALL);
    const rotated = await site.call(`webhooks/${id}/rotate-secret`, { method: "POST" });
    expect(rotated.status).toBe(409);
  });

  test("without a relay a webhook for e-mail is rejected with what is missing", async () => {
    await using relay = await startRelay();
    const none = { ALLCLEAR_SMTP_HOST: undefined, ALLCLEAR_MAIL_FROM: undefined };
    const rest = { ALLCLEAR_SMTP_PORT: undefined, ALLCLEAR_SMTP_TLS: undefined };
    const env = { ...none, ...rest, ALLCLEAR_SMTP_RATE: undefined };
    await using site = await createAlertSite(relay, env);
    const json = { format: "email", url: `mailto:${ONCALL}` };
    const { status, body } = await site.call("webhooks", { method: "POST", json });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      { pointer: "#/url", detail: "needs mail, which needs an SMTP relay and a sender first" },
    ]);
  });
});
