import { describe, expect, test } from "bun:test";
import { startDelivering } from "../../../src/features/webhooks/deliver/deliverer";
import { CLI_ACTOR } from "../../../src/base/actor";
import { SECOND_MS } from "../../../src/base/time";
import { createGatheringSite } from "../../support/gathering-site";
import { answers, fails, openEngineSite } from "../../support/engine-site";
import { createTestEgress } from "../../support/egress";
import { startReceiver } from "../../support/receiver";
import { settle } from "../../support/clock";
import { createWebhookSite, SLACK } from "../../support/webhook-site";
import { createWebhook } from "../../support/examined";

describe("the gathering time of a webhook", () => {
  test("a new webhook gathers for 30 seconds, and another time can be set", async () => {
    await using site = await createWebhookSite();
    const { id, group_seconds } = await site.create({ url: SLACK, format: "slack" });
    expect(group_seconds).toBe(30);
    const changed = await site.patch(id, { group_seconds: 0 });
    expect(changed.body).toMatchObject({ group_seconds: 0, version: 2 });
    expect(await site.read(id)).toMatchObject({ group_seconds: 0 });
    expect(site.app.audit().at(-1)?.summary).toContain("gathering time");
    const made = await site.create({ url: SLACK, format: "slack", group_seconds: 300 });
    expect(made.group_seconds).toBe(300);
  });

  test.each([-1, 301, 1.5, "30", null])("%p is no gathering time", async (group_seconds) => {
    await using site = await createWebhookSite();
    const { id } = await site.create({ url: SLACK, format: "slack" });
    const before = await site.state();
    for (const answer of [
      await site.post({ url: SLACK, format: "slack", group_seconds }),
      await site.patch(id, { group_seconds }),
    ]) {
      expect(answer.status).toBe(422);
      expect(answer.body.errors).toMatchObject([{ pointer: "#/group_seconds" }]);
    }
    expect(await site.state()).toEqual(before);
  });

  test("the deliveries of a group name it and count the others", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c", "down d");
    const key = await chat.site.app.keyWith("manage:webhooks");
    const list = async () =>
      (await chat.site.app.call(`/api/v1/webhooks/${chat.webhookId}/deliveries`, { key })).body
        .data;
    const [waiting] = await list();
    expect(waiting).toMatchObject({ status: "pending", group_id: null, sent_with: 0 });
    expect(waiting.next_try_at).toBe("2026-03-10T12:00:30.000Z");
    await chat.until(31);
    const [last, , , first] = await list();
    const { id } = chat.seen()[1] ?? {};
    expect(last).toMatchObject({ status: "delivered", tries: 1, group_id: id, sent_with: 2 });
    expect(first).toMatchObject({ group_id: null, sent_with: 0 });
  });

  test("overtaken deliveries are listed by their status", async () => {
    await using chat = await createGatheringSite({ group_seconds: 0 }, (_message, count) =>
      count === 1 ? 500 : 200,
    );
    await chat.at(0, "down a");
    await chat.at(2, "up a");
    await chat.until(60);
    const key = await chat.site.app.keyWith("manage:webhooks");
    const path = `/api/v1/webhooks/${chat.webhookId}/deliveries?status=superseded`;
    const { body } = await chat.site.app.call(path, { key });
    expect(body.data).toMatchObject([{ event_type: "monitor.down", next_try_at: null, tries: 1 }]);
  });

  test("an attempt of a group counts as one", async () => {
    await using chat = await createGatheringSite();
    await chat.at(0, "down a");
    await chat.at(1, "down b", "down c", "down d");
    await chat.until(31);
    const { tries } = chat.site.deliverer.stats();
    expect(tries.get(chat.webhookId)).toEqual({ succeeded: 2, failed: 0, refused: 0 });
  });
});

describe("the order of messages about monitors", () => {
  test("a retry waits while a newer message is under way, which can make it superfluous", async () => {
    const answer = Promise.withResolvers<number>();
    await using chat = await createGatheringSite({ group_seconds: 0 }, (_message, count) =>
      count === 1 ? 500 : answer.promise,
    );
    const { site } = chat;
    const { clock } = site.app;
    await chat.at(0, "down a");
    await clock.advance(2 * SECOND_MS);
    void chat.at(2, "up a");
    await chat.receiver.until(2);
    await clock.advance(10 * SECOND_MS);
    await settle();
    expect(chat.receiver.received).toHaveLength(2);
    answer.resolve(200);
    await site.idle();
    expect(chat.seen().map(({ title }) => title)).toEqual(["Monitor down: a", "Monitor up: a"]);
    expect(site.deliveries().map(({ status }) => status)).toEqual(["superseded", "delivered"]);
  });
});

/** Names of the targets of monitors. */
const TARGETS = ["a", "b", "c", "d"];

test("the message about recovered monitors counts those that are still down", async () => {
  await using receiver = startReceiver();
  await using engine = await openEngineSite({ env: { ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8" } });
  const { app, clock } = engine;
  const { egress } = await createTestEgress({}, { clock, outboundAllow: "127.0.0.0/8" });
  const throttle = { take: () => true, waitMs: () => 0 };
  const deliverer = startDelivering(app.ctx, egress, undefined, throttle);
  const { components } = await app.page({ slug: "acme" }, ["API", "Web"]);
  const ids = Object.values(components);
  await app.ctx.db.write((tx) => {
    const input = { url: `${receiver.url}/chat`, format: "slack" as const, group_seconds: 300 };
    createWebhook(app.ctx, tx, input, CLI_ACTOR);
  });
  for (const [index, name] of TARGETS.entries()) {
    const component_ids = ids.slice(index % 2, (index % 2) + 1);
    await engine.monitor({ name, component_ids, open_incident: "never" });
  }
  const pass = async (minutes: number) => {
    for (let second = 0; second < minutes * 60; second += 5) {
      await clock.advance(5 * SECOND_MS);
      await settle();
      await deliverer.whenIdle();
    }
  };
  const titles = () =>
    receiver.received.map(({ body }) => /\|(.*)>\*$/.exec(JSON.parse(body).text)?.[1] ?? "");
  await pass(2);
  for (const name of TARGETS) engine.let(`${name}.test`, fails());
  // The group begins another gathering time, which ends without a message.
  await pass(20);
  const down = titles();
  expect(down).toEqual([expect.stringMatching(/^Monitor down: \w$/), "3 more monitors are down"]);
  for (const name of ["a", "b", "c"]) engine.let(`${name}.test`, answers());
  await pass(10);
  expect(titles().slice(down.length)).toEqual([
    expect.stringMatching(/^Monitor up: \w$/),
    "2 monitors are up again, 1 still down",
  ]);
  await deliverer.stop(0);
});
