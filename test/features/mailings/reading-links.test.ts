import { expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { startMaintenanceClock } from "../../../src/features/maintenance/clock";
import { startSending } from "../../../src/features/mail/sending/sender";
import { createMailingTemplate } from "../../../src/features/mailings/letters";
import { MAILING_TEMPLATE, startMailings } from "../../../src/features/mailings/mailings";
import { SIGN_UP_TEMPLATES } from "../../../src/features/subscribers/mails";
import { changePassword } from "../../../src/features/users/sign-in";
import { USER_TEMPLATES } from "../../../src/features/users/letters";
import { ALERT_TEMPLATES } from "../../../src/features/webhooks/alerts/templates";
import { startDelivering } from "../../../src/features/webhooks/deliver/deliverer";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../src/base/time";
import { createAccountMailSite, GRACE } from "../../support/account-mail";
import type { TestApp } from "../../support/app";
import { createTestClock, settle } from "../../support/clock";
import { invite } from "../../support/dashboard";
import { dumpOf } from "../../support/database-dump";
import { createTestEgress } from "../../support/egress";
import { parseMails } from "../../support/parsed-mail";
import { startRelay, type TestRelay } from "../../support/relay";
import { createSubscribingSite } from "../../support/subscribing";
import { temporaryFolder } from "../../support/temporary-folder";

const LINK = /https?:\/\/[^\s<>"']+/g;
const KINDS = [
  "component.status_changed",
  "incident.created",
  "incident.postmortem_published",
  "incident.reopened",
  "incident.resolved",
  "incident.updated",
  "maintenance.cancelled",
  "maintenance.completed",
  "maintenance.reminder",
  "maintenance.scheduled",
  "maintenance.started",
  "maintenance.updated",
];
const WAIT_MS = 3 * MINUTE_MS;

test("reading every link of every mail to visitors changes no row", async () => {
  using folder = temporaryFolder();
  await using relay = await startRelay();
  const clock = createTestClock();
  const env = {
    ALLCLEAR_SMTP_HOST: "relay.test",
    ALLCLEAR_SMTP_PORT: String(relay.port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
    ALLCLEAR_PUBLIC_RATE_LIMIT: "100000",
  };
  const databasePath = `${folder.path}/allclear.db`;
  await using site = await createSubscribingSite({}, { clock, env, databasePath });
  const { app, components } = site;
  const { ctx } = app;
  const { egress } = await createTestEgress({ "relay.test": [["127.0.0.1"]] }, { clock, env });
  const sender = startSending(ctx, egress, {
    templates: { ...SIGN_UP_TEMPLATES, [MAILING_TEMPLATE]: createMailingTemplate() },
    throttle: { take: () => true, waitMs: () => 0 },
  });
  const mailings = startMailings(ctx);
  const planned = startMaintenanceClock(ctx);
  const finish = async () => {
    await settle();
    await mailings.whenIdle();
    await clock.advance(0);
    await sender.whenIdle();
  };
  // What is being sent would time out.
  const advance = async (ms: number) => {
    await finish();
    await clock.advance(ms);
    await finish();
  };
  const key = await app.keyWith("write:incidents", "write:maintenance", "write:components");
  /** Changes something, and sends the mails about it. */
  const change = async (path: string, json: object, method = "POST"): Promise<string> => {
    const answer = await app.call(`/api/v1/${path}`, { method, key, json });
    if (answer.status >= 400) throw new Error(answer.text);
    await advance(WAIT_MS);
    return answer.body.id;
  };

  const events = ["incidents", "maintenance", "status"];
  await site.requested("ann@example.com");
  await finish();
  await clock.advance(HOUR_MS);
  await site.subscribed("ann@example.com", { events });
  const [api = "", web = ""] = Object.values(components);
  await site.subscribed("bob@example.com", { events, scope: "selection", component: [api] });
  await clock.advance(HOUR_MS);
  await site.requested("ann@example.com");
  await advance(SECOND_MS);
  const body = "See https://docs.example.org/a?b=c for more.";
  const incident = await change("incidents", {
    page: "acme",
    name: "Errors",
    body,
    components: { [api]: "major_outage" },
  });
  for (const status of ["monitoring", "resolved", "investigating"]) {
    await change(`incidents/${incident}/updates`, { status, body });
  }
  await change(`incidents/${incident}/postmortem`, { body, publish: true }, "PUT");
  const plan = (from: number) => ({
    page: "acme",
    name: "Upgrade",
    body,
    components: [api],
    scheduled_for: toIso(clock.now() + from),
    scheduled_until: toIso(clock.now() + from + HOUR_MS),
    remind_minutes_before: 60,
  });
  const maintenance = await change("maintenance", plan(2 * HOUR_MS));
  await change(`maintenance/${maintenance}/updates`, { body });
  for (let step = 0; step < 8; step++) await advance(30 * MINUTE_MS);
  await change(`maintenance/${await change("maintenance", plan(HOUR_MS))}/cancel`, {});
  await change(`components/${web}`, { status: "partial_outage" }, "PATCH");

  expect([...new Set(kindsOf(await parsedMails()))].toSorted()).toEqual(KINDS);
  const ofMailings = site.mails().filter((mail) => mail.class === 3);
  expect(new Set(ofMailings.map(({ status }) => status))).toEqual(new Set(["sent"]));
  const links = await linksOf(relay);
  const purposes = new Set(links.map(({ pathname }) => /^\/mail\/(\w+)\//.exec(pathname)?.[1]));
  expect([...purposes].map(String).toSorted()).toEqual(
    ["confirm", "decline", "manage", "undefined", "unsubscribe"].toSorted(),
  );
  const { dead, changed } = await crawl(site, databasePath, links);
  // The first of two sign-ups was made void by confirming the second.
  expect(dead).toEqual(Array(2).fill(["confirm", 404]));
  expect(changed).toEqual([]);
  planned.cancel();
  await mailings.stop();
  await sender.stop(0);

  function parsedMails() {
    return parseMails(relay.mails.map(({ text }) => Buffer.from(text)));
  }
});

/** Returns the types of the events that mails are about. */
function kindsOf(mails: Awaited<ReturnType<typeof parseMails>>): string[] {
  return mails.flatMap(({ headers }) => headers["Feedback-ID"]?.[0]?.split(":", 1) ?? []);
}

test("reading every link of every mail to the team changes no row", async () => {
  using folder = temporaryFolder();
  await using relay = await startRelay();
  const clock = createTestClock();
  const env = {
    ALLCLEAR_SMTP_HOST: "relay.test",
    ALLCLEAR_SMTP_PORT: String(relay.port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
  };
  const databasePath = `${folder.path}/allclear.db`;
  await using site = await createAccountMailSite({ clock, env, databasePath });
  const { app, grace } = site;
  const { ctx } = app;
  const { egress } = await createTestEgress({ "relay.test": [["127.0.0.1"]] }, { clock, env });
  const throttle = { take: () => true, waitMs: () => 0 };
  const templates = { ...USER_TEMPLATES, ...ALERT_TEMPLATES };
  const sender = startSending(ctx, egress, { templates, throttle });
  const deliverer = startDelivering(ctx, egress, undefined, throttle);
  const finish = async () => {
    // A result of one queue wakes the other one.
    for (let turn = 0; turn < 3; turn++) {
      await clock.advance(0);
      await deliverer.whenIdle();
      await sender.whenIdle();
    }
  };

  await invite(app, site.session, "new@example.com");
  const change = { userId: grace.id, passwordHash: "$argon2id$other" };
  await ctx.db.write((tx) => changePassword(ctx, tx, change, CLI_ACTOR));
  await finish();
  await app.createKey({ expires: toIso(clock.now() + 15 * DAY_MS) });
  clock.setWallClock(clock.now() + 2 * DAY_MS);
  // The next look for expiring keys.
  await clock.advance(MINUTE_MS);
  await finish();
  await app.page({ slug: "acme" });
  const key = await app.keyWith("manage:webhooks", "write:incidents");
  for (const address of ["oncall@example.com", GRACE]) {
    const json = { format: "email", url: `mailto:${address}` };
    await app.call("/api/v1/webhooks", { method: "POST", key, json });
  }
  const json = { page: "acme", name: "Errors", body: "See https://docs.example.org/a?b=c." };
  await app.call("/api/v1/incidents", { method: "POST", key, json });
  await site.forgot(GRACE);
  await site.decide();
  await finish();

  const subjects = relay.mails.map(({ text }) => /^Subject: (.*)\r$/m.exec(text)?.[1]);
  expect(subjects.toSorted()).toEqual([
    "An API key expires in 13 days: test",
    "Choose a new password for Allclear",
    "Confirm alerts from status.test",
    "Your Allclear password was changed",
    "Your invitation to Allclear",
    "[Acme] Errors",
  ]);
  const links = await linksOf(relay);
  const kinds = new Set(links.map(({ pathname }) => pathname.split("/").slice(1, 3).join("/")));
  expect([...kinds].toSorted()).toEqual([
    "",
    "admin/forgot",
    "admin/join",
    "admin/settings",
    "mail/alerts",
    "status/acme",
  ]);
  const { dead, changed } = await crawl(site, databasePath, links);
  expect(dead).toEqual([]);
  expect(changed).toEqual([]);
  await deliverer.stop(0);
  await sender.stop(0);
});

/** Returns the links to this installation in headers and both parts of all mails, each once. */
async function linksOf({ mails }: TestRelay): Promise<URL[]> {
  const parsed = await parseMails(mails.map(({ text }) => Buffer.from(text)));
  const found = parsed.flatMap(({ headers, parts }) => [
    ...(headers["List-Unsubscribe"] ?? []),
    ...parts.map(({ text }) => text.replaceAll("&amp;", "&")),
  ]);
  const urls = new Set(found.flatMap((text) => text.match(LINK) ?? []));
  return [...urls].map((url) => new URL(url)).filter(({ host }) => host === "status.test");
}

/** Reads links as programs that check mails do. Returns those that do not work, and the changed tables. */
async function crawl(
  { app }: { app: TestApp },
  databasePath: string,
  links: readonly URL[],
): Promise<{ dead: [string, number][]; changed: string[] }> {
  await settle();
  const before = dumpOf(databasePath);
  const dead: [string, number][] = [];
  for (const { pathname, search } of links) {
    for (const method of ["GET", "HEAD"]) {
      const call = { method, headers: { Accept: "text/html" } };
      const { status, headers } = await app.call(pathname + search, call);
      const isSignIn = headers.get("location")?.startsWith("/admin/sign-in") === true;
      if (status !== 200 && !isSignIn) dead.push([pathname.split("/")[2] ?? "", status]);
    }
  }
  await settle();
  const after = dumpOf(databasePath);
  const tables = Object.keys({ ...before, ...after });
  return { dead, changed: tables.filter((name) => !Bun.deepEquals(before[name], after[name])) };
}
