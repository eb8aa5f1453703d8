import { describe, expect, test } from "bun:test";
import { createTestApp } from "../../support/app";
import { fieldErrorsOn, readHtml, typedIn } from "../../support/html";
import { createWebhookDashboard, WEBHOOK_LIST } from "../../support/webhook-dashboard";

const ONCALL = "oncall@example.com";
const RELAY = { ALLCLEAR_SMTP_HOST: "relay.example", ALLCLEAR_MAIL_FROM: "status@example.com" };

const openDashboard = async (env: Record<string, string> = RELAY) =>
  createWebhookDashboard({ app: await createTestApp({ env }) });

const email = { format: "email", address: ONCALL };

describe("a webhook for e-mail in the dashboard", () => {
  test("is made from an address, and shows no secret but that the address has to confirm", async () => {
    const dashboard = await openDashboard();
    await using _ = dashboard.app;
    const made = await dashboard.create(email);
    expect(made.status).toBe(200);
    expect(made.text).toContain("Webhook created");
    expect(made.text).not.toContain("whsec_");
    const [row] = dashboard.rows();
    expect(row).toMatchObject({ url: `mailto:${ONCALL}`, format: "email", confirmedAt: null });
    const home = `${WEBHOOK_LIST}/${row?.id}`;
    const { text } = await dashboard.open(home);
    expect(text).toContain("The address has not confirmed yet");
    expect(text).not.toContain("Rotate secret");
    expect(text).not.toContain("Send test event");
    expect(text).not.toContain("Signing secret");
    expect(typedIn((await dashboard.open(`${home}/edit`)).text, "address")).toEqual([ONCALL]);
    const unchanged = await dashboard.edit(row?.id ?? "", { address: ONCALL });
    expect(unchanged.status).toBe(303);
    expect(dashboard.rows()[0]?.version).toBe(1);
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
    expect((await answerOf()).join()).toContain("The link was mailed again.");
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
