import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../support/app";
import { createDeliverySite } from "../../support/delivery-site";
import { startReceiver } from "../../support/receiver";
import { eventErrors } from "../../support/webhook-events";
import { createWebhookSite, SECRET_DESTINATIONS, WEBHOOKS } from "../../support/webhook-site";

describe("test events of webhooks", () => {
  test("a test event is sent to one webhook only, and its delivery shows the result", async () => {
    await using receiver = startReceiver(() => new Response("Thank you", { status: 202 }));
    await using other = startReceiver();
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url, { events: ["monitor.up"] });
    await site.endpoint(other.url);
    const key = await site.app.keyWith("manage:webhooks");
    const { status, body } = await site.app.call(`${WEBHOOKS}/${id}/test`, { method: "POST", key });
    expect(status).toBe(200);
    expect(body.id).toMatch(/^dlv_/);
    expect(body).toMatchObject({
      event_type: "webhook.test",
      status: "pending",
      tries: 0,
      last_try: null,
    });
    await site.idle();
    expect(other.received).toEqual([]);
    expect(receiver.received.map((each) => each.id)).toEqual([body.event_id]);
    const read = await site.app.call(`${WEBHOOKS}/${id}/deliveries/${body.id}`, { key });
    expect(read.body).toMatchObject({
      status: "delivered",
      tries: 1,
      next_try_at: null,
      last_try: { status_code: 202, error: null, answer: "Thank you" },
      delivered_at: expect.any(String),
    });
    expect(site.app.audit().at(-1)).toMatchObject({ action: "webhook.test", targetId: id });
  });

  test("a test event contains the webhook without its URL, settings and secrets", async () => {
    await using site = await createWebhookSite();
    const { url, settings } = SECRET_DESTINATIONS.telegram ?? { url: "" };
    const given = { url, settings, format: "telegram", page: "acme", description: "Chat" };
    const { id } = await site.create(given);
    await site.call(`/${id}/test`, { method: "POST" });
    const event = site.app.events().at(-1);
    expect(event).toMatchObject({ type: "webhook.test", subjectId: id, pageId: site.pageId });
    expect(eventErrors(site.app.events())).toEqual([]);
    expect(event?.data).toEqual({
      id,
      ref: "chat",
      description: "Chat",
      events: ["*"],
      page: "acme",
      page_id: site.pageId,
      format: "telegram",
      version: 1,
    });
  });

  test("a test event for a disabled webhook is a conflict, and nothing is written", async () => {
    await using site = await createWebhookSite();
    const { id } = await site.create({ enabled: false });
    const before = await site.state();
    expectProblem(await site.call(`/${id}/test`, { method: "POST" }), "conflict");
    expect(await site.state()).toEqual(before);
    await site.patch(id, { enabled: true });
    expect((await site.call(`/${id}/test`, { method: "POST" })).status).toBe(200);
  });
});
