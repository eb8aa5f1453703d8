import { describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { HOUR_MS } from "../../../src/base/time";
import { createDeliverySite } from "../../support/delivery-site";
import { type Received, startReceiver } from "../../support/receiver";
import { createWebhookSite, WEBHOOKS } from "../../support/webhook-site";

const rotation = (id: string) => [`/${id}/rotate-secret`, { method: "POST" }] as const;

describe("rotating a webhook's secret", () => {
  test("rotating a webhook's secret returns a new secret once", async () => {
    await using site = await createWebhookSite();
    const { id, secret, ...made } = await site.create({ description: "Chat" });
    const { status, headers, body } = await site.call(...rotation(id));
    expect(status).toBe(200);
    expect(body).toEqual({
      ...made,
      id,
      version: 2,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    expect(body.secret).not.toBe(secret);
    expect(headers.get("cache-control")).toBe("no-store");
    expect((await site.read(id)).secret).toBeUndefined();
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "webhook.rotate_secret",
      targetId: id,
      summary: "Gave the webhook “Chat” another secret",
    });
  });

  test("both secrets sign for 24 hours after a rotation, then only the new one", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const { id, secret: before } = await site.endpoint(receiver.url);
    const key = await site.app.keyWith("manage:webhooks");
    const sent = { method: "POST", key };
    const { secret: after } = (await site.app.call(`${WEBHOOKS}/${id}/rotate-secret`, sent)).body;
    for (const ms of [0, 24 * HOUR_MS - 1, 1]) {
      await site.app.clock.advance(ms);
      await site.recordEvents("cmp_1");
      await site.idle();
    }
    const isSigned = ({ id: eventId, body, headers }: Received, secret: string) => {
      const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
      const signature = new Webhook(secret).sign(eventId, at, body);
      return headers["webhook-signature"]?.split(" ").includes(signature);
    };
    const verdicts = receiver.received.map((each) => [
      isSigned(each, before),
      isSigned(each, after),
    ]);
    expect(verdicts).toEqual([
      [true, true],
      [true, true],
      [false, true],
    ]);
  });
});
