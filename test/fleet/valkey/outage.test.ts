import { expect, test } from "bun:test";
import { createTestClock, settle, type TestClock } from "../../support/clock";
import { describeWithPrograms } from "../../support/fleet/describe";
import { startLink } from "../../support/fleet/link";
import { REDIS_PASSWORD } from "../../support/servers/redis";
import { startRedis } from "../../support/fleet/redis";
import {
  type LimitingNode,
  setServerTime,
  startLimitingNode,
} from "../../support/fleet/shared-limits";
import { until } from "../../support/until";

const LIMIT = 100;
/** Most attempts of a test for which a real server must answer within 16 ms. */
const ATTEMPTS = 20;
const ROOT = new URL("../../support/certificates/root.pem", import.meta.url).pathname;

/** Charges until a request is refused. Returns the number of admitted ones. */
async function drain({ limiter }: LimitingNode, id = "k"): Promise<number> {
  for (let admitted = 0; ; admitted++) {
    const { decision } = await limiter.chargeKey(id, LIMIT);
    if (!decision.isAllowed) return admitted;
  }
}

/** Moves the clock over the pause, and waits for the connection. */
async function reconnect(clock: TestClock, { valkey }: LimitingNode, pauseMs = 1_000) {
  await clock.advance(pauseMs);
  await until(valkey.isAvailable);
}

await describeWithPrograms(
  "a node whose Valkey fails",
  { debian: ["valkey-server|redis-server"] },
  () => {
    test("decides alone within 20 ms of silence, and shares limits again after a second", async () => {
      await using server = await startRedis();
      const clock = createTestClock();
      await using node = await startLimitingNode(server.url, 1, { clock });
      await drain(node);
      server.freeze();
      const waiting = Promise.resolve(node.limiter.chargeKey("other", LIMIT));
      let isDecided = false;
      void waiting.then(() => (isDecided = true));
      await clock.advance(15);
      expect(isDecided).toBe(false);
      await clock.advance(2);
      expect((await waiting).decision.isAllowed).toBe(true);
      expect(node.valkey.isAvailable()).toBe(false);
      // No further request waits.
      expect(node.limiter.chargeKey("other", LIMIT)).not.toBeInstanceOf(Promise);
      expect(await drain(node, "third")).toBe(LIMIT);
      // What the node knows of a bucket holds on.
      expect(await drain(node)).toBe(0);
      expect(node.limiter.localDecisions()).toBeGreaterThan(LIMIT);
      server.thaw();
      await reconnect(clock, node);
      // The bucket in Valkey is still empty.
      expect(await drain(node)).toBe(0);
      expect(node.logged.map(({ msg }) => msg)).toEqual([
        "Valkey does not answer; limits are this node's own until it does",
        "Valkey answers again",
      ]);
      expect(JSON.stringify(node.logged)).not.toContain(REDIS_PASSWORD);
    });

    test("lets requests that wait begin with what is known of the shared bucket", async () => {
      await using server = await startRedis();
      const clock = createTestClock();
      await using node = await startLimitingNode(server.url, 3, { clock });
      const charge = () => node.limiter.chargeKey("k", 10);
      for (let request = 0; request < 6; request++) {
        expect((await charge()).decision.isAllowed).toBe(true);
      }
      server.freeze();
      const waiting = Promise.all(Array.from({ length: 20 }, charge));
      await clock.advance(25);
      const admitted = (await waiting).filter(({ decision }) => decision.isAllowed).length;
      expect(admitted).toBeOneOf([3, 4]);
      expect(node.limiter.localDecisions()).toBeGreaterThan(0);
    });

    test("goes on with the minutes that it knows, also of callers that were idle", async () => {
      await using server = await startRedis();
      const clock = createTestClock();
      const start = () => startLimitingNode(server.url, 3, { clock, ownTime: true });
      await using first = await start();
      await using second = await start();
      await using third = await start();
      const nodes = [first, second, third];
      await setServerTime(first, clock.monotonic());
      expect(await drain(first)).toBe(LIMIT);
      expect(await drain(second)).toBe(0);
      await setServerTime(first, clock.monotonic() + 20_000);
      await clock.advance(20_000);
      await server.kill();
      await until(() => nodes.every(({ valkey }) => !valkey.isAvailable()));
      // The third has not heard of the caller, so three times the limit pass at most.
      for (const [node, left] of [
        [first, 0],
        [second, 0],
        [third, LIMIT],
      ] as const) {
        expect(await drain(node)).toBe(left);
      }
      const { decision } = await first.limiter.chargeKey("k", LIMIT);
      expect(decision.refillInSeconds).toBe(40);
      await clock.advance(40_000);
      expect(await drain(first)).toBe(LIMIT);
      expect(await drain(third)).toBe(0);
    });

    test("admits at most the limit alone, and that of the shared minute once the server answers again", async () => {
      await using server = await startRedis();
      const clock = createTestClock();
      await using node = await startLimitingNode(server.url, 1, { clock });
      for (let outage = 0; outage < 3; outage++) {
        server.freeze();
        const waiting = node.limiter.chargeKey(`unknown ${outage}`, LIMIT);
        await clock.advance(17);
        await waiting;
        expect(await drain(node)).toBe(outage === 0 ? LIMIT : 0);
        server.thaw();
        await reconnect(clock, node, 1_000 * 2 ** outage);
        expect(await drain(node)).toBe(outage === 0 ? LIMIT : 0);
      }
    });

    for (const busyMs of [22, 60]) {
      test(`does not count ${busyMs} ms in which its process is busy as silence`, async () => {
        await using server = await startRedis();
        for (let attempt = 1; ; attempt++) {
          await using node = await startLimitingNode(server.url, 1);
          const charge = () => Promise.resolve(node.limiter.chargeKey("k", LIMIT));
          const charges = [charge(), charge()];
          const end = performance.now() + busyMs;
          while (performance.now() < end);
          await Promise.all(charges);
          // A busy machine can hold up the server itself. If the busy time counted, each attempt would fail.
          if (!node.valkey.isAvailable() && attempt < ATTEMPTS) continue;
          expect(node.valkey.isAvailable()).toBe(true);
          expect(node.limiter.localDecisions()).toBe(0);
          server.freeze();
          charges.push(...Array.from({ length: LIMIT }, charge));
          const frozenEnd = performance.now() + busyMs;
          while (performance.now() < frozenEnd);
          await Promise.all(charges);
          expect(node.valkey.isAvailable()).toBe(false);
          expect(node.limiter.localDecisions()).toBeGreaterThan(0);
          return;
        }
      });
    }

    test("tries a frozen server again after 1, 2, 4, 8 and 10 seconds", async () => {
      await using server = await startRedis();
      await using link = await startLink(server.port);
      const clock = createTestClock();
      const url = server.url.replace(String(server.port), String(link.port));
      await using node = await startLimitingNode(url, 1, { clock });
      await link.cut();
      await until(() => !node.valkey.isAvailable());
      await link.mend();
      link.stall();
      for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 10_000]) {
        const before = link.connections();
        await clock.advance(pauseMs - 1);
        expect(link.connections()).toBe(before);
        await clock.advance(1);
        await until(() => link.connections() === before + 1);
        await clock.advance(1_000);
        await settle();
      }
      await link.mend();
      await reconnect(clock, node, 10_000);
      expect(await drain(node)).toBeGreaterThanOrEqual(LIMIT);
    });

    test("admits one bucket when its Valkey is killed, and a full one after a restart", async () => {
      await using server = await startRedis();
      const clock = createTestClock();
      await using node = await startLimitingNode(server.url, 3, { clock });
      await drain(node);
      await server.kill();
      await until(() => !node.valkey.isAvailable());
      expect(await drain(node, "other")).toBe(LIMIT);
      expect(await drain(node, "other")).toBe(0);
      await server.restart();
      await reconnect(clock, node);
      // The server that was started again does not know the script.
      expect(await drain(node)).toBe(LIMIT);
    });

    test("decides alone at once when the server refuses a call", async () => {
      await using server = await startRedis();
      const clock = createTestClock();
      await using node = await startLimitingNode(server.url, 1, { clock });
      await node.valkey.send("SET", ["minute:key:k", "no bucket"]);
      const { decision } = await node.limiter.chargeKey("k", LIMIT);
      expect(decision.isAllowed).toBe(true);
      expect(node.limiter.localDecisions()).toBe(1);
    });

    test("starts without Valkey, with a wrong password too, and does not log the password", async () => {
      await using server = await startRedis();
      const clock = createTestClock();
      const wrong = `redis://:wrong-s3cret@127.0.0.1:${server.port}`;
      await using node = await startLimitingNode(wrong, 1, { clock });
      expect(node.valkey.isAvailable()).toBe(false);
      expect(await drain(node)).toBe(LIMIT);
      expect(JSON.stringify(node.logged)).not.toContain("s3cret");
    });

    test("names the password as the likely cause if it is wrong", async () => {
      await using server = await startRedis();
      const url = server.url.replace(REDIS_PASSWORD, "another-s3cret");
      await using node = await startLimitingNode(url, 1);
      expect(node.valkey.isAvailable()).toBe(false);
      expect(node.logged[0]?.msg).toContain("the likely cause is its password");
      expect(JSON.stringify(node.logged)).not.toContain("s3cret");
    });

    test("trusts a certificate of --valkey-ca alone, and names the likely cause otherwise", async () => {
      await using server = await startRedis("good");
      const clock = createTestClock();
      const env = { ALLCLEAR_VALKEY_CA: ROOT };
      await using trusting = await startLimitingNode(server.url, 1, { clock, env });
      expect(await drain(trusting)).toBeGreaterThanOrEqual(LIMIT);
      await using other = await startLimitingNode(server.url, 1, { clock });
      expect(other.valkey.isAvailable()).toBe(false);
      expect(other.logged[0]?.msg).toContain("see --valkey-ca");
    });
  },
);
