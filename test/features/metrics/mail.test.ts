import { expect, test } from "bun:test";
import { mailFamilies } from "../../../src/features/metrics/families";
import { MINUTE_MS } from "../../../src/base/time";
import { createMailSite } from "../../support/mail-site";
import { scrape } from "../../support/scrape";
import { startMailboxes } from "../../support/scripted-mailboxes";

test("the metrics contain waiting mails, results by class, suppressions and the relay's availability", async () => {
  await using relay = await startMailboxes({
    "gone@example.com": "550 5.1.1 No such user",
    "later@example.com": "450 4.2.0 Later",
  });
  await using site = await createMailSite(relay);
  const { app } = site;
  app.app.metrics.add(...mailFamilies(app.ctx.db, app.clock, () => site.sender.stats()));
  const key = await app.keyWith("read:analytics");
  const of = async (name: string, labels: Record<string, string> = {}) =>
    (await scrape(app, key)).value(`allclear_mail_${name}`, labels);
  expect(await of("waiting", { class: "3" })).toBe(0);
  expect(await of("oldest_age_seconds", { class: "3" })).toBe(0);
  expect(await of("suppressions", { reason: "bounced" })).toBe(0);
  expect(await of("relay_available")).toBe(1);

  await site.mailing(["ada@example.com", "gone@example.com", "later@example.com"]);
  await site.queue({ to: "later@example.com" });
  await site.idle();
  await app.clock.advance(MINUTE_MS / 2);
  expect(await of("waiting", { class: "1" })).toBe(1);
  expect(await of("waiting", { class: "2" })).toBe(0);
  expect(await of("waiting", { class: "3" })).toBe(1);
  expect(await of("oldest_age_seconds", { class: "3" })).toBe(30);
  expect(await of("results_total", { class: "3", result: "sent" })).toBe(1);
  expect(await of("results_total", { class: "3", result: "bounced" })).toBe(1);
  expect(await of("results_total", { class: "3", result: "retry" })).toBe(1);
  expect(await of("results_total", { class: "1", result: "retry" })).toBe(1);
  expect(await of("suppressions", { reason: "bounced" })).toBe(1);

  relay.answers["MAIL"] = "421 Closing";
  await site.queue({ to: "bob@example.com" });
  await site.idle();
  expect(await of("relay_available")).toBe(0);
});
