import { describe, expect, test } from "bun:test";
import { deleteWebhook } from "../../../src/features/webhooks/webhooks";
import { sendTestEvent } from "../../../src/features/webhooks/deliveries";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createDeliverySite, type DeliverySite } from "../../support/delivery-site";
import { updateWebhook } from "../../support/examined";

/** Nobody is there: what is queued stays queued. */
const UNSUBSCRIBED = "http://127.0.0.1:9/hook";

async function queuedFor(site: DeliverySite, ...ids: string[]) {
  const rows = site.deliveries();
  return ids.map((id) => rows.filter(({ webhookId }) => webhookId === id).length);
}

describe("queueing of events", () => {
  test("an event is queued once for each endpoint that listens to its type", async () => {
    await using site = await createDeliverySite();
    const all = await site.endpoint(UNSUBSCRIBED);
    const some = await site.endpoint(UNSUBSCRIBED, {
      events: ["incident.created", "monitor.down"],
    });
    const others = await site.endpoint(UNSUBSCRIBED, { events: ["incident.resolved"] });
    await site.recordEvents({ type: "incident.created" }, { type: "monitor.down" });
    expect(await queuedFor(site, all.id, some.id, others.id)).toEqual([2, 2, 0]);
  });

  test("an event is queued for the endpoints of its page and of all pages", async () => {
    await using site = await createDeliverySite();
    const acme = await site.app.page({ slug: "acme", name: "Acme" });
    const other = await site.app.page({ slug: "other", name: "Other" });
    const every = await site.endpoint(UNSUBSCRIBED);
    const one = await site.endpoint(UNSUBSCRIBED, { page: "acme" });
    const another = await site.endpoint(UNSUBSCRIBED, { page: other.page.id });
    await site.recordEvents({ pageId: acme.page.id });
    expect(await queuedFor(site, every.id, one.id, another.id)).toEqual([1, 1, 0]);
    // What happens on no page, such as to a monitor, is for those that listen to all of it.
    await site.recordEvents({ type: "monitor.down", pageId: null });
    expect(await queuedFor(site, every.id, one.id, another.id)).toEqual([2, 1, 0]);
  });

  test("an event is not queued for disabled, deleted or later endpoints", async () => {
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const enabled = await site.endpoint(UNSUBSCRIBED);
    const disabled = await site.endpoint(UNSUBSCRIBED, { enabled: false });
    const switchedOff = await site.endpoint(UNSUBSCRIBED);
    const deleted = await site.endpoint(UNSUBSCRIBED);
    await ctx.db.write((tx) => {
      updateWebhook(ctx, tx, switchedOff.id, { enabled: false }, CLI_ACTOR);
      deleteWebhook(ctx, tx, deleted.id, CLI_ACTOR);
    });
    await site.recordEvents("cmp_1");
    const later = await site.endpoint(UNSUBSCRIBED);
    await site.idle();
    const ids = [enabled.id, disabled.id, switchedOff.id, deleted.id, later.id];
    expect(await queuedFor(site, ...ids)).toEqual([1, 0, 0, 0, 0]);
  });

  test("an event is queued in the transaction of its change", async () => {
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const { id } = await site.endpoint(UNSUBSCRIBED);
    const record = (tx: Parameters<Parameters<typeof ctx.db.write>[0]>[0]) =>
      ctx.outbox.record(tx, { type: "monitor.up", pageId: null, subjectId: "mon_1", data: {} });
    const undone = ctx.db.write((tx) => {
      record(tx);
      throw new Error("undone");
    });
    expect(undone).rejects.toThrow("undone");
    await undone.catch(() => undefined);
    expect([await queuedFor(site, id), site.app.events()]).toEqual([[0], []]);
    await ctx.db.write(record);
    expect(await queuedFor(site, id)).toEqual([1]);
  });

  test("a test event is queued only for the tested endpoint", async () => {
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const tried = await site.endpoint(UNSUBSCRIBED, { events: ["incident.created"] });
    const other = await site.endpoint(UNSUBSCRIBED);
    await ctx.db.write((tx) => sendTestEvent(ctx, tx, tried.id, CLI_ACTOR));
    expect(await queuedFor(site, tried.id, other.id)).toEqual([1, 0]);
  });
});
