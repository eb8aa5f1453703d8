import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { outcomeOf } from "../../../support/grouped-site";
import { actionsOf, openForm } from "../../../support/dashboard";
import { createDeliverySite } from "../../../support/delivery-site";
import { readHtml } from "../../../support/html";
import { startReceiver } from "../../../support/receiver";
import {
  createWebhookDashboard,
  revealedSecret,
  WEBHOOK_LIST,
} from "../../../support/webhook-dashboard";

const HOUR = 3_600_000;
const pathOf = (id: string, rest = "") => `${WEBHOOK_LIST}/${id}${rest}`;

describe("a test event", () => {
  test("a test event is sent once per form, and the answer leads to its delivery", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made({ which: "some", events: ["monitor.down"] });
    const screen = await dashboard.open(pathOf(id));
    const [form = ""] = readHtml(screen.text).attributes("button[name=form]", "value");
    expect(form).not.toBe("");
    const answers = await Promise.all(
      [1, 2].map(() => dashboard.send(pathOf(id, "/test"), { form })),
    );
    const paths = new Set(answers.map(({ headers }) => headers.get("location")));
    expect(paths.size).toBe(1);
    const [first] = answers;
    if (!first) throw new Error("two were sent");
    const { path, text } = await outcomeOf(dashboard, first, dashboard.session);
    expect(path).toStartWith(pathOf(id, "/deliveries/dlv_"));
    expect(text).toBe("The test event is queued. No result yet.");
    expect(dashboard.app.events().map(({ type }) => type)).toEqual(["webhook.test"]);
    expect(readHtml((await dashboard.open(path)).text).texts("h1")).toEqual(["webhook.test"]);
  });

  test.each([
    { status: 200, says: "The test event was delivered." },
    { status: 429, says: "The test event was not delivered. The response shows the reason." },
    { status: 500, says: "The test event was not delivered. The response shows the reason." },
  ])("the answer waits for the result of a test event, here $status", async ({ status, says }) => {
    await using receiver = startReceiver(() => status);
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url);
    const sending = dashboard.send(pathOf(id, "/test"), { form: "1" });
    await receiver.until(1);
    await site.idle();
    const { path, text } = await outcomeOf(dashboard, await sending, dashboard.session);
    expect(text).toBe(says);
    const screen = readHtml((await dashboard.open(path)).text);
    expect(screen.texts("#delivery-response")[0]).toMatch(new RegExp(`^Response${status} `));
  });

  test("a result that takes longer than two seconds comes to the delivery's screen by its live refresh", async () => {
    const late = Promise.withResolvers<number>();
    await using receiver = startReceiver(() => late.promise);
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id } = await site.endpoint(receiver.url);
    let isAnswered = false;
    const sending = dashboard.send(pathOf(id, "/test"), { form: "1" }).finally(() => {
      isAnswered = true;
    });
    await receiver.until(1);
    await site.app.clock.advance(1_999);
    expect(isAnswered).toBe(false);
    await site.app.clock.advance(1);
    const { path, text } = await outcomeOf(dashboard, await sending, dashboard.session);
    expect(text).toBe("The test event is queued. No result yet.");
    const before = readHtml((await dashboard.open(path)).text);
    expect(before.texts("#delivery-response[data-live]")[0]).toContain("No attempt yet.");
    late.resolve(200);
    await site.idle();
    const after = readHtml((await dashboard.open(path)).text);
    expect(after.texts("#delivery-response[data-live]")[0]).toContain("200 OK");
    expect(after.texts("#delivery-facts[data-live]")[0]).toContain("Delivered");
  });

  test("a disabled webhook cannot be tested, and its screen does not offer it", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made();
    await dashboard.send(pathOf(id, "/disable"));
    const before = dashboard.state();
    expect((await dashboard.send(pathOf(id, "/test"), { form: "1" })).status).toBe(409);
    expect(dashboard.state()).toEqual(before);
    expect((await dashboard.open(pathOf(id))).text).not.toContain("Send test event");
  });
});

describe("rotating a webhook's secret", () => {
  test("rotating a secret shows the new one once, and both sign for 24 hours", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await using dashboard = await createWebhookDashboard({ app: site.app });
    const { id, secret: old } = await site.endpoint(receiver.url);
    const form = await openForm(site.app, pathOf(id, "/rotate"), dashboard.session);
    const answer = await dashboard.send(pathOf(id, "/rotate"), { form });
    const secret = revealedSecret(answer);
    expect(secret).not.toBe(old);
    expect((await dashboard.open(pathOf(id))).text).toContain("2 active secrets");
    await site.recordEvents("cmp_1");
    await site.idle();
    await site.pass(24 * HOUR);
    await site.recordEvents("cmp_2");
    await site.idle();
    const verifies = (index: number, by: string) => {
      const { body = "", headers = {} } = receiver.received[index] ?? {};
      const { "webhook-id": msgId = "", "webhook-timestamp": at } = headers;
      const desired = new Webhook(by).sign(msgId, new Date(Number(at) * 1_000), body);
      return headers["webhook-signature"]?.split(" ").includes(desired);
    };
    expect([verifies(0, secret), verifies(0, old)]).toEqual([true, true]);
    expect([verifies(1, secret), verifies(1, old)]).toEqual([true, false]);
    // The one before has ended by now.
    const session = await site.app.signedIn("admin");
    expect((await site.app.call(pathOf(id), { session })).text).toContain("1 active secret");
    expect(actionsOf(site.app).filter((action) => action === "webhook.rotate_secret")).toHaveLength(
      1,
    );
  });
});

describe("disabling, enabling and deleting a webhook", () => {
  test("disabling and deleting a webhook ask for confirmation, and each action is confirmed and audited", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made();
    const { session } = dashboard;
    const confirmationOf = async (what: string) =>
      readHtml((await dashboard.open(pathOf(id, `/${what}`))).text).texts("h1");
    expect(await confirmationOf("disable")).toEqual(["Disable “Relay”?"]);
    expect(dashboard.rows()[0]?.enabled).toBe(true);
    const disabled = await dashboard.send(pathOf(id, "/disable"));
    expect(await outcomeOf(dashboard, disabled, session)).toEqual({
      path: pathOf(id),
      text: "The webhook was disabled.",
    });
    expect(dashboard.rows()[0]?.enabled).toBe(false);
    expect((await dashboard.open(pathOf(id, "/disable"))).headers.get("location")).toBe(pathOf(id));
    const enabled = await dashboard.send(pathOf(id, "/enable"));
    expect((await outcomeOf(dashboard, enabled, session)).text).toStartWith(
      "The webhook was enabled.",
    );
    expect(dashboard.rows()[0]?.enabled).toBe(true);
    expect(await confirmationOf("delete")).toEqual(["Delete “Relay”?"]);
    expect(dashboard.rows()).toHaveLength(1);
    const deleted = await dashboard.send(pathOf(id, "/delete"));
    expect(await outcomeOf(dashboard, deleted, session)).toEqual({
      path: WEBHOOK_LIST,
      text: "“Relay” was deleted.",
    });
    expect(dashboard.rows()).toEqual([]);
    expect(actionsOf(dashboard.app).filter((action) => action.startsWith("webhook."))).toEqual([
      "webhook.create",
      "webhook.disable",
      "webhook.enable",
      "webhook.delete",
    ]);
  });

  test("screens and forms of a deleted webhook are not_found and write nothing", async () => {
    await using dashboard = await createWebhookDashboard();
    const { id } = await dashboard.made();
    await dashboard.send(pathOf(id, "/delete"));
    const before = dashboard.state();
    const confirmations = [
      "",
      "/edit",
      "/rotate",
      "/disable",
      "/delete",
      "/redeliver",
      "/deliveries/dlv_1",
    ];
    const done = [
      "/edit",
      "/rotate",
      "/disable",
      "/enable",
      "/delete",
      "/test",
      "/deliveries/dlv_1/redeliver",
    ];
    const fields = { form: "1", format: "standard", url: "https://a.example", which: "all" };
    const answers = await Promise.all([
      ...confirmations.map((rest) => dashboard.open(pathOf(id, rest))),
      ...done.map((rest) => dashboard.send(pathOf(id, rest), fields)),
      dashboard.send(pathOf(id, "/redeliver"), { since: "2026-03-10T12:00" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
    expect(dashboard.state()).toEqual(before);
  });
});

describe("permission to manage webhooks", () => {
  test.each(["viewer", "editor"] as const)(
    "the screens and forms of webhooks are forbidden to a %s, and their menu has no link to them",
    async (role) => {
      await using dashboard = await createWebhookDashboard();
      const { app } = dashboard;
      const { id } = await dashboard.made();
      const session = await app.signedIn(role);
      const before = dashboard.state();
      const routes = app.app.routes.routes.filter(({ path }) => path.startsWith(WEBHOOK_LIST));
      expect(routes.length).toBeGreaterThan(15);
      for (const { method, path } of routes) {
        const at = path.replace(":id", id).replace(":delivery_id", "dlv_1");
        const form = method === "POST" ? { form: { url: "https://a.example" } } : {};
        // oxlint-disable-next-line no-await-in-loop
        expect((await app.call(at, { session, ...form })).status).toBe(403);
      }
      expect(dashboard.state()).toEqual(before);
      expect((await app.call("/admin", { session })).text).not.toContain(WEBHOOK_LIST);
    },
  );
});
