import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { mutate } from "../../../src/db/statements";
import { mails } from "../../../src/db/tables/mail";
import { deliveries, deliveryTries } from "../../../src/db/tables/webhooks";
import { recordAttempts } from "../../../src/fleet/valkey/nodes";
import { openValkey, type Valkey } from "../../../src/fleet/valkey/client";
import type { TestApp } from "../../support/app";
import { createDeliverySite, type DeliverySite } from "../../support/delivery-site";
import { describeWithPrograms } from "../../support/fleet/describe";
import { type RedisServer, startRedis } from "../../support/fleet/redis";
import { valkeyConfig } from "../../support/fleet/shared-limits";
import { parseMails } from "../../support/parsed-mail";
import { startReceiver } from "../../support/receiver";
import { createSendingSite } from "../../support/sending-site";
import { until } from "../../support/until";

/** Lets an application note its attempts. */
async function noteAttempts({ ctx }: TestApp, server: RedisServer): Promise<Valkey> {
  const config = valkeyConfig(server.url);
  const valkey = await openValkey({ config, clock: ctx.clock, log: ctx.log });
  ctx.attempts = recordAttempts(valkey, () => 3);
  return valkey;
}

const forgetTries = mutate((orm, _$: Record<string, never>) => orm.delete(deliveryTries));
const forgetDeliveries = mutate((orm, $: { at: number }) =>
  orm.update(deliveries).set({ status: "pending", tries: 0, nextTryAt: $.at, finishedAt: null }),
);
const forgetMail = mutate((orm, $: { at: number }) =>
  orm
    .update(mails)
    .set({ status: "pending", tries: 0, nextTryAt: $.at, finishedAt: null })
    .where(eq(mails.status, "sent")),
);

/** Makes the database that of a moment before the attempts, as that of a new primary can be. */
async function loseResults(site: DeliverySite): Promise<void> {
  const { ctx } = site.app;
  await ctx.db.write((tx) => {
    forgetTries(tx, {});
    forgetDeliveries(tx, { at: ctx.clock.now() });
  });
  await site.restart();
  await site.idle();
}

await describeWithPrograms(
  "attempts that a primary notes in Valkey",
  { debian: ["valkey-server|redis-server"] },
  () => {
    test("a webhook with a noted outcome is not sent again, and the outcome is stored", async () => {
      await using redis = await startRedis();
      await using receiver = startReceiver((_, count) => (count === 1 ? 503 : 200));
      await using site = await createDeliverySite();
      const valkey = await noteAttempts(site.app, redis);
      await site.endpoint(receiver.url);
      await site.recordEvents("cmp_1");
      await site.idle();
      expect(site.tries()).toMatchObject([{ number: 1, statusCode: 503 }]);
      const [before] = site.tries();
      await loseResults(site);
      expect(receiver.received).toHaveLength(1);
      expect(site.tries()).toMatchObject([{ number: 1, statusCode: 503, at: before?.at }]);
      // The next attempt has another number.
      await site.pass(60_000);
      expect(receiver.received).toHaveLength(2);
      await loseResults(site);
      expect(receiver.received).toHaveLength(2);
      valkey.stop();
    });

    test("a webhook that was begun and has no outcome is sent again with the same id", async () => {
      await using redis = await startRedis();
      await using receiver = startReceiver();
      await using site = await createDeliverySite();
      const valkey = await noteAttempts(site.app, redis);
      await site.endpoint(receiver.url);
      await site.recordEvents("cmp_1");
      await site.idle();
      const [delivery] = site.deliveries();
      const key = `send:${delivery?.id}:1`;
      expect(await valkey.send("TTL", [key])).toBe(172_800);
      await valkey.send("SET", [key, "2"]);
      await loseResults(site);
      expect(receiver.received).toHaveLength(2);
      expect(receiver.received[1]?.id).toBe(receiver.received[0]?.id ?? "");
      valkey.stop();
    });

    test("webhooks are sent without Valkey, and again if their result is lost", async () => {
      await using redis = await startRedis();
      await using receiver = startReceiver();
      await using site = await createDeliverySite();
      const valkey = await noteAttempts(site.app, redis);
      await redis.kill();
      await until(() => !valkey.isAvailable());
      await site.endpoint(receiver.url);
      await site.recordEvents("cmp_1");
      await site.idle();
      expect(receiver.received).toHaveLength(1);
      await loseResults(site);
      expect(receiver.received).toHaveLength(2);
      valkey.stop();
    });

    test("a mail with a noted outcome is not sent again; one in doubt is, with the same Message-ID", async () => {
      await using redis = await startRedis();
      await using sending = await createSendingSite();
      const { site } = sending;
      const valkey = await noteAttempts(site.app, redis);
      await site.subscribe("anna");
      await site.open({ name: "Down" });
      await sending.finish();
      const [first] = sending.taken();
      const { ctx } = site.app;
      const lose = async () => {
        await ctx.db.write((tx) => forgetMail(tx, { at: ctx.clock.now() }));
        await sending.restart();
        await sending.finish();
      };
      await lose();
      expect(sending.taken()).toEqual([]);
      const [, [key = ""]] = (await valkey.send("SCAN", ["0", "MATCH", "send:*"])) as [
        string,
        string[],
      ];
      const noted = String(await valkey.send("GET", [key]));
      expect(noted).toStartWith("3 {");
      expect(noted).not.toContain("anna@");
      await valkey.send("SET", [key, "3"]);
      await lose();
      const [again] = sending.taken();
      const parsed = await parseMails([first, again].map((mail) => Buffer.from(mail?.text ?? "")));
      const [id, sameId] = parsed.map(({ headers }) => headers["Message-ID"]?.[0]);
      expect(id).toBeString();
      expect(sameId).toBe(id as string);
      valkey.stop();
    });
  },
);
