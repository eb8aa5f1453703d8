import { expect, test } from "bun:test";
import { exportFile, writeApplyFile } from "../../../src/features/apply";
import { mailFamilies, subscriberFamilies } from "../../../src/features/metrics";
import { findMailKey, startSending } from "../../../src/features/mail";
import {
  createMailingTemplate,
  MAILING_TEMPLATE,
  startMailings,
} from "../../../src/features/mailings";
import { SIGN_UP_TEMPLATES } from "../../../src/features/subscribers";
import { HOUR_MS, MINUTE_MS } from "../../../src/kernel/time";
import { createTestClock, settle } from "../../support/clock";
import { createTestEgress } from "../../support/egress";
import { scrape } from "../../support/scrape";
import { startMailboxes } from "../../support/scripted-mailboxes";
import { createSubscribingSite } from "../../support/subscribing";

const NAMES = ["accepted", "bounced", "refused", "deferred", "broken", "unsubscribed", "erased"];
const addressOf = (name: string) => `${name}.person@mailbox.example`;

test("no token and no address reaches logs, audit, events, metrics, the export or error bodies", async () => {
  await using relay = await startMailboxes({
    [addressOf("bounced")]: `550 5.1.1 <${addressOf("bounced")}>: No such user`,
    [addressOf("refused")]: `554 5.7.1 ${addressOf("refused")} is not welcome`,
    [addressOf("deferred")]: `450 4.2.1 <${addressOf("deferred")}> later`,
    [addressOf("broken")]: `421 4.3.0 <${addressOf("broken")}> closing`,
  });
  const clock = createTestClock();
  const env = {
    ALLCLEAR_SMTP_HOST: "relay.test",
    ALLCLEAR_SMTP_PORT: String(relay.port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_SMTP_CONNECTIONS: "2",
    ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
    ALLCLEAR_PUBLIC_RATE_LIMIT: "100000",
  };
  await using site = await createSubscribingSite({}, { clock, env, logLevel: "debug" });
  const { app } = site;
  const { ctx } = app;
  const { egress } = await createTestEgress({ "relay.test": [["127.0.0.1"]] }, { clock, env });
  const sender = startSending(ctx, egress, {
    templates: { ...SIGN_UP_TEMPLATES, [MAILING_TEMPLATE]: createMailingTemplate() },
    throttle: { take: () => true, waitMs: () => 0 },
  });
  const mailings = startMailings(ctx);
  const bodies: string[] = [];
  const call: typeof app.call = async (path, options) => {
    const answer = await app.call(path, options);
    if (answer.status >= 400) bodies.push(answer.text);
    return answer;
  };
  const finish = async () => {
    await settle();
    await mailings.whenIdle();
    await clock.advance(0);
    await sender.whenIdle();
  };

  for (const name of NAMES) await site.subscribed(addressOf(name));
  await site.requested(addressOf("requested"));
  await finish();
  const key = await app.keyWith("write:incidents", "read:analytics");
  const incident = { page: "acme", name: "Errors", body: "Hm." };
  await call("/api/v1/incidents", { method: "POST", key, json: incident });
  await finish();
  for (let minute = 0; minute < 3; minute++) {
    await clock.advance(MINUTE_MS);
    await finish();
  }

  const paths = [...site.subscribers(), ...site.requests()].flatMap((subject) => [
    site.path("manage", subject),
    site.path("unsubscribe", { id: subject.id }),
    site.path("confirm", { id: subject.id }),
    site.path("decline", { id: subject.id }),
  ]);
  const person = (name: string) => {
    const found = site.subscribers().find(({ address }) => address === addressOf(name));
    if (!found) throw new Error(`${name} is not subscribed`);
    return found;
  };
  for (const path of paths) {
    for (const accept of ["application/json", "text/html"]) {
      await call(path, { headers: { accept } });
    }
    await call(`${path}x`);
    await call(path, { method: "POST", json: { address: addressOf("accepted") } });
  }
  await call(site.path("manage", person("unsubscribed")), { form: { action: "unsubscribe" } });
  await call(site.path("manage", person("erased")), { form: { action: "erase" } });
  await clock.advance(HOUR_MS);
  await call("/status/acme/subscribe", {
    form: { email: addressOf("accepted") },
    headers: { origin: "https://evil.example" },
  });
  await finish();

  app.app.metrics.add(
    ...mailFamilies(ctx.db, clock, () => sender.stats()),
    ...subscriberFamilies(ctx.db, site.worker),
  );
  const places = {
    logs: JSON.stringify(app.logged),
    audit: JSON.stringify(app.audit()),
    events: JSON.stringify(app.events()),
    metrics: (await scrape(app, key)).text,
    export: writeApplyFile(exportFile(ctx.db), []),
    errors: bodies.join("\n"),
  };
  expect(bodies.length).toBeGreaterThan(NAMES.length);
  expect(new Set(site.mails().map(({ status }) => status)).size).toBeGreaterThan(2);
  const macs = paths.map((path) => path.slice(-43));
  const keyBytes = Buffer.from(findMailKey(ctx.db)?.bytes ?? []).toString("base64");
  for (const [place, text] of Object.entries(places)) {
    const found = [...macs, keyBytes, ".person@"].filter((secret) => text.includes(secret));
    expect([place, found]).toEqual([place, []]);
  }
  await mailings.stop();
  await sender.stop(0);
});
