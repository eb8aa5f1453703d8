import { describe, expect, test } from "bun:test";
import { markOfAddress, suppress } from "../../../../src/features/mail/suppressions";
import { DAY_MS, MINUTE_MS } from "../../../../src/base/time";
import { createAlertSite } from "../../../support/alert-site";
import { createTestApp } from "../../../support/app";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { startMailboxes } from "../../../support/scripted-mailboxes";
import { createWebhookDashboard, WEBHOOK_LIST } from "../../../support/webhook-dashboard";

const ONCALL = "oncall@example.com";
const RELAY = { ALLCLEAR_SMTP_HOST: "relay.example", ALLCLEAR_MAIL_FROM: "status@example.com" };

const openDashboard = async (env: Record<string, string> = RELAY) =>
  createWebhookDashboard({ app: await createTestApp({ env }) });

const email = { format: "email", address: ONCALL, description: "" };

describe("a webhook for e-mail in the dashboard", () => {
  test("is made from an address, and shows no secret but that the address has to confirm", async () => {
    const dashboard = await openDashboard();
    await using _ = dashboard.app;
    const made = await dashboard.create(email);
    expect(made.status).toBe(200);
    expect(made.text).toContain("Webhook created");
    expect(made.text).not.toContain("whsec_");
    expect(made.text).toContain("A link for the address waits to be mailed.");
    expect(readHtml(made.text).texts("h2")).toContain(ONCALL);
    const [row] = dashboard.rows();
    expect(row).toMatchObject({ url: `mailto:${ONCALL}`, format: "email", confirmedAt: null });
    const home = `${WEBHOOK_LIST}/${row?.id}`;
    const { text } = await dashboard.open(home);
    expect(text).toContain("The address has not confirmed yet");
    expect(readHtml(text).texts("h1")).toEqual([ONCALL]);
    expect(text).not.toContain("Rotate secret");
    expect(text).not.toContain("Send test event");
    expect(text).not.toContain("Signing secret");
    expect(typedIn((await dashboard.open(`${home}/edit`)).text, "address")).toEqual([ONCALL]);
    const unchanged = await dashboard.edit(row?.id ?? "", { address: ONCALL });
    expect(unchanged.status).toBe(303);
    expect(dashboard.rows()[0]?.version).toBe(1);
  });

  test("says that no link is mailed to an address that declined or is blocked", async () => {
    for (const [reason, words] of [
      ["declined", "because its owner stopped alerts or declined"],
      ["blocked", "because an admin blocked it"],
    ] as const) {
      const dashboard = await openDashboard();
      await using _ = dashboard.app;
      const { ctx } = dashboard.app;
      await ctx.db.write((tx) => {
        suppress(ctx, tx, { addressHmac: markOfAddress(ctx, tx, ONCALL), reason });
      });
      const { text } = await dashboard.create(email);
      expect(text).toContain(`No link is mailed to the address, ${words}`);
      const [row] = dashboard.rows();
      const shown = readHtml((await dashboard.open(`${WEBHOOK_LIST}/${row?.id}`)).text);
      expect(shown.texts(".notice").join()).toContain(words);
      expect(shown.attributes("form", "action").join()).not.toContain("confirmation");
    }
  });

  test("says whether the link was mailed, could not be mailed or has expired", async () => {
    await using relay = await startMailboxes({ [ONCALL]: "550 5.7.1 Not wanted" });
    await using site = await createAlertSite(relay);
    const session = await site.app.signedIn("owner");
    const { id } = await site.webhook(ONCALL);
    const shown = async () => (await site.app.call(`${WEBHOOK_LIST}/${id}`, { session })).text;
    expect(await shown()).toContain("could not be mailed to the address: 550 5.7.1 Not wanted.");
    delete relay.answers[ONCALL];
    await site.pass(10 * MINUTE_MS);
    await site.app.call(`${WEBHOOK_LIST}/${id}/confirmation`, { session, form: {} });
    await site.idle();
    expect(await shown()).toMatch(
      /A link was mailed to the address at 2026-[-\d]+ [\d:]+ UTC and works/,
    );
    await site.pass(7 * DAY_MS, DAY_MS);
    const later = await site.app.signedIn("owner");
    const { text } = await site.app.call(`${WEBHOOK_LIST}/${id}`, { session: later });
    expect(text).toMatch(/The link that was mailed to the address at .* has expired/);
  });

  test("is named by its address on screens, and without it in the activity", async () => {
    const dashboard = await openDashboard();
    await using _ = dashboard.app;
    await dashboard.made(email);
    await dashboard.made({ ...email, address: "ops@example.com" });
    await dashboard.made({ ...email, description: "On call" });
    const list = readHtml((await dashboard.open(WEBHOOK_LIST)).text);
    expect(list.texts("tbody a")).toEqual(["On call", "ops@example.com", ONCALL]);
    const audit = dashboard.app.audit().map(({ summary }) => summary);
    expect(audit).toContain("Created the webhook “o…@example.com”");
    expect(audit.join()).not.toContain(ONCALL);
    const found = await dashboard.open("/admin/search?q=ops%40example.com");
    expect(found.text).toContain("ops@example.com");
  });

  test("mails the link again, but not within 10 minutes", async () => {
    const dashboard = await openDashboard();
    await using _ = dashboard.app;
    const row = await dashboard.made(email);
    const home = `${WEBHOOK_LIST}/${row.id}`;
    const answerOf = async () => {
      expect((await dashboard.send(`${home}/confirmation`)).status).toBe(303);
      return readHtml((await dashboard.open(home)).text).texts(".flash");
    };
    expect((await answerOf()).join()).toContain("No mail was sent.");
    await dashboard.app.clock.advance(10 * 60_000);
    expect((await answerOf()).join()).toContain("The link will be mailed.");
  });

  test("without a relay the form says what is missing", async () => {
    const dashboard = await openDashboard({});
    await using _ = dashboard.app;
    const { status, text } = await dashboard.create(email);
    expect(status).toBe(422);
    expect(Object.values(fieldErrorsOn(text)).join()).toContain(
      "needs an SMTP relay and a sender first",
    );
    expect(typedIn(text, "address")).toEqual([ONCALL]);
    expect(dashboard.rows()).toEqual([]);
  });

  test("a wrong address is shown again with its error", async () => {
    const dashboard = await openDashboard();
    await using _ = dashboard.app;
    const { status, text } = await dashboard.create({
      ...email,
      address: "a@example.com, b@example.com",
    });
    expect(status).toBe(422);
    expect(typedIn(text, "address")).toEqual(["a@example.com, b@example.com"]);
    expect(Object.keys(fieldErrorsOn(text))).toEqual(["address"]);
  });
});
