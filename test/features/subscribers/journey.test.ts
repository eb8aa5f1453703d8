import { expect, test } from "bun:test";
import { startSending } from "../../../src/features/mail/sending/sender";
import { SIGN_UP_TEMPLATES } from "../../../src/features/subscribers/mails";
import { HOUR_MS } from "../../../src/base/time";
import { createTestClock } from "../../support/clock";
import { createTestEgress } from "../../support/egress";
import { parseMails } from "../../support/parsed-mail";
import { startRelay } from "../../support/relay";
import { createSubscribingSite } from "../../support/subscribing";

test("a sign-up leads by its mail to a subscription, and reading every link of a mail changes nothing", async () => {
  await using relay = await startRelay();
  const clock = createTestClock();
  const env = {
    ALLCLEAR_SMTP_HOST: "relay.test",
    ALLCLEAR_SMTP_PORT: String(relay.port),
    ALLCLEAR_SMTP_TLS: "none",
    ALLCLEAR_MAIL_FROM: "Northwind <status@example.com>",
  };
  await using site = await createSubscribingSite({}, { clock, env });
  const { ctx } = site.app;
  const { egress } = await createTestEgress({ "relay.test": [["127.0.0.1"]] }, { clock, env });
  const throttle = { take: () => true, waitMs: () => 0 };
  const sender = startSending(ctx, egress, { templates: SIGN_UP_TEMPLATES, throttle });

  /** Sends what is queued, and returns the paths of the links in the newest mail. */
  async function newestLinks(): Promise<string[]> {
    await clock.advance(0);
    await sender.whenIdle();
    const [parsed] = await parseMails([Buffer.from(relay.mails.at(-1)?.text ?? "")]);
    const links = parsed?.parts[0]?.text.match(/https:\/\/status\.test\/\S+/g) ?? [];
    return links.map((link) => new URL(link).pathname);
  }
  const state = () =>
    JSON.stringify([site.subscribers(), site.requests(), site.mails(), site.suppressions()]);

  await site.requested();
  const links = await newestLinks();
  expect(relay.mails.map(({ to }) => to)).toEqual([["ann@example.com"]]);
  expect(links.map((link) => link.split("/")[2])).toEqual(["confirm", "decline"]);
  const before = state();
  for (const link of links) {
    for (const method of ["GET", "HEAD"]) {
      expect((await site.app.call(link, { method })).status).toBe(200);
    }
  }
  expect(state()).toBe(before);
  expect((await site.app.call(links[0] ?? "", { form: {} })).status).toBe(303);
  expect(site.subscribers().map(({ status }) => status)).toEqual(["active"]);

  await clock.advance(HOUR_MS);
  await site.requested();
  const [manage = "", confirm = ""] = await newestLinks();
  expect(relay.mails).toHaveLength(2);
  const subscribed = state();
  for (const link of [manage, confirm]) await site.app.call(link);
  expect(state()).toBe(subscribed);
  expect((await site.app.call(manage, { form: { action: "unsubscribe" } })).status).toBe(200);
  expect(site.subscribers().map(({ status }) => status)).toEqual(["unsubscribed"]);
  await sender.stop(0);
});
