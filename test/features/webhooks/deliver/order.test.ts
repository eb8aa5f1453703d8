import { describe, expect, test } from "bun:test";
import { MINUTE_MS } from "../../../../src/base/time";
import { createDeliverySite } from "../../../support/delivery-site";
import { startReceiver } from "../../../support/receiver";

/** An answer that the test gives when it wants to. */
const later = () => Promise.withResolvers<number>();

describe("the order of events of one subject", () => {
  test("events of one subject are sent one after another, in parallel with those of others", async () => {
    const answers = [later(), later(), later()];
    await using receiver = startReceiver(({ data }) =>
      data.id === "inc_1" ? (answers[data.index]?.promise ?? 500) : 200,
    );
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents("inc_1", "inc_1", "inc_1", "inc_2", "inc_3");
    const arrived = () => receiver.received.map(({ data }) => `${data.id} ${data.index}`);
    await receiver.until(3);
    expect(arrived().toSorted()).toEqual(["inc_1 0", "inc_2 3", "inc_3 4"]);
    for (const [index, answer] of answers.entries()) {
      answer.resolve(200);
      await receiver.until(Math.min(4 + index, 5));
      expect(arrived().filter((one) => one.startsWith("inc_1"))).toHaveLength(
        Math.min(index + 2, 3),
      );
    }
    await site.idle();
    const ofOne = arrived().filter((one) => one.startsWith("inc_1"));
    expect(ofOne).toEqual(["inc_1 0", "inc_1 1", "inc_1 2"]);
  });

  test("an event does not wait for the retry of an earlier one of its subject", async () => {
    await using receiver = startReceiver((_message, count) => (count === 1 ? 500 : 200));
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    const version = (number: number) => ({ subjectId: "inc_1", data: { version: number } });
    await site.recordEvents(version(1), version(2));
    await site.idle();
    expect(receiver.received.map(({ data }) => data.version)).toEqual([1, 2]);
    await site.pass(MINUTE_MS);
    expect(receiver.received.map(({ data }) => data.version)).toEqual([1, 2, 1]);
    expect(site.deliveries().map(({ status }) => status)).toEqual(["delivered", "delivered"]);
  });

  test("five hundred waiting events keep their order within each subject", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.deliverer.stop(0);
    await site.endpoint(receiver.url);
    const subjects = Array.from({ length: 500 }, (_, index) => `cmp_${index % 7}`);
    await site.recordEvents(...subjects);
    await site.restart();
    await site.idle();
    expect(receiver.received).toHaveLength(500);
    const bySubject = Map.groupBy(receiver.received, ({ data }) => data.id as string);
    expect(bySubject.size).toBe(7);
    for (const messages of bySubject.values()) {
      const order = messages.map(({ data }) => data.index as number);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }
  });

  test("many waiting events of one subject do not delay other subjects", async () => {
    await using receiver = startReceiver(({ data }) =>
      data.id === "cmp_1" ? later().promise : 200,
    );
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents(...Array.from({ length: 300 }, () => "cmp_1"));
    await receiver.until(1);
    await site.recordEvents("inc_1", "cmp_1", "inc_2");
    await receiver.until(3);
    expect(receiver.received.map(({ data }) => data.id).toSorted()).toEqual([
      "cmp_1",
      "inc_1",
      "inc_2",
    ]);
  });

  test("events are sent to one endpoint without waiting for another", async () => {
    await using slow = startReceiver(() => later().promise);
    await using quick = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(slow.url);
    await site.endpoint(quick.url);
    await site.recordEvents("inc_1", "inc_1", "inc_1");
    await quick.until(3);
    expect(quick.received.map(({ data }) => data.index)).toEqual([0, 1, 2]);
    expect(slow.received).toHaveLength(1);
  });
});
