import { describe, expect, test } from "bun:test";
import { trimDeliveries } from "../../../src/features/webhooks/deliveries";
import { findPause, setPause } from "../../../src/features/webhooks/store";
import { startHousekeeping } from "../../../src/background";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { createDeliverySite, type DeliverySite } from "../../support/delivery-site";
import { startReceiver } from "../../support/receiver";

const countsOf = (site: DeliverySite) => ({
  events: site.app.events().length,
  deliveries: site.deliveries().length,
  tries: site.tries().length,
});

describe("retention of events and deliveries", () => {
  test("events, deliveries and attempts are kept for 30 days", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    // Weeks pass, in which no key is used.
    site.app.app.usage.stop();
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1", "cmp_2");
    await site.idle();
    await site.app.clock.advance(DAY_MS);
    await site.recordEvents("cmp_3");
    await site.idle();
    // Housekeeping starts late: thirty days of hourly sweeps show no more than the last day's.
    await site.app.clock.advance(28 * DAY_MS);
    const keeping = startHousekeeping(site.app.ctx);
    await site.app.clock.advance(DAY_MS - HOUR_MS);
    expect(countsOf(site)).toEqual({ events: 3, deliveries: 3, tries: 3 });
    await site.app.clock.advance(2 * HOUR_MS);
    expect(countsOf(site)).toEqual({ events: 1, deliveries: 1, tries: 1 });
    await site.app.clock.advance(DAY_MS);
    expect(countsOf(site)).toEqual({ events: 0, deliveries: 0, tries: 0 });
    keeping.cancel();
  });

  test("a pause of a receiver is deleted within an hour of its end, and not before", async () => {
    await using site = await createDeliverySite();
    const { clock, ctx } = site.app;
    const until = clock.now() + 10 * MINUTE_MS;
    await ctx.db.write((tx) => setPause(tx, { destination: "digest", until }));
    const keeping = startHousekeeping(ctx);
    await clock.advance(10 * MINUTE_MS);
    expect(findPause(ctx.db, { destination: "digest" })).toEqual({ until });
    await clock.advance(HOUR_MS);
    expect(findPause(ctx.db, { destination: "digest" })).toBeUndefined();
    keeping.cancel();
  });

  test("expired events are deleted in parts", async () => {
    await using site = await createDeliverySite();
    await site.deliverer.stop(0);
    const { db } = site.app.ctx;
    // An event without deliveries is kept as long as the others.
    await site.recordEvents(...Array.from({ length: 450 }, (_, index) => `cmp_${index}`));
    const before = site.app.clock.now() + 1;
    const left: number[] = [];
    let hasMore = true;
    while (hasMore) {
      hasMore = await db.write((tx) => trimDeliveries(tx, before));
      left.push(countsOf(site).events);
    }
    expect(left).toEqual([250, 50, 0]);
  });

  test("expired deliveries are deleted two hundred per call, with their events", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    const { db } = site.app.ctx;
    for (let index = 0; index < 30; index++) await site.endpoint(`${receiver.url}/${index}`);
    await site.recordEvents(...Array.from({ length: 10 }, (_, index) => `cmp_${index}`));
    await site.idle();
    const before = site.app.clock.now() + 1;
    const left: number[] = [];
    while (await db.write((tx) => trimDeliveries(tx, before))) left.push(countsOf(site).deliveries);
    expect(left).toEqual([100]);
    expect(countsOf(site)).toEqual({ events: 0, deliveries: 0, tries: 0 });
  });

  test("expired events with pending deliveries are kept", async () => {
    await using receiver = startReceiver(() => 500);
    await using site = await createDeliverySite();
    const { db } = site.app.ctx;
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await site.idle();
    const trim = () => db.write((tx) => trimDeliveries(tx, site.app.clock.now() + DAY_MS));
    expect(await trim()).toBe(false);
    expect(countsOf(site)).toEqual({ events: 1, deliveries: 1, tries: 1 });
    receiver.answer = () => 200;
    await site.pass(DAY_MS);
    expect(await trim()).toBe(false);
    expect(countsOf(site)).toEqual({ events: 0, deliveries: 0, tries: 0 });
  });
});
