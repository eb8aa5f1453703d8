import { describe, expect, test } from "bun:test";
import {
  CONCURRENT_MAX,
  FairShare,
  PER_ENDPOINT_MAX,
} from "../../../../src/features/webhooks/deliver/delivery-queue";
import { createDeliverySite } from "../../../support/delivery-site";
import { startReceiver } from "../../../support/receiver";

const EVENTS = 30;
const subjects = Array.from({ length: EVENTS }, (_, index) => `cmp_${index}`);
const never = () => new Promise<number>(() => undefined);

describe("receivers that do not answer", () => {
  test("ten hanging receivers do not delay ten others", async () => {
    await using hanging = startReceiver(never);
    await using quick = startReceiver();
    await using site = await createDeliverySite();
    // Ten endpoints each, which their paths identify.
    for (let index = 0; index < 10; index++) {
      await site.endpoint(`${hanging.url}/${index}`);
      await site.endpoint(`${quick.url}/${index}`);
    }
    await site.recordEvents(...subjects);
    await quick.until(10 * EVENTS);
    // No moment of the test's clock has passed: the others did not wait for a deadline.
    expect(hanging.received.length).toBeGreaterThanOrEqual(10);
    expect(hanging.received.length).toBeLessThanOrEqual(10 * PER_ENDPOINT_MAX);
    expect(site.deliverer.stats().underWay).toBeLessThanOrEqual(CONCURRENT_MAX);
  });

  test("a hanging receiver gets at most eight requests at a time", async () => {
    await using receiver = startReceiver(never);
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents(...subjects);
    await receiver.until(PER_ENDPOINT_MAX);
    await site.recordEvents("cmp_next");
    expect(receiver.received).toHaveLength(PER_ENDPOINT_MAX);
    expect(site.deliverer.stats().underWay).toBe(PER_ENDPOINT_MAX);
  });
});

describe("the fair share of requests", () => {
  /** Returns the number of slots that each endpoint takes, if each takes all it can get in turn. */
  function taken(underWay: number[]): number[] {
    const fairShare = new FairShare(underWay);
    return underWay.map((count) => {
      let has = count;
      while (fairShare.take(has)) has += 1;
      return has;
    });
  }

  test("a single endpoint gets eight requests at a time", () => {
    expect(taken([0])).toEqual([PER_ENDPOINT_MAX]);
  });

  test("each of a hundred endpoints gets a request although forty others hold theirs", () => {
    const none = Array.from({ length: 100 }, () => 0);
    const first = taken(none).slice(0, 40);
    expect(Math.max(...first)).toBe(PER_ENDPOINT_MAX);
    const all = taken([...first, ...none.slice(40)]);
    expect(Math.min(...all)).toBeGreaterThanOrEqual(1);
    expect(all.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(CONCURRENT_MAX);
  });

  test("all endpoints together get at most 256 requests at a time", () => {
    const hold = taken(Array.from({ length: 400 }, () => 0));
    expect(hold.reduce((sum, count) => sum + count)).toBe(CONCURRENT_MAX);
  });
});
