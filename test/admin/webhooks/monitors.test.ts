import { describe, expect, test } from "bun:test";
import { readHtml, typedIn } from "../../support/html";
import { createMonitorDashboard, monitorIdIn, MONITORS } from "../../support/monitor-dashboard";
import { createWebhookDashboard, WEBHOOK_LIST } from "../../support/webhook-dashboard";

async function openBoth() {
  const monitors = await createMonitorDashboard();
  const webhooks = await createWebhookDashboard({ app: monitors.app, slug: "other" });
  return { monitors, webhooks };
}

describe("monitors of webhooks on the dashboard", () => {
  test("a webhook is created and edited for selected monitors, which its screen links", async () => {
    await using monitors = await createMonitorDashboard();
    const shop = await monitors.make({ name: "Shop", group: "A" });
    const mail = await monitors.make({ name: "Mail" });
    await using webhooks = await createWebhookDashboard({ app: monitors.app, slug: "other" });
    const row = await webhooks.made({ of: "some", monitors: [shop] });
    expect(row.monitors).toEqual([shop]);
    const form = readHtml((await webhooks.open(`${WEBHOOK_LIST}/${row.id}/edit`)).text);
    expect(form.attributes("input[name=monitors]", "value")).toEqual([mail, shop]);
    const screen = readHtml((await webhooks.open(`${WEBHOOK_LIST}/${row.id}`)).text);
    expect(screen.attributes(".facts a.chip", "href")).toEqual([`${MONITORS}/${shop}`]);
    await webhooks.edit(row.id, { of: "some", monitors: [shop, mail] });
    expect(webhooks.rows().at(-1)?.monitors.toSorted()).toEqual([shop, mail].toSorted());
    await webhooks.edit(row.id, { of: "all", monitors: [shop] });
    expect(webhooks.rows().at(-1)?.monitors).toEqual(["*"]);
    expect((await webhooks.open(`${WEBHOOK_LIST}/${row.id}`)).text).toContain(
      "All monitors, including new ones",
    );
  });

  test("a monitor that does not exist is shown again with the error, and nothing is saved", async () => {
    const { monitors, webhooks } = await openBoth();
    await using _ = monitors;
    await monitors.make();
    const before = webhooks.state();
    const answer = await webhooks.create({ of: "some", monitors: ["mon_none"] });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("Select monitors that exist.");
    expect(webhooks.state()).toEqual(before);
  });

  test("without monitors the form does not ask for them", async () => {
    await using webhooks = await createWebhookDashboard();
    const { text } = await webhooks.open(`${WEBHOOK_LIST}/new`);
    expect(text).not.toContain('name="of"');
  });

  test("the form of a monitor selects webhooks for selected monitors, and its screen lists who is notified", async () => {
    const { monitors, webhooks } = await openBoth();
    await using _ = monitors;
    const shop = await monitors.make({ name: "Shop" });
    const all = await webhooks.made({ description: "Everyone" });
    expect((await monitors.open(`${MONITORS}/${shop}/edit`)).text).not.toContain("webhook_ids");
    const chat = await webhooks.made({ description: "Chat", of: "some", monitors: [] });
    const form = readHtml((await monitors.open(`${MONITORS}/${shop}/edit`)).text);
    expect(form.attributes("input[name=webhook_ids]", "value")).toEqual([chat.id]);
    const notified = async () =>
      readHtml((await monitors.open(`${MONITORS}/${shop}`)).text).texts(
        "#monitor-notified .detail-name",
      );
    expect(await notified()).toEqual(["Everyone"]);
    const { version } = monitors.stored(shop).row;
    expect((await monitors.edit(shop, { webhook_ids: [chat.id] })).status).toBe(303);
    expect(monitors.stored(shop).row.version).toBe(version);
    expect(monitors.app.audit().at(-1)?.summary).toBe("Changed the webhook “Chat”: monitors");
    expect(await notified()).toEqual(["Everyone", "Chat"]);
    expect(webhooks.rows().map((row) => row.monitors)).toEqual([["*"], [shop]]);
    const clone = await monitors.open(`${MONITORS}/new?type=http&from=${shop}`);
    expect(typedIn(clone.text, "webhook_ids")).toEqual([chat.id]);
    const made = monitorIdIn(await monitors.create({ name: "Copy", webhook_ids: [chat.id] }));
    expect(webhooks.rows().at(-1)?.monitors).toEqual([shop, made]);
    await monitors.edit(shop, { webhook_ids: [] });
    expect(webhooks.rows().at(-1)?.monitors).toEqual([made]);
    const before = monitors.written();
    const wrong = await monitors.edit(shop, { name: "Other", webhook_ids: [all.id] });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain("must be webhooks for selected monitors");
    expect(monitors.written()).toEqual(before);
  });
});
