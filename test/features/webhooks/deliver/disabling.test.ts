import { describe, expect, test } from "bun:test";
import { deleteWebhook } from "../../../../src/features/webhooks/webhooks";
import { getWebhookRecord } from "../../../../src/features/webhooks/records";
import { redeliverFailed, sendTestEvent } from "../../../../src/features/webhooks/deliveries";
import type { UpdateWebhookBody } from "../../../../src/features/webhooks/wire";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { createDeliverySite, type DeliverySite } from "../../../support/delivery-site";
import { startReceiver } from "../../../support/receiver";
import { updateWebhook } from "../../../support/examined";

const rowOf = ({ app }: DeliverySite, id: string) =>
  getWebhookRecord(app.ctx.db, id, app.clock.now()).row;

const statusesOf = (site: DeliverySite) => site.deliveries().map(({ status }) => status);

function setEnabled({ app: { ctx } }: DeliverySite, id: string, enabled: boolean) {
  return ctx.db.write((tx) => updateWebhook(ctx, tx, id, { enabled }, CLI_ACTOR));
}

describe("endpoints that answer 410", () => {
  test("an endpoint that answers 410 is disabled with a reason, and its pending deliveries are cancelled", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1", "cmp_2");
    await site.idle();
    receiver.answer = () => 410;
    await site.recordEvents("cmp_3");
    await site.idle();
    expect(rowOf(site, id)).toMatchObject({
      enabled: false,
      disabledReason: "The endpoint answered 410 Gone.",
      disabledAt: site.app.clock.now(),
      version: 2,
    });
    expect(statusesOf(site)).toEqual(["cancelled", "cancelled", "failed"]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "webhook.disable",
      actorKind: "system",
      targetId: id,
    });
    const receivedBefore = receiver.received.length;
    await site.recordEvents("cmp_4");
    await site.pass(DAY_MS);
    expect(receiver.received).toHaveLength(receivedBefore);
    expect(site.deliveries()).toHaveLength(3);
  });

  test("an endpoint that answers 410 does not affect other endpoints", async () => {
    await using gone = startReceiver(() => 410);
    await using there = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(gone.url);
    const { id } = await site.endpoint(there.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    await site.recordEvents("cmp_2");
    await site.idle();
    expect(rowOf(site, id).enabled).toBe(true);
    expect(there.received).toHaveLength(2);
  });
});

describe("endpoints that fail", () => {
  test("an endpoint that fails for five days is disabled with a reason", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    for (let day = 0; day < 5; day++) {
      await site.recordEvents(`cmp_${day}`);
      await site.idle();
      expect(rowOf(site, id).enabled).toBe(true);
      await site.pass(DAY_MS);
    }
    await site.recordEvents("cmp_last");
    await site.pass(DAY_MS / 2);
    expect(rowOf(site, id)).toMatchObject({
      enabled: false,
      disabledReason: "All deliveries have failed for 5 days.",
    });
    expect(statusesOf(site)).not.toContain("pending");
  });

  test("an endpoint with two short failures a week apart is not disabled", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const { id } = await site.endpoint(receiver.url);
    await ctx.db.write((tx) => sendTestEvent(ctx, tx, id, CLI_ACTOR));
    await site.pass(7 * DAY_MS);
    await site.recordEvents("cmp_1");
    await site.pass(HOUR_MS);
    expect(rowOf(site, id)).toMatchObject({ enabled: true, disabledReason: null });
    receiver.answer = () => 200;
    await site.pass(DAY_MS);
    expect(statusesOf(site)).toEqual(["failed", "delivered"]);
    expect(rowOf(site, id)).toMatchObject({ enabled: true, failingSince: null });
  });

  test("a new URL resets the failing time of an endpoint, and a new description does not", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    const { failingSince } = rowOf(site, id);
    expect(failingSince).not.toBeNull();
    const change = (input: UpdateWebhookBody) =>
      ctx.db.write((tx) => updateWebhook(ctx, tx, id, input, CLI_ACTOR));
    await change({ description: "The same place" });
    expect(rowOf(site, id).failingSince).toBe(failingSince);
    await change({ url: `${receiver.url}/mended` });
    expect(rowOf(site, id).failingSince).toBeNull();
  });

  test("an endpoint with occasional successes is not disabled", async () => {
    await using receiver = startReceiver(({ data }) => (data.id === "cmp_2" ? 200 : 500));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    for (let day = 0; day < 7; day++) {
      await site.recordEvents(`cmp_${day}`);
      await site.idle();
      await site.pass(DAY_MS);
    }
    expect(rowOf(site, id).enabled).toBe(true);
    expect(rowOf(site, id).failingSince).not.toBeNull();
  });
});

describe("pending deliveries of an endpoint", () => {
  test("disabling an endpoint cancels its deliveries, which can be sent again after it is enabled", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const { ctx } = site.app;
    const since = site.app.clock.now();
    await site.recordEvents("cmp_1", "cmp_2");
    await site.idle();
    await setEnabled(site, id, false);
    await site.idle();
    expect(statusesOf(site)).toEqual(["cancelled", "cancelled"]);
    const again = () =>
      ctx.db.write((tx) => redeliverFailed(ctx, tx, { webhookId: id, since }, CLI_ACTOR));
    expect(again()).rejects.toMatchObject({ code: "conflict" });
    expect(statusesOf(site)).toEqual(["cancelled", "cancelled"]);

    receiver.answer = () => 200;
    await setEnabled(site, id, true);
    await site.pass(DAY_MS);
    expect(receiver.received).toHaveLength(2);
    expect(await again()).toEqual({ count: 2, next: undefined });
    await site.idle();
    expect(statusesOf(site)).toEqual(["delivered", "delivered"]);
    const ids = receiver.received.map((message) => message.id);
    expect(ids.slice(2).toSorted()).toEqual(ids.slice(0, 2).toSorted());
  });

  test("deleting an endpoint cancels all its deliveries, even a thousand", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const { ctx } = site.app;
    await site.deliverer.stop(0);
    await site.recordEvents(...Array.from({ length: 1_200 }, (_, index) => `cmp_${index}`));
    await ctx.db.write((tx) => deleteWebhook(ctx, tx, id, CLI_ACTOR));
    await site.restart();
    await site.idle();
    expect(new Set(statusesOf(site))).toEqual(new Set(["cancelled"]));
    expect(receiver.received).toEqual([]);
  });

  test("a running attempt that succeeds is delivered although its endpoint is disabled meanwhile", async () => {
    const answer = Promise.withResolvers<number>();
    await using receiver = startReceiver(() => answer.promise);
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1", "cmp_1");
    await receiver.until(1);
    await setEnabled(site, id, false);
    answer.resolve(200);
    await site.idle();
    expect(statusesOf(site)).toEqual(["delivered", "cancelled"]);
    expect(receiver.received).toHaveLength(1);
  });

  test("a running attempt that fails stays cancelled if its endpoint is disabled meanwhile", async () => {
    const answer = Promise.withResolvers<number>();
    await using receiver = startReceiver(() => answer.promise);
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await receiver.until(1);
    await setEnabled(site, id, false);
    answer.resolve(500);
    await site.idle();
    await site.pass(MINUTE_MS);
    expect(statusesOf(site)).toEqual(["cancelled"]);
    expect(site.deliveries()).toMatchObject([{ tries: 1 }]);
  });
});
