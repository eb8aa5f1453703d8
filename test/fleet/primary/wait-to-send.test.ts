import { expect, test } from "bun:test";
import type { Ctx } from "../../../src/context";
import { settle } from "../../support/clock";
import { createDeliverySite } from "../../support/delivery-site";
import { createMailSite } from "../../support/mail-site";
import { setMailingState } from "../../support/mailing-state";
import { startReceiver } from "../../support/receiver";
import { startRelay } from "../../support/relay";
import { until } from "../../support/until";

/** Lets attempts wait until the test ends their waits. */
function holdAttempts(ctx: Ctx) {
  const waits: { id: string; end: (canBegin: boolean) => void }[] = [];
  ctx.waitToSend = (id) => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    waits.push({ id, end: resolve });
    return promise;
  };
  return waits;
}

test("a webhook is sent once its delivery is uploaded", async () => {
  await using receiver = startReceiver();
  await using site = await createDeliverySite();
  const waits = holdAttempts(site.app.ctx);
  await site.endpoint(receiver.url);
  await site.recordEvents("cmp_1");
  await until(() => waits.length === 1);
  await settle();
  expect(waits[0]?.id).toBe(site.deliveries()[0]?.id as string);
  expect(receiver.received).toEqual([]);
  waits[0]?.end(true);
  await site.idle();
  expect(receiver.received).toHaveLength(1);
  expect(site.tries()).toHaveLength(1);
});

test("a webhook is not attempted by a node that is no longer the primary, and is later", async () => {
  await using receiver = startReceiver();
  await using site = await createDeliverySite();
  const waits = holdAttempts(site.app.ctx);
  await site.endpoint(receiver.url);
  await site.recordEvents("cmp_1");
  await until(() => waits.length === 1);
  waits[0]?.end(false);
  await site.idle();
  expect([receiver.received.length, site.tries().length]).toEqual([0, 0]);
  await site.app.clock.advance(2_000);
  await until(() => waits.length === 2);
  waits[1]?.end(true);
  await site.idle();
  expect(site.tries()).toMatchObject([{ number: 1, statusCode: 200 }]);
});

test("a mail is sent once its row is uploaded", async () => {
  await using relay = await startRelay();
  await using site = await createMailSite(relay);
  const waits = holdAttempts(site.app.ctx);
  const [id] = await site.queue({ to: "ada@example.com" });
  await until(() => waits.length === 1);
  await settle();
  expect(waits[0]?.id).toBe(id as string);
  expect(relay.connections()).toBe(0);
  waits[0]?.end(true);
  await site.idle();
  expect(site.statuses()).toEqual({ "ada@example.com": "sent" });
});

test("a mail whose mailing is stopped while it waits for the upload is not sent", async () => {
  await using relay = await startRelay();
  await using site = await createMailSite(relay);
  const waits = holdAttempts(site.app.ctx);
  const mailing = await site.mailing(["ada@example.com"]);
  await until(() => waits.length === 1);
  await setMailingState(site.app.ctx, mailing, "stopped");
  waits[0]?.end(true);
  await site.idle();
  expect(relay.mails).toEqual([]);
});

test("a mail is not attempted by a node that is no longer the primary, and is later", async () => {
  await using relay = await startRelay();
  await using site = await createMailSite(relay);
  const { ctx, clock } = site.app;
  const waits = holdAttempts(ctx);
  await site.queue({ to: "ada@example.com" });
  await until(() => waits.length === 1);
  ctx.isPrimary = () => false;
  waits[0]?.end(false);
  await settle();
  expect([waits.length, relay.connections(), site.sender.stats().underWay]).toEqual([1, 0, 0]);
  ctx.isPrimary = () => true;
  await clock.advance(1_000);
  await until(() => waits.length === 2);
  waits[1]?.end(true);
  await site.idle();
  expect(site.mails()).toMatchObject([{ status: "sent", tries: 1 }]);
});

test("a mail is not attempted again at once by a primary whose upload has not begun", async () => {
  await using relay = await startRelay();
  await using site = await createMailSite(relay);
  const { ctx, clock } = site.app;
  let [waits, canBegin] = [0, false];
  ctx.waitToSend = async () => {
    waits += 1;
    return canBegin;
  };
  await site.queue({ to: "ada@example.com" });
  await until(() => waits > 0);
  for (let turn = 0; turn < 5; turn++) await settle();
  expect(waits).toBe(1);
  canBegin = true;
  await clock.advance(1_000);
  await until(() => waits === 2);
  await site.idle();
  expect(site.mails()).toMatchObject([{ status: "sent", tries: 1 }]);
});
