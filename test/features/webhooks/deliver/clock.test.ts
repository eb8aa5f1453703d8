import { describe, expect, test } from "bun:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/base/time";
import { createDeliverySite } from "../../../support/delivery-site";
import { startReceiver } from "../../../support/receiver";

/** Fails at the first two messages, so that the third is five minutes away. */
const failingTwice = () => startReceiver((_message, count) => (count <= 2 ? 500 : 200));

describe("deliveries after a change of the clock", () => {
  test("a clock set back by an hour does not prolong the waits of deliveries", async () => {
    await using receiver = failingTwice();
    await using site = await createDeliverySite();
    const { clock } = site.app;
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.pass(MINUTE_MS);
    expect(receiver.received).toHaveLength(2);

    clock.setWallClock(clock.now() - HOUR_MS);
    await site.recordEvents("cmp_2");
    await site.idle();
    expect(receiver.received.at(-1)?.data.id).toBe("cmp_2");
    // On the test's clock: at most five minutes and a fifth more.
    await clock.advance(6 * MINUTE_MS);
    await site.idle();
    expect(receiver.received).toHaveLength(4);
    expect(site.deliveries().map(({ status }) => status)).toEqual(["delivered", "delivered"]);
  });

  test("a clock set forward by an hour makes due deliveries start within a minute", async () => {
    await using receiver = failingTwice();
    await using site = await createDeliverySite();
    const { clock } = site.app;
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.pass(10_000);
    expect(receiver.received).toHaveLength(2);
    clock.setWallClock(clock.now() + HOUR_MS);
    await site.recordEvents("cmp_2");
    await site.idle();
    await clock.advance(MINUTE_MS);
    await site.idle();
    expect(receiver.received).toHaveLength(4);
    expect(site.deliveries().map(({ status }) => status)).toEqual(["delivered", "delivered"]);
  });

  test("a clock that was far ahead does not block a retry after it is corrected", async () => {
    await using receiver = startReceiver((_message, count) => (count === 1 ? 500 : 200));
    await using site = await createDeliverySite();
    const { clock } = site.app;
    const now = clock.now();
    await site.endpoint(receiver.url);
    clock.setWallClock(now + 400 * DAY_MS);
    await site.recordEvents("cmp_1");
    await site.idle();
    expect(site.deliveries()).toMatchObject([{ status: "pending", tries: 1 }]);
    await site.deliverer.stop(0);
    clock.setWallClock(now);
    await site.restart();
    await receiver.until(2);
    await site.idle();
    expect(site.deliveries()).toMatchObject([{ status: "delivered", tries: 2 }]);
  });

  test("a clock set back while the deliverer is stopped does not delay new deliveries", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const { clock } = site.app;
    await site.endpoint(receiver.url);
    await site.deliverer.stop(0);
    await site.recordEvents("cmp_1");
    clock.setWallClock(clock.now() - HOUR_MS);
    await site.restart();
    await receiver.until(1);
    await site.idle();
    expect(site.deliveries()).toMatchObject([{ status: "delivered" }]);
  });
});
