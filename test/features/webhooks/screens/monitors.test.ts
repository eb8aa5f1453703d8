import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createMonitorDashboard,
  formOf,
  monitorIdIn,
  MONITORS,
} from "../../../support/monitor-dashboard";
import { createWebhookDashboard, WEBHOOK_LIST } from "../../../support/webhook-dashboard";
import { updateWebhook } from "../../../support/examined";

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
    const edit = readHtml((await monitors.open(`${MONITORS}/${shop}/edit`)).text);
    expect(edit.texts(".check-lines li")).toEqual([
      "Everyone · Standard Webhooks, for all monitors",
    ]);
    expect(edit.attributes("input[name=webhook_ids]", "value")).toEqual([]);
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

  test("a form of a monitor that is saved late keeps the selections of others in the meantime", async () => {
    const { monitors, webhooks } = await openBoth();
    await using _ = monitors;
    const shop = await monitors.make({ name: "Shop" });
    const made = async (description: string, ...ids: string[]) =>
      (await webhooks.made({ description, of: "some", monitors: ids })).id;
    const selected = () =>
      Object.fromEntries(webhooks.rows().map((row) => [row.description, row.monitors.length]));
    const [kept, dropped, added, gone, all] = [
      await made("Kept", shop),
      await made("Dropped", shop),
      await made("Added"),
      await made("Gone", shop),
      await made("For all", shop),
    ];
    const path = `${MONITORS}/${shop}/edit`;
    const form = formOf((await monitors.open(path)).text);
    expect(form["webhook_ids"]).toEqual([kept, dropped, gone, all]);

    await webhooks.edit(dropped, { of: "some", monitors: [] });
    await webhooks.edit(added, { of: "some", monitors: [shop] });
    await webhooks.edit(all, { of: "all" });
    await webhooks.send(`${WEBHOOK_LIST}/${gone}/delete`, {});
    await made("New", shop);
    const audited = monitors.app.audit().length;
    expect((await monitors.send(path, form)).status).toBe(303);
    expect(monitors.app.audit()).toHaveLength(audited);
    expect(selected()).toEqual({ Kept: 1, Dropped: 0, Added: 1, "For all": 1, New: 1 });

    const unchecked = { ...form, name: "Store", webhook_ids: [dropped, gone, all] };
    expect((await monitors.send(path, unchecked)).status).toBe(303);
    expect(selected()).toEqual({ Kept: 0, Dropped: 0, Added: 1, "For all": 1, New: 1 });
    expect(monitors.stored(shop).row.name).toBe("Store");
  });

  test("a rejected form of a monitor still saves only the webhooks that its user changed", async () => {
    const { monitors, webhooks } = await openBoth();
    await using _ = monitors;
    const shop = await monitors.make({ name: "Shop" });
    const chat = await webhooks.made({ description: "Chat", of: "some", monitors: [shop] });
    const calls = await webhooks.made({ description: "Calls", of: "some", monitors: [] });
    const path = `${MONITORS}/${shop}/edit`;
    const form = formOf((await monitors.open(path)).text);
    await webhooks.edit(chat.id, { of: "some", monitors: [] });
    const rejected = await monitors.send(path, {
      ...form,
      name: "",
      webhook_ids: [chat.id, calls.id],
    });
    expect(rejected.status).toBe(422);
    const again = formOf(rejected.text);
    expect(again["webhook_ids"]).toEqual([chat.id, calls.id]);
    expect((await monitors.send(path, { ...again, name: "Store" })).status).toBe(303);
    expect(webhooks.rows().map((row) => row.monitors)).toEqual([[], [shop]]);
  });

  test("a webhook with 1,000 monitors cannot be selected in the form of another, and nothing is saved", async () => {
    const { monitors, webhooks } = await openBoth();
    await using _ = monitors;
    const shop = await monitors.make({ name: "Shop" });
    const ids = await Promise.all(
      Array.from({ length: 1_000 }, (__, index) => monitors.make({ name: `M ${index}` })),
    );
    const full = await webhooks.made({ description: "Full", of: "some", monitors: [shop] });
    const change = (monitorIds: string[]) =>
      monitors.app.ctx.db.write((tx) =>
        updateWebhook(monitors.app.ctx, tx, full.id, { monitors: monitorIds }, CLI_ACTOR),
      );
    await change(ids);
    const before = [monitors.written(), webhooks.state()];
    const answer = await monitors.edit(shop, { name: "Store", webhook_ids: [full.id] });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      webhook_ids: "The endpoints must not include “Full”, which has 1,000 monitors, the most.",
    });
    expect([monitors.written(), webhooks.state()]).toEqual(before);

    const form = formOf((await webhooks.open(`${WEBHOOK_LIST}/${full.id}/edit`)).text);
    await webhooks.send(`${WEBHOOK_LIST}/${full.id}/edit`, { ...form, description: "Still full" });
    expect(webhooks.rows().at(-1)?.monitors.toSorted()).toEqual(ids.toSorted());
    await change(ids.slice(1));
    expect((await monitors.edit(shop, { webhook_ids: [full.id] })).status).toBe(303);
    expect(webhooks.rows().at(-1)?.monitors).toEqual([...ids.slice(1).toSorted(), shop]);
  });

  test("a webhook whose last monitor is deleted says that it gets no events of monitors", async () => {
    const { monitors, webhooks } = await openBoth();
    await using _ = monitors;
    const shop = await monitors.make({ name: "Shop" });
    const mail = await monitors.make({ name: "Mail" });
    const only = { of: "some", monitors: [shop] };
    const chat = await webhooks.made({ description: "Chat", ...only });
    const pager = await webhooks.made({
      description: "Pager",
      which: "some",
      events: ["monitor.down"],
      ...only,
    });
    const both = await webhooks.made({ description: "Both", of: "some", monitors: [shop, mail] });
    const quiet = await webhooks.made({ which: "some", events: ["incident.created"], ...only });

    const dialog = await monitors.open(`${MONITORS}/${shop}/delete`);
    expect(dialog.text).toContain(
      "These webhooks are left without a monitor: “Chat”, “Pager”, “Relay”.",
    );
    const several = await monitors.send(`${MONITORS}/selected`, {
      intent: "delete",
      id: [shop, mail],
    });
    expect(several.text).toContain("left without a monitor: “Chat”, “Pager”, “Both”, “Relay”.");

    await monitors.send(`${MONITORS}/${shop}/delete`, {});
    const noticesOf = async (id: string) =>
      readHtml((await webhooks.open(`${WEBHOOK_LIST}/${id}`)).text).texts(".notice");
    expect(await noticesOf(chat.id)).toEqual([
      expect.stringContaining("This webhook gets no events of monitors."),
    ]);
    expect(await noticesOf(pager.id)).toEqual([
      expect.stringContaining("This webhook gets no events."),
    ]);
    expect(await noticesOf(both.id)).toEqual([]);
    expect(await noticesOf(quiet.id)).toEqual([]);
    expect(readHtml((await webhooks.open(WEBHOOK_LIST)).text).texts("tbody .state")).toEqual([
      "Enabled",
      "Enabled",
      "No monitors",
      "Enabled",
    ]);
    const form = formOf((await webhooks.open(`${WEBHOOK_LIST}/${pager.id}/edit`)).text);
    expect(form["of"]).toEqual(["some"]);
    await webhooks.send(`${WEBHOOK_LIST}/${pager.id}/edit`, { ...form, description: "Pager 2" });
    expect(webhooks.rows().map((row) => row.monitors)).toEqual([[], [], [mail], []]);
  });

  test("a webhook for a page names the selected monitors whose events are not of that page", async () => {
    const { monitors, webhooks } = await openBoth();
    await using _ = monitors;
    const api = monitors.site.components["API"] ?? "";
    const other = await monitors.app.page({ slug: "third", name: "Third" }, ["Mail"]);
    const shop = await monitors.make({ name: "Shop", component_ids: [api] });
    const wide = await monitors.make({
      name: "Wide",
      component_ids: [api, other.components["Mail"] ?? ""],
    });
    const alone = await monitors.make({ name: "Alone" });
    const { id } = await webhooks.made({
      of: "some",
      monitors: [shop, wide, alone],
      page: monitors.site.page.id,
      description: "Of the page",
    });
    const screen = readHtml((await webhooks.open(`${WEBHOOK_LIST}/${id}`)).text);
    expect(screen.texts(".facts a.chip")).toEqual(["Shop", "Alone", "Wide"]);
    expect(screen.texts(".facts .cell-note").join(" ")).toContain(
      "Not sent, since their events are not of the page",
    );
    const notified = async (monitor: string) =>
      readHtml((await monitors.open(`${MONITORS}/${monitor}`)).text).texts(
        "#monitor-notified .detail-name",
      );
    const form = (await monitors.open(`${MONITORS}/${wide}/edit`)).text;
    expect(form).toContain("only while all components are on the page Acme");
    expect(await notified(shop)).toEqual(["Of the page"]);
    expect(await notified(wide)).toEqual([]);
    expect(await notified(alone)).toEqual([]);
  });
});
