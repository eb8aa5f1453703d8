import { describe, expect, test } from "bun:test";
import { deliveryHealth, lastFailure, successRate } from "../../../src/features/webhooks/health";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { createDeliverySite, type DeliverySite } from "../../support/delivery-site";
import { startReceiver } from "../../support/receiver";

const rateOf = ({ app }: DeliverySite, id: string) => successRate(app.ctx.db, id, app.clock.now());

describe("an endpoint's success rate", () => {
  test("an endpoint's success rate is the share of successful attempts of the last day; null without any", async () => {
    await using receiver = startReceiver((_message, count) => (count === 1 ? 500 : 200));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const { id: other } = await site.endpoint(receiver.url, { events: ["monitor.up"] });
    expect(rateOf(site, id)).toBeNull();
    await site.recordEvents("cmp_1", "cmp_2", "cmp_3");
    await site.pass(MINUTE_MS);
    expect(rateOf(site, id)).toBe(3 / 4);
    expect(rateOf(site, other)).toBeNull();
    await site.pass(HOUR_MS);
    await site.recordEvents("cmp_4");
    await site.idle();
    expect(rateOf(site, id)).toBe(4 / 5);
    // Counted by the hour: the first one has passed, the second not yet.
    await site.pass(23 * HOUR_MS);
    expect(rateOf(site, id)).toBe(1);
    await site.pass(DAY_MS);
    expect(rateOf(site, id)).toBeNull();
  });
});

describe("hours in the future", () => {
  test("an hour recorded while the clock was ahead does not count in the success rate", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { clock } = site.app;
    const { id } = await site.endpoint(receiver.url);
    const now = clock.now();
    clock.setWallClock(now + 40 * DAY_MS);
    await site.recordEvents("cmp_1");
    await site.idle();
    expect(rateOf(site, id)).toBe(0);
    clock.setWallClock(now);
    expect(rateOf(site, id)).toBeNull();
    receiver.answer = () => 200;
    await site.recordEvents("cmp_2");
    await site.idle();
    expect(rateOf(site, id)).toBe(1);
  });
});

describe("an endpoint's last failure", () => {
  test("an endpoint's last failure is known after a success", async () => {
    await using receiver = startReceiver(({ data }) => (data.id === "cmp_bad" ? 418 : 200));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    const { db } = site.app.ctx;
    await site.recordEvents("cmp_1");
    await site.idle();
    expect(lastFailure(db, id)).toBeUndefined();
    await site.recordEvents("cmp_bad");
    await site.idle();
    const at = site.app.clock.now();
    await site.recordEvents("cmp_2");
    await site.idle();
    expect(lastFailure(db, id)).toEqual({ at, statusCode: 418, error: null });
  });
});

describe("pending deliveries", () => {
  test("pending deliveries are counted by endpoint, with the time of the oldest", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { db } = site.app.ctx;
    const health = () => deliveryHealth(db, site.app.clock.now());
    expect(health()).toEqual({ backlogs: [], count: 0, oldestAt: null });
    const one = await site.endpoint(receiver.url);
    const oldestAt = site.app.clock.now();
    await site.recordEvents("cmp_1", "cmp_2");
    await site.pass(HOUR_MS);
    const two = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_3");
    await site.idle();
    expect(health()).toMatchObject({ count: 4, oldestAt });
    expect(health().backlogs).toEqual([
      { webhookId: one.id, count: 3, oldestAt },
      { webhookId: two.id, count: 1, oldestAt: oldestAt + HOUR_MS },
    ]);
  });

  test("ended attempts are counted by endpoint and result", async () => {
    await using receiver = startReceiver((_message, count) => (count === 1 ? 500 : 200));
    await using site = await createDeliverySite();
    const { id } = await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1", "cmp_2");
    await site.idle();
    expect(site.deliverer.stats()).toEqual({
      underWay: 0,
      tries: new Map([[id, { succeeded: 1, failed: 1, refused: 0 }]]),
    });
  });
});
