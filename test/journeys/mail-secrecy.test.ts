import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { HOUR_MS, MINUTE_MS } from "../../src/base/time";
import { exportFile, writeApplyFile } from "../../src/features/apply/apply";
import { makeReportToken } from "../../src/features/mail/reports";
import { startSending } from "../../src/features/mail/sending/sender";
import { findMailKey, type LinkPurpose } from "../../src/features/mail/tokens";
import { createMailingTemplate } from "../../src/features/mailings/letters";
import { MAILING_TEMPLATE, startMailings } from "../../src/features/mailings/mailings";
import { mailFamilies, subscriberFamilies } from "../../src/features/metrics/families";
import { SIGN_UP_TEMPLATES } from "../../src/features/subscribers/mails";
import type { SubscriberRow } from "../../src/features/subscribers/store";
import { USER_TEMPLATES } from "../../src/features/users/letters";
import { startUserMails } from "../../src/features/users/mails";
import { ALERT_TEMPLATES } from "../../src/features/webhooks/alerts/templates";
import { startDelivering } from "../../src/features/webhooks/deliver/deliverer";
import type { Answer, CallOptions } from "../support/app";
import { createTestClock, settle } from "../support/clock";
import { openForm, USERS, userWithPassword } from "../support/dashboard";
import { createTestEgress } from "../support/egress";
import { importForm } from "../support/import-form";
import { bounceMessage, complaintMessage } from "../support/mail-reports";
import { startRelay } from "../support/relay";
import { scrape } from "../support/scrape";
import { createSubscribingSite } from "../support/subscribing";

/** Address of a visitor, which only the dashboard shows, and of somebody of the team. */
const person = (name: string) => `${name}.person@mailbox.example`;
const team = (name: string) => `${name}.team@mailbox.example`;
const PASSWORD = "a secret passphrase";

type World = Awaited<ReturnType<typeof createWorld>>;

/** Starts everything that mails, with a relay whose refusals quote their recipients. */
async function createWorld() {
  const refusals = new Map<string, string>();
  const relay = await startRelay({
    onRcptTo({ address }, _session, done) {
      const reply = refusals.get(address);
      if (reply === undefined) return done();
      const message = `${reply.slice(4)} <${address}> is not welcome`;
      done(Object.assign(new Error(message), { responseCode: Number(reply.slice(0, 3)) }));
    },
  });
  const clock = createTestClock();
  const env = {
    ALLCLEAR_SMTP_HOST: "relay.test",
    ALLCLEAR_SMTP_PORT: String(relay.port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_SMTP_RATE: "0",
    ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
    ALLCLEAR_MAIL_BOUNCE_ADDRESS: "bounces@example.com",
    ALLCLEAR_PUBLIC_RATE_LIMIT: "100000",
  };
  const site = await createSubscribingSite({}, { clock, env, logLevel: "debug" });
  const { app } = site;
  const { ctx } = app;
  const { egress } = await createTestEgress({ "relay.test": [["127.0.0.1"]] }, { clock, env });
  const throttle = { take: () => true, waitMs: () => 0 };
  const templates = {
    ...SIGN_UP_TEMPLATES,
    ...USER_TEMPLATES,
    ...ALERT_TEMPLATES,
    [MAILING_TEMPLATE]: createMailingTemplate(),
  };
  const sender = startSending(ctx, egress, { templates, throttle });
  const deliverer = startDelivering(ctx, egress, undefined, throttle);
  const mailings = startMailings(ctx);
  const userMails = startUserMails(ctx);
  app.app.metrics.add(
    ...mailFamilies(ctx.db, clock, () => sender.stats()),
    ...subscriberFamilies(ctx.db, site.worker),
  );
  const key = await app.keyWith("write:incidents", "manage:webhooks", "read:analytics");
  const session = await app.signedIn("owner");
  /** Texts of answers that refuse something, and of those that name what is wrong in a file. */
  const answers: string[] = [];
  const secrets = new Set([PASSWORD, key, session]);

  const textTo = (address: string) =>
    relay.mails
      .filter(({ to }) => to.includes(address))
      .map(({ text }) => text.replaceAll("=\r\n", "").replaceAll("=3D", "="))
      .join("\n");
  const world = {
    site,
    app,
    clock,
    key,
    session,
    refusals,
    answers,
    secrets,
    /** Returns the answer of a request, which may not contain a secret if it is refused. */
    async call(path: string, options?: CallOptions): Promise<Answer> {
      const answer = await app.call(path, options);
      if (answer.status >= 400) answers.push(`${answer.status} ${answer.text}`);
      return answer;
    },
    /** Opens a link in every way, also with a wrong token. */
    async open(path: string) {
      for (const accept of ["application/json", "text/html"]) {
        await world.call(path, { headers: { accept } });
        await world.call(`${path}x`, { headers: { accept } });
      }
      await world.call(path, { method: "HEAD" });
      await world.call(path, { method: "POST", json: { address: person("accepted") } });
      await world.call(`${path}x`, { form: { action: "confirm" } });
    },
    path(purpose: LinkPurpose, subject: { id: string; tokenVersion?: number }) {
      const path = site.path(purpose, subject);
      secrets.add(path.slice(-43));
      return path;
    },
    /** Returns the path of the newest link of a kind in the mails to an address. */
    linkTo(address: string, kind: string) {
      const found = [
        ...textTo(address).matchAll(new RegExp(`https://status\\.test(${kind}[\\w-]+)`, "g")),
      ];
      const path = found.at(-1)?.[1];
      if (path === undefined) throw new Error(`there is no link to ${kind}`);
      return path;
    },
    async finish() {
      for (let turn = 0; turn < 3; turn++) {
        await settle();
        await mailings.whenIdle();
        await deliverer.whenIdle();
        await sender.whenIdle();
        await clock.advance(200);
      }
    },
    async pass(ms: number) {
      await clock.advance(ms);
      await world.finish();
    },
    async subscribed(name: string): Promise<SubscriberRow> {
      const subscriber = await site.subscribed(person(name));
      await world.finish();
      return subscriber;
    },
    /** Opens an incident. */
    async incident() {
      const json = { page: "acme", name: "Errors", body: "Hm." };
      await world.call("/api/v1/incidents", { method: "POST", key, json });
      await world.finish();
    },
    /** Returns everything in which no secret may be. */
    async places(): Promise<Record<string, string>> {
      return {
        logs: JSON.stringify(app.logged),
        audit: JSON.stringify(app.audit()),
        events: JSON.stringify(app.events()),
        metrics: (await scrape(app, key)).text,
        export: writeApplyFile(exportFile(ctx.db), []),
        answers: answers.join("\n"),
      };
    },
    /** Returns the secrets that are known: tokens of all links, passwords, keys, and the parts of addresses. */
    known(): string[] {
      const sent = relay.mails.flatMap(({ to }) => textTo(to[0] ?? "").match(TOKEN) ?? []);
      const mailKey = Buffer.from(findMailKey(ctx.db)?.bytes ?? []).toString("base64");
      return [...new Set([...secrets, ...sent, mailKey])].filter((secret) => secret !== "");
    },
    async [Symbol.asyncDispose]() {
      userMails.cancel();
      const stopped = [deliverer.stop(0), sender.stop(0), mailings.stop()];
      await clock.advance(0);
      await Promise.all(stopped);
      await site[Symbol.asyncDispose]();
      await relay[Symbol.asyncDispose]();
    },
  };
  return world;
}

const TOKEN = /(?<![\w-])[\w-]{43}(?![\w-])/g;

/** Whatever mails do, each with addresses of its own. */
const SCENARIOS: Record<string, (world: World) => Promise<unknown>> = {
  async "signing up"({ site, call, finish }) {
    const email = person("signs");
    for (let time = 0; time < 2; time++) await site.signUp({ email });
    await finish();
    const elsewhere = { origin: "https://evil.example" };
    await call("/status/acme/subscribe", { form: { email }, headers: elsewhere });
    for (let client = 0; client < 11; client++) {
      const form = { email: person(`signs${client}`) };
      await call("/status/acme/subscribe", { form, from: "192.0.2.9" });
    }
    await finish();
  },
  async confirming({ site, call, open, path }) {
    await site.requested(person("confirms"));
    const link = path("confirm", site.requests().at(-1) ?? { id: "" });
    await open(link);
    for (let time = 0; time < 2; time++) await call(link, { form: {} });
  },
  async declining({ site, call, open, path }) {
    await site.requested(person("declines"));
    const link = path("decline", site.requests().at(-1) ?? { id: "" });
    await open(link);
    await call(link, { form: {} });
  },
  async "managing a subscription"({ subscribed, call, open, path }) {
    const link = path("manage", await subscribed("manages"));
    await open(link);
    await call(link, { form: { action: "save", scope: "page", events: "status" } });
    await call(link, { form: { action: "unknown" }, headers: { accept: "application/json" } });
  },
  async unsubscribing({ subscribed, call, open, path }) {
    const subscriber = await subscribed("unsubscribes");
    const link = path("unsubscribe", subscriber);
    await open(link);
    await call(link, { form: { "List-Unsubscribe": "No" } });
    for (let time = 0; time < 2; time++) {
      await call(link, { form: { "List-Unsubscribe": "One-Click" } });
    }
    await open(path("manage", subscriber));
  },
  async "a relay whose refusals quote their recipients"(world) {
    const { site, subscribed, refusals, incident, pass } = world;
    for (const [name, reply] of Object.entries({
      accepted: undefined,
      bounced: "550 5.1.1",
      refused: "554 5.7.1",
      deferred: "450 4.2.1",
      broken: "421 4.3.0",
    })) {
      await subscribed(name);
      if (reply !== undefined) refusals.set(person(name), reply);
    }
    await incident();
    for (let minute = 0; minute < 3; minute++) await pass(MINUTE_MS);
    refusals.delete(person("broken"));
    for (let minute = 0; minute < 10; minute++) await pass(MINUTE_MS);
    const statuses = site.mails().map(({ status }) => status);
    expect(statuses).toEqual(expect.arrayContaining(["sent", "bounced", "failed", "pending"]));
  },
  async "bounces and complaints"({ app, call, subscribed, incident, secrets, site }) {
    const subscriber = await subscribed("reports");
    await incident();
    const { id = "" } = site.mails().findLast((mail) => mail.subscriberId === subscriber.id) ?? {};
    const token = await app.ctx.db.write((tx) => makeReportToken(app.ctx, tx, CLI_ACTOR));
    secrets.add(token);
    const address = person("reports");
    const returned = [`To: ${address}`, `Message-ID: <${id}@example.com>`];
    const diagnostic = `smtp; 550 5.1.1 <${address}> unknown`;
    for (const [type, raw] of [
      ["message/rfc822", bounceMessage({ recipient: address, returned, diagnostic })],
      ["message/rfc822", bounceMessage({ recipient: address })],
      ["message/rfc822", complaintMessage(returned)],
      ["text/plain", `To: ${address}`],
      ["application/json", `{"reports": [{"address": "${address}", "kind": "spam"}]}`],
      ["application/json", `{"reports": [{"address": "<${address}>", "kind": "hard"}]}`],
      ["application/json", `{"reports": [{"address": "${address}", "kind": "hard"}]}`],
      ["application/json", `{"reports": [{"address": "${address}"`],
    ] as const) {
      const sent = { method: "POST", headers: { "content-type": type }, raw };
      await call(`/api/v1/mail/bounces/${token}`, sent);
      await call(`/api/v1/mail/bounces/${token}x`, sent);
      await call("/api/v1/mail/bounces", { ...sent, key: token });
    }
  },
  async alerts({ call, key, open, linkTo, refusals, incident, finish, pass }) {
    const address = team("oncall");
    const json = { format: "email", url: `mailto:${address}`, events: ["*"] };
    await call("/api/v1/webhooks", {
      method: "POST",
      key,
      json: { ...json, url: `mailto:<${address}>` },
    });
    await call("/api/v1/webhooks", { method: "POST", key, json });
    await finish();
    const link = linkTo(address, "/mail/alerts/eml_[0-9a-z]+\\.");
    await open(link);
    await call(link, { form: { action: "confirm" } });
    await incident();
    refusals.set(address, "550 5.1.1");
    await incident();
    await pass(HOUR_MS);
    await call(link, { form: { action: "decline" } });
  },
  async "an invitation"({ app, call, session, open, linkTo, refusals, finish }) {
    const address = team("invited");
    const form = await openForm(app, `${USERS}/new`, session);
    await call(`${USERS}/new`, {
      session,
      form: { form, email: address, name: "Bo", role: "editor" },
    });
    await finish();
    const link = linkTo(address, "/admin/join/");
    await open(link);
    // The form is shown again with its own link, but without the password.
    const refused = await app.call(link, { form: { name: "", password: PASSWORD } });
    expect([refused.status, refused.text.includes(PASSWORD)]).toEqual([422, false]);
    const chosen = { name: "Bo", password: PASSWORD };
    for (let time = 0; time < 2; time++) await call(link, { form: chosen });
    refusals.set(team("unreachable"), "550 5.1.1");
    const other = await openForm(app, `${USERS}/new`, session);
    const unreachable = { email: team("unreachable"), name: "Cy", role: "editor" };
    await call(`${USERS}/new`, { session, form: { form: other, ...unreachable } });
    await finish();
  },
  async "a forgotten password"({ app, call, open, linkTo, finish }) {
    const address = team("forgets");
    await userWithPassword(app, address, "editor");
    for (const email of [address, person("forgets")])
      await call("/admin/forgot", { form: { email } });
    await finish();
    const link = linkTo(address, "/admin/join/");
    await open(link);
    for (let time = 0; time < 2; time++) await call(link, { form: { password: PASSWORD } });
    await finish();
  },
  async "an import with bad lines"({ site, session, call, answers }) {
    const file = [
      "email,components",
      `${person("imported")},api`,
      `${person("no.such")},none`,
      `<${person("brackets")}>,`,
      `${person("twice")},\n${person("twice")},`,
    ].join("\n");
    for (const intent of ["check", "import"]) {
      const fields = { page: site.page.id, kind: "consent", consent: "By phone.", intent };
      const answer = await call("/admin/subscribers/import", {
        session,
        ...importForm(file, fields),
      });
      expect(answer.text).toContain("Lines that are skipped");
      answers.push(answer.text);
    }
    const wrong = { page: site.page.id, kind: "confirm", intent: "import" };
    await call("/admin/subscribers/import", { session, ...importForm(`${file}\n"`, wrong) });
  },
  async "erasing an address"({ subscribed, call, session, open, path, incident }) {
    const first = await subscribed("erased");
    await subscribed("erased.too");
    await incident();
    const link = path("manage", first);
    await call(link, { form: { action: "erase" } });
    await open(link);
    await call("/admin/subscribers/erase", { session, form: { email: person("erased.too") } });
  },
  async "the relay's password in the dashboard"({ call, session, answers }) {
    const relay = { host: "relay.example", user: "allclear", tls: "starttls" };
    const answer = await call("/admin/mail", { session, form: { ...relay, password: PASSWORD } });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answers.at(-1)).toContain(String(answer.status));
  },
};

test.each(Object.entries(SCENARIOS))(
  "%s leaves no token, password or address in logs, audit, events, metrics, the export or errors",
  async (_, act) => {
    await using world = await createWorld();
    await act(world);
    const secrets = world.known();
    for (const [place, text] of Object.entries(await world.places())) {
      // The activity and the configuration file name the team's own addresses.
      const isTeams = place === "audit" || place === "export";
      const forbidden = [...secrets, ".person@", ".person%40", ...(isTeams ? [] : [".team@"])];
      expect([place, forbidden.filter((secret) => text.includes(secret))]).toEqual([place, []]);
    }
  },
);
