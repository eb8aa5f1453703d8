import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { redeliver } from "../../../../src/features/webhooks/deliveries";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { createDeliverySite } from "../../../support/delivery-site";
import { type Received, startReceiver } from "../../../support/receiver";
import { updateWebhook } from "../../../support/examined";

describe("delivery of events", () => {
  test("an event reaches its endpoint at once and is verified by the published library", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    // The published library holds the time of a message against the machine's own.
    site.app.clock.setWallClock(Date.now());
    const { secret } = await site.endpoint(receiver.url);
    await site.recordEvents({
      type: "incident.created",
      subjectId: "inc_1",
      data: { name: "Ünï" },
    });
    await site.idle();
    expect(receiver.received).toHaveLength(1);
    const { body, headers, id } = receiver.received[0] as Received;
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: "incident.created",
      timestamp: expect.any(String),
      data: { name: "Ünï" },
    });
    expect(headers["content-type"]).toBe("application/json");
    const [delivery] = site.deliveries();
    expect(delivery).toMatchObject({ eventId: id, status: "delivered", tries: 1, nextTryAt: null });
    expect(site.tries()).toMatchObject([{ number: 1, statusCode: 200, error: null }]);
  });

  test("an event that is rolled back is not delivered", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    const { ctx } = site.app;
    const undone = ctx.db.write((tx) => {
      ctx.outbox.record(tx, {
        type: "incident.created",
        pageId: null,
        subjectId: "inc_1",
        data: {},
      });
      throw new Error("undone");
    });
    expect(undone).rejects.toThrow("undone");
    await site.recordEvents("cmp_1");
    await site.idle();
    expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual([
      "component.status_changed",
    ]);
  });

  test("an event is retried with the same id until its receiver is available again", async () => {
    await using receiver = startReceiver(() => 503);
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.pass(HOUR_MS);
    const triesWhileDown = receiver.received.length;
    expect(triesWhileDown).toBe(4);
    expect(site.deliveries()).toMatchObject([{ status: "pending", tries: 4 }]);

    receiver.answer = () => 204;
    await site.pass(3 * HOUR_MS);
    expect(receiver.received).toHaveLength(triesWhileDown + 1);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(site.deliveries()).toMatchObject([{ status: "delivered", tries: 5 }]);
  });

  test("an event fails after ten attempts over about 76 hours", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.pass(92 * HOUR_MS);
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
    expect(site.deliveries()).toMatchObject([{ status: "failed", tries: 10, nextTryAt: null }]);
    const times = site.tries().map(({ at }) => at);
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    const meant = [5 / 3600, 1 / 12, 0.5, 2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS);
    expect(waits).toHaveLength(meant.length);
    for (const [index, wait] of waits.entries()) {
      expect(wait / (meant[index] ?? 0)).toBeGreaterThanOrEqual(0.8);
      expect(wait / (meant[index] ?? 0)).toBeLessThanOrEqual(1.2);
    }
  });

  test.each([
    ["seconds", () => "120"],
    ["a date", (now: number) => new Date(now + 2 * MINUTE_MS).toUTCString()],
  ])(
    "a refused event is not sent again before the time in Retry-After, given as %s",
    async (_how, header) => {
      await using site = await createDeliverySite();
      const { clock } = site.app;
      await using receiver = startReceiver((_message, count) => {
        if (count > 1) return 200;
        const now = clock.now();
        const headers = { "Retry-After": header(now), Date: new Date(now).toUTCString() };
        return new Response(null, { status: 429, headers });
      });
      await site.endpoint(receiver.url);
      await site.recordEvents("cmp_1");
      await site.pass(2 * MINUTE_MS - SECOND_MS);
      expect(receiver.received).toHaveLength(1);
      await site.pass(2 * SECOND_MS);
      expect(receiver.received).toHaveLength(2);
      expect(site.deliveries()).toMatchObject([{ status: "delivered" }]);
    },
  );

  test("an event that the endpoint's format skips is removed from the queue", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url, { format: "slack" });
    await site.recordEvents({ type: "incident.updated", data: { name: "Quiet", notify: false } });
    await site.idle();
    expect(receiver.received).toEqual([]);
    expect(site.deliveries()).toEqual([]);

    await site.recordEvents({ type: "incident.updated", data: { name: "Loud", notify: true } });
    await site.idle();
    expect(receiver.received).toHaveLength(1);
  });

  test("a delivered event stays in the log if the endpoint's new format skips it", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const { ctx } = site.app;
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents({ type: "incident.updated", data: { name: "Quiet", notify: false } });
    await site.idle();
    const [{ id: deliveryId } = { id: "" }] = site.deliveries();
    await ctx.db.write((tx) => {
      updateWebhook(ctx, tx, id, { format: "slack" }, CLI_ACTOR);
      redeliver(ctx, tx, id, deliveryId, CLI_ACTOR);
    });
    // The former message counts for the pace of the new format.
    await site.pass(2 * SECOND_MS);
    expect(receiver.received).toHaveLength(1);
    expect(site.deliveries()).toMatchObject([
      { id: deliveryId, status: "cancelled", tries: 1, nextTryAt: null },
    ]);
    expect(site.tries()).toMatchObject([{ statusCode: 200 }]);
  });

  test("a notification links to the page's custom domain", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const page = { slug: "acme", custom_domains: ["status.acme.example"] };
    const { page: acme } = await site.app.page(page);
    await site.endpoint(new URL(receiver.url).origin, {
      format: "gotify",
      settings: { token: "t0ken" },
    });
    const data = { name: "API", status: "major_outage" };
    await site.recordEvents({ pageId: acme.id, data }, { pageId: null, data });
    await site.idle();
    const links = receiver.received.map(
      ({ body }) => JSON.parse(body).extras["client::notification"].click.url,
    );
    expect(links).toEqual(["https://status.acme.example/status/acme", "https://status.test/"]);
  });

  test("a retry sends the original event to the endpoint's current URL", async () => {
    await using before = startReceiver(() => 500);
    await using after = startReceiver();
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(before.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    const { ctx } = site.app;
    await ctx.db.write((tx) => updateWebhook(ctx, tx, id, { url: after.url }, CLI_ACTOR));
    await site.pass(MINUTE_MS);
    expect(before.received).toHaveLength(1);
    expect(after.received.map(({ body }) => body)).toEqual(before.received.map(({ body }) => body));
  });
});
