import { describe, expect, test } from "bun:test";
import {
  getDelivery,
  getTries,
  listDeliveries,
  redeliver,
  redeliverFailed,
} from "../../../src/features/webhooks/deliveries";
import { CLI_ACTOR } from "../../../src/base/actor";
import { DAY_MS, MINUTE_MS } from "../../../src/base/time";
import { createDeliverySite, type DeliverySite } from "../../support/delivery-site";
import { startReceiver } from "../../support/receiver";
import { updateWebhook } from "../../support/examined";

const NEWEST = "~";

const listed = ({ app }: DeliverySite, webhookId: string, more: object = {}) =>
  listDeliveries(app.ctx.db, { webhookId, status: null, before: NEWEST, limit: 50, ...more });

const again = ({ app: { ctx } }: DeliverySite, webhookId: string, id: string) =>
  ctx.db.write((tx) => redeliver(ctx, tx, webhookId, id, CLI_ACTOR));

describe("the log of deliveries", () => {
  test("the log of deliveries is newest first and contains event types and last attempts", async () => {
    await using receiver = startReceiver(({ data }, count) =>
      data.id === "mon_1" ? (count > 1 ? new Response("slow down", { status: 503 }) : 500) : 200,
    );
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const { id: other } = await site.endpoint(receiver.url);
    await site.recordEvents({ type: "monitor.down", subjectId: "mon_1" });
    await site.idle();
    await site.recordEvents({ type: "incident.created", subjectId: "inc_1" });
    await site.pass(10_000);
    const rows = listed(site, id);
    expect(rows.map(({ eventType }) => eventType)).toEqual(["incident.created", "monitor.down"]);
    expect(rows[0]?.lastTry).toMatchObject({ number: 1, statusCode: 200 });
    expect(rows[1]?.lastTry).toMatchObject({ number: 2, statusCode: 503, answer: "slow down" });
    expect(rows.every(({ row }) => row.webhookId === id)).toBe(true);
    expect(listed(site, other)).toHaveLength(2);
    expect(listed(site, id, { status: "delivered" })).toHaveLength(1);
    expect(listed(site, id, { before: rows[0]?.row.id })).toHaveLength(1);
  });

  test("the log contains each attempt of a delivery, and not those of another endpoint", async () => {
    await using receiver = startReceiver((_message, count) => (count < 3 ? 500 : 200));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const other = await site.endpoint(receiver.url, { events: ["monitor.up"] });
    await site.recordEvents("cmp_1");
    await site.pass(10 * MINUTE_MS);
    const [{ row } = { row: { id: "" } }] = listed(site, id);
    const { db } = site.app.ctx;
    expect(getTries(db, row.id).map(({ statusCode }) => statusCode)).toEqual([500, 500, 200]);
    expect(getDelivery(db, id, row.id).row.status).toBe("delivered");
    expect(() => getDelivery(db, other.id, row.id)).toThrow("no such delivery");
  });
});

describe("redeliveries", () => {
  test("a redelivery sends a delivered event again with the same id", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    const [{ row } = { row: { id: "" } }] = listed(site, id);
    const queued = await again(site, id, row.id);
    expect(queued.row.status).toBe("pending");
    await site.idle();
    expect(receiver.received).toHaveLength(2);
    expect(new Set(receiver.received.map((message) => message.id)).size).toBe(1);
    expect(site.deliveries()).toMatchObject([{ status: "delivered", tries: 2 }]);
    expect(site.app.audit().at(-1)).toMatchObject({ action: "webhook.redeliver", targetId: id });
  });

  test("a redelivery of a failed event starts with the first retry delay", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.pass(4 * DAY_MS);
    expect(site.deliveries()).toMatchObject([{ status: "failed", tries: 10 }]);
    const [{ row } = { row: { id: "" } }] = listed(site, id);
    await again(site, id, row.id);
    await site.pass(10 * MINUTE_MS);
    expect(site.deliveries()).toMatchObject([{ status: "pending", tries: 13 }]);
    receiver.answer = () => 200;
    await site.pass(60 * MINUTE_MS);
    expect(site.deliveries()).toMatchObject([{ status: "delivered", tries: 14 }]);
  });

  test("a redelivery of all failures since a time sends only undelivered events", async () => {
    await using receiver = startReceiver(({ data }) => (data.id === "cmp_ok" ? 200 : 500));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const { ctx, clock } = site.app;
    await site.recordEvents("cmp_before");
    await site.pass(4 * DAY_MS);
    // It would be disabled for failing all the time.
    await site.recordEvents("cmp_ok");
    await site.idle();
    const since = clock.now();
    await site.recordEvents("cmp_1", "cmp_2", "cmp_ok");
    await site.pass(4 * DAY_MS);
    const receivedBefore = receiver.received.length;
    receiver.answer = () => 200;
    const outcome = await ctx.db.write((tx) =>
      redeliverFailed(ctx, tx, { webhookId: id, since }, CLI_ACTOR),
    );
    expect(outcome).toEqual({ count: 2, next: undefined });
    await site.idle();
    const sent = receiver.received.slice(receivedBefore).map(({ data }) => data.id);
    expect(sent.toSorted()).toEqual(["cmp_1", "cmp_2"]);
    const statuses = site.deliveries().map(({ status }) => status);
    expect(statuses).toEqual(["failed", "delivered", "delivered", "delivered", "delivered"]);
  });

  test("a redelivery of many failures continues in further transactions", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const { ctx } = site.app;
    await site.deliverer.stop(0);
    await site.recordEvents(...Array.from({ length: 700 }, (_, index) => `cmp_${index}`));
    const enable = (enabled: boolean) =>
      ctx.db.write((tx) => updateWebhook(ctx, tx, id, { enabled }, CLI_ACTOR));
    await enable(false);
    await site.restart();
    await site.idle();
    await site.deliverer.stop(0);
    await enable(true);
    const resend = (after?: string) =>
      ctx.db.write((tx) => redeliverFailed(ctx, tx, { webhookId: id, since: 0, after }, CLI_ACTOR));
    const first = await resend();
    expect(first.count).toBe(500);
    expect(first.next).toStartWith("dlv_");
    expect(await resend(first.next)).toEqual({ count: 200, next: undefined });
    expect(new Set(site.deliveries().map(({ status }) => status))).toEqual(new Set(["pending"]));
  });
});
