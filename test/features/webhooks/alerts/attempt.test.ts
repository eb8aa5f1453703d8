import { expect, test } from "bun:test";
import { AwaitedMails, createMailAttempt } from "../../../../src/features/webhooks/alerts/alerts";
import {
  type Begun,
  EndpointQueue,
} from "../../../../src/features/webhooks/deliver/delivery-queue";
import { findForTry } from "../../../../src/features/webhooks/delivery-store";
import { createAlertSite } from "../../../support/alert-site";
import { startMailboxes } from "../../../support/scripted-mailboxes";

test("an alert that cannot be written is a failed attempt, and not tried again at once", async () => {
  await using relay = await startMailboxes();
  await using site = await createAlertSite(relay);
  await site.user("oncall@example.com");
  const webhook = await site.webhook("oncall@example.com", { events: ["incident.created"] });
  await site.open();
  const [delivery] = await site.deliveries(webhook.id);
  const row = findForTry(site.app.ctx.db, { id: delivery.id });
  if (!row) throw new Error("there is no delivery");
  const event = {
    ...row.event,
    type: "incident.created" as const,
    get data(): Record<string, unknown> {
      throw new Error("unreadable");
    },
  };
  const messageId = event.id;
  const outgoing = { ...row, delivery: { ...row.delivery, tries: 5 }, event, messageId };
  expect(await createMailAttempt(site.app.ctx)(outgoing)).toMatchObject({
    statusCode: null,
    error: "The message could not be written.",
  });
});

test("a check of thousands of waiting alerts reads some of them at each call", async () => {
  await using relay = await startMailboxes();
  await using site = await createAlertSite(relay);
  const released: Begun[] = [];
  const awaited = new AwaitedMails(site.app.ctx, (begun) => void released.push(begun));
  const queue = new EndpointQueue("whk_1");
  for (let index = 0; index < 600; index++) {
    const due = { id: `dlv_${index}`, subjectId: "inc_1", isFirst: true, isOrdered: false };
    awaited.add({ queue, due, slot: undefined });
  }
  awaited.check();
  expect(released).toHaveLength(256);
  for (let call = 0; call < 2; call++) awaited.check();
  expect(released).toHaveLength(600);
  awaited.stop();
});
