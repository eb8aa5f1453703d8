import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { unavailable } from "../../../../src/base/errors";
import { SECOND_MS } from "../../../../src/base/time";
import { createDeliverySite, type DeliverySite } from "../../../support/delivery-site";
import { startReceiver } from "../../../support/receiver";
import { hasTinyDisks, mountTinyDisk } from "../../../support/tiny-disk";

const HAS_TINY_DISKS = hasTinyDisks();
const SUBJECTS = Array.from({ length: 40 }, (_, index) => `cmp_${index}`);

const statusesOf = (site: DeliverySite) =>
  Object.fromEntries(
    Map.groupBy(site.deliveries(), ({ status }) => status)
      .entries()
      .map(([status, rows]) => [status, rows.length]),
  );

/** Tells forty events, of which eight are under way when results cannot be recorded any more. */
async function failWhileRecording(
  site: DeliverySite,
  fail: () => void,
  mend: () => void,
): Promise<void> {
  const [first, second] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  await using receiver = startReceiver((_message, count) =>
    count <= 8 ? first.promise : second.promise,
  );
  await site.endpoint(receiver.url);
  await site.recordEvents(...SUBJECTS);
  await receiver.until(8);
  fail();
  first.resolve(200);
  // One more round begins before the results of the first are to be recorded.
  await receiver.until(16);
  while (!site.app.logged.some(({ msg }) => msg.startsWith("deliveries wait until"))) {
    await site.app.clock.advance(10);
  }
  second.resolve(200);
  await site.app.clock.advance(10 * SECOND_MS);
  expect(receiver.received).toHaveLength(16);
  expect(statusesOf(site)).toEqual({ pending: 40 });

  mend();
  await site.app.clock.advance(SECOND_MS);
  await site.idle();
  expect(statusesOf(site)).toEqual({ delivered: 40 });
  // What had arrived before was not sent again.
  expect(receiver.received).toHaveLength(40);
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(40);
}

describe("results of deliveries that cannot be recorded", () => {
  test("results are kept until they can be recorded, and nothing is sent meanwhile", async () => {
    await using site = await createDeliverySite();
    const { db } = site.app.ctx;
    const write = db.write;
    await failWhileRecording(
      site,
      () => {
        db.write = () => Promise.reject(unavailable("The disk is full.", 5));
      },
      () => {
        db.write = write;
      },
    );
  });

  test("a delivery whose result is lost with its process is sent again with the same id", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    const { db } = site.app.ctx;
    const write = db.write;
    db.write = () => Promise.reject(unavailable("It has died.", 5));
    await receiver.until(1);
    await site.deliverer.stop(SECOND_MS);
    db.write = write;
    expect(site.deliveries()).toMatchObject([{ status: "pending", tries: 0 }]);

    await site.restart();
    await site.idle();
    expect(site.deliveries()).toMatchObject([{ status: "delivered", tries: 1 }]);
    expect(receiver.received).toHaveLength(2);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
  });

  test.skipIf(!HAS_TINY_DISKS)("results are kept while the disk is full", async () => {
    using disk = mountTinyDisk("6m");
    await using site = await createDeliverySite({ databasePath: join(disk.path, "allclear.db") });
    await failWhileRecording(
      site,
      () => disk.fill(),
      () => disk.free(),
    );
  });
});

describe("stopping the deliverer", () => {
  test("a stopping deliverer completes and records running requests and keeps the others queued", async () => {
    const answer = Promise.withResolvers<number>();
    await using receiver = startReceiver(() => answer.promise);
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents(...SUBJECTS);
    await receiver.until(8);
    const stopped = site.deliverer.stop(10 * SECOND_MS);
    answer.resolve(200);
    await stopped;
    expect(statusesOf(site)).toEqual({ delivered: 8, pending: 32 });
    await site.recordEvents("cmp_later");
    expect(receiver.received).toHaveLength(8);

    await site.restart();
    await site.idle();
    expect(statusesOf(site)).toEqual({ delivered: 41 });
    expect(receiver.received).toHaveLength(41);
  });

  test("a stopping deliverer aborts late requests, which are sent again with the same id", async () => {
    const answer = Promise.withResolvers<number>();
    await using receiver = startReceiver((_message, count) => (count === 1 ? answer.promise : 200));
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    await site.recordEvents("cmp_1");
    await receiver.until(1);
    const stopped = site.deliverer.stop(10 * SECOND_MS);
    await site.app.clock.advance(10 * SECOND_MS);
    await stopped;
    expect(site.deliveries()).toMatchObject([{ status: "pending", tries: 0 }]);
    expect(site.tries()).toEqual([]);

    await site.restart();
    await site.idle();
    expect(site.deliveries()).toMatchObject([{ status: "delivered", tries: 1 }]);
    const [first, second] = receiver.received.map(({ id }) => id);
    expect(second).toBe(first as string);
    answer.resolve(200);
  });

  test("a deliverer sends what another process has queued", async () => {
    await using receiver = startReceiver();
    await using site = await createDeliverySite();
    await site.endpoint(receiver.url);
    // A commit of another process emits no signal in this one.
    const { signals } = site.app.ctx;
    const emit = signals.deliveriesQueued.emit;
    signals.deliveriesQueued.emit = () => undefined;
    await site.recordEvents("cmp_1");
    await site.idle();
    signals.deliveriesQueued.emit = emit;
    expect(receiver.received).toEqual([]);
    signals.databaseChangedElsewhere.emit();
    await site.idle();
    expect(receiver.received).toHaveLength(1);
  });
});
