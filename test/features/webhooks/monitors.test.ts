import { describe, expect, test } from "bun:test";
import { deleteMonitor } from "../../../src/features/monitors/monitors";
import { listAllWebhooks } from "../../../src/features/webhooks/store";
import { listDeliveries } from "../../../src/features/webhooks/deliveries";
import { CLI_ACTOR } from "../../../src/base/actor";
import { NEWEST } from "../../../src/base/ids";
import type { EventType } from "../../../src/events/outbox";
import { expectProblem, type TestApp } from "../../support/app";
import { createWebhookSite, RECEIVER } from "../../support/webhook-site";
import { createMonitor } from "../../support/examined";

/** Creates a monitor and returns its id. */
async function monitor({ ctx }: TestApp, name: string): Promise<string> {
  const input = { type: "tcp", name, config: { host: "a.test", port: 80 } } as const;
  const { record } = await ctx.db.write((tx) => createMonitor(ctx, tx, input, CLI_ACTOR));
  return record.row.id;
}

/** Records an event about a subject, and returns the ids of the webhooks that receive it. */
async function receiversOf({ ctx }: TestApp, type: EventType, subjectId: string) {
  const event = { type, pageId: null, subjectId, data: {} };
  const count = () =>
    listAllWebhooks(ctx.db, {}).map(({ id: webhookId }) => {
      const all = { webhookId, status: null, before: NEWEST, limit: 100 };
      return { webhookId, deliveries: listDeliveries(ctx.db, all).length };
    });
  const before = count();
  await ctx.db.write((tx) => ctx.outbox.record(tx, event));
  return count()
    .filter(({ deliveries }, index) => deliveries > (before[index]?.deliveries ?? 0))
    .map(({ webhookId }) => webhookId);
}

describe("webhooks for selected monitors", () => {
  test("a webhook gets the events of all monitors unless monitors are named by id or ref", async () => {
    await using site = await createWebhookSite();
    const shop = await monitor(site.app, "Shop");
    const mail = await monitor(site.app, "Mail");
    expect((await site.create()).monitors).toEqual(["*"]);
    const { id } = await site.create({ monitors: ["mail", shop] });
    expect((await site.read(id)).monitors).toEqual([mail, shop]);
    const changed = await site.patch(id, { monitors: ["shop"] });
    expect(changed.body).toMatchObject({ monitors: [shop], version: 2 });
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "webhook.update",
      summary: expect.stringMatching(/: monitors$/),
    });
    expect((await site.patch(id, { monitors: [shop] })).body.version).toBe(2);
    expect((await site.patch(id, { description: "Chat" })).body.monitors).toEqual([shop]);
    expect((await site.patch(id, { monitors: [] })).body.monitors).toEqual([]);
    expect((await site.patch(id, { monitors: ["*"] })).body.monitors).toEqual(["*"]);
  });

  test("only the events of the named monitors are sent, and all other events", async () => {
    await using site = await createWebhookSite();
    const { app } = site;
    const shop = await monitor(app, "Shop");
    const mail = await monitor(app, "Mail");
    const all = (await site.create()).id;
    const some = (await site.create({ monitors: [shop] })).id;
    const none = (await site.create({ monitors: [] })).id;
    const types = ["down", "up", "degraded", "reminder", "certificate_expiring"] as const;
    for (const type of types) {
      expect(await receiversOf(app, `monitor.${type}`, shop), type).toEqual([all, some]);
      expect(await receiversOf(app, `monitor.${type}`, mail), type).toEqual([all]);
    }
    expect(await receiversOf(app, "component.status_changed", "cmp_1")).toEqual([all, some, none]);
    expect(await receiversOf(app, "incident.created", "inc_1")).toEqual([all, some, none]);
  });

  test("the type and the page of an event are filtered as well", async () => {
    await using site = await createWebhookSite();
    const shop = await monitor(site.app, "Shop");
    await site.create({ monitors: [shop], page: "acme" });
    const { id } = await site.create({ monitors: [shop], events: ["monitor.down"] });
    expect(await receiversOf(site.app, "monitor.down", shop)).toEqual([id]);
    expect(await receiversOf(site.app, "monitor.up", shop)).toEqual([]);
  });

  test("deleting a monitor removes it from the webhooks that name it, which are audited", async () => {
    await using site = await createWebhookSite();
    const { ctx } = site.app;
    const shop = await monitor(site.app, "Shop");
    const mail = await monitor(site.app, "Mail");
    const both = await site.create({ monitors: [shop, mail] });
    const one = await site.create({ monitors: [shop] });
    const other = await site.create({ monitors: [mail] });
    await ctx.db.write((tx) => deleteMonitor(ctx, tx, shop, CLI_ACTOR));
    expect(await site.read(both.id)).toMatchObject({ monitors: [mail], version: 2 });
    expect(await site.read(one.id)).toMatchObject({ monitors: [], version: 2 });
    expect(await site.read(other.id)).toMatchObject({ monitors: [mail], version: 1 });
    const audited = site.app.audit().filter(({ action }) => action === "webhook.update");
    expect(audited.map(({ targetId, summary }) => [targetId, summary])).toEqual([
      [both.id, expect.stringMatching(/: monitors$/)],
      [one.id, expect.stringMatching(/: monitors, none is left$/)],
    ]);
    expect(await receiversOf(site.app, "monitor.down", mail)).toEqual([both.id, other.id]);
  });

  test.each([
    ["an unknown monitor", ["mon_01kah2v9w0e0rs6x0h3ye0a1bc"], "#/monitors/0", "is not a monitor"],
    ["a monitor twice", ["shop", "ID"], "#/monitors/1", "names the same monitor twice"],
    ["all and one", ["*", "shop"], "#/monitors", 'must be ["*"] alone or a list of monitors'],
    ["null", null, "#/monitors", "must be a list"],
  ])("%s is rejected in a new webhook and in a change", async (_, monitors, pointer, detail) => {
    await using site = await createWebhookSite();
    const shop = await monitor(site.app, "Shop");
    const { id } = await site.create();
    const before = site.app.audit();
    const named = monitors?.map((each) => (each === "ID" ? shop : each)) ?? null;
    const answers = [
      await site.post({ url: RECEIVER, monitors: named }),
      await site.patch(id, { monitors: named }),
    ];
    for (const answer of answers) {
      expectProblem(answer, "validation_failed");
      expect(answer.body.errors).toContainEqual({ pointer, detail });
    }
    expect(site.app.audit()).toEqual(before);
  });

  test("an unknown monitor is named together with other invalid fields", async () => {
    await using site = await createWebhookSite();
    const answer = await site.post({ url: "ftp://a.test", monitors: ["nothing"], page: "nowhere" });
    const pointers = answer.body.errors.map((error: { pointer: string }) => error.pointer);
    expect(pointers.toSorted()).toEqual(["#/monitors/0", "#/page", "#/url"]);
  });
});
