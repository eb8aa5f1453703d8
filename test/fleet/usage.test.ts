import { describe, expect, test } from "bun:test";
import { sha256Hex } from "../../src/base/hash";
import { HOUR_MS } from "../../src/base/time";
import { usageOfKey } from "../../src/features/keys/records";
import type { KeyUse } from "../../src/features/keys/usage";
import { postToPrimary } from "../../src/fleet/node-client";
import { listenPrivately } from "../../src/fleet/private-listener";
import {
  createUsageHandler,
  createUsageSender,
  storeUsageBatch,
  type UsageBatch,
} from "../../src/fleet/usage";
import { createTestApp, type TestApp } from "../support/app";
import { TEST_START } from "../support/clock";
import { testContext } from "../support/context";
import { createTestLog } from "../support/log";

/** Rows that a replica keeps while it cannot send them. */
const ROWS_MAX = 100_000;

const HOUR = TEST_START - (TEST_START % HOUR_MS);

function useOf(hash: string, keyId: string, ok: number, hour = HOUR): KeyUse {
  const lastUse = { at: TEST_START, ip: "203.0.113.7" };
  return { hash, keyId, lastUse, hours: [{ hour, ok, clientError: 0, limited: 1 }] };
}

function requestsOf(app: TestApp, keyId: string): number {
  return usageOfKey(app.ctx.db, keyId, TEST_START).last24h.total;
}

/** Creates a key. Returns its id and the hash of its value. */
async function keyOf(app: TestApp): Promise<{ id: string; hash: string }> {
  const { key, value } = await app.createKey();
  return { id: key.id, hash: sha256Hex(value) };
}

function postTo(app: TestApp) {
  const handle = createUsageHandler(app.ctx);
  return (batch: unknown) =>
    handle(new Request("http://x/fleet/v1/usage", { method: "POST", body: JSON.stringify(batch) }));
}

describe("a batch of key usage at the primary", () => {
  test("is added to the counts and the last use of the key", async () => {
    await using app = await createTestApp();
    const { id, hash } = await keyOf(app);
    const post = postTo(app);
    const use = useOf(hash, id, 3);
    const sent: unknown[] = [];
    const sender = createUsageSender(app.ctx, "n1", async (batch) => {
      sent.push(batch);
      expect((await post(batch)).status).toBe(200);
    });
    await sender.send([use]);
    expect(sender.waiting()).toBe(0);
    const shown = await app.call(`/admin/settings/keys/${id}`, { session: await app.signedIn() });
    expect(shown.text).toContain("203.0.113.7");
    expect(requestsOf(app, id)).toBe(4);
  });

  test("of a replica that becomes the primary counts once, also if the primary before has stored it", async () => {
    await using app = await createTestApp();
    const { id, hash } = await keyOf(app);
    const sender = createUsageSender(app.ctx, "n1", async (batch) => {
      await storeUsageBatch(app.ctx, batch);
      throw new Error("the answer was lost");
    });
    await sender.send([useOf(hash, id, 3)]);
    sender.hold();
    await sender.send([useOf(hash, id, 4)]);
    expect(requestsOf(app, id)).toBe(4);
    const rest = sender.takeRest();
    expect(rest.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(sender.waiting()).toBe(0);
    for (const batch of rest) await storeUsageBatch(app.ctx, batch);
    expect(requestsOf(app, id)).toBe(9);
  });

  test("counts once, however often it arrives, also to a primary that was started again", async () => {
    await using app = await createTestApp();
    const { id, hash } = await keyOf(app);
    const row = { hash, keyId: id, at: 1, ip: "x", hour: HOUR, ok: 2, clientError: 0, limited: 0 };
    const batch = { node: "n1", sequence: 1, rows: [row] };
    for (let again = 0; again < 3; again++) expect((await postTo(app)(batch)).status).toBe(200);
    expect(requestsOf(app, id)).toBe(2);
    await postTo(app)({ ...batch, node: "n2" });
    await postTo(app)({ ...batch, sequence: 2 });
    expect(requestsOf(app, id)).toBe(6);
  });

  test("is refused if it is not valid, and nothing is stored", async () => {
    await using app = await createTestApp();
    const { id, hash } = await keyOf(app);
    const post = postTo(app);
    const row = { hash, keyId: id, at: 1, ip: "x", hour: HOUR, ok: 2, clientError: 0, limited: 0 };
    for (const batch of [
      null,
      {},
      { node: "", sequence: 1, rows: [] },
      { node: "n", sequence: 0, rows: [] },
      { node: "n", sequence: 1, rows: [{ ...row, ok: -1 }] },
      { node: "n", sequence: 1, rows: [{ ...row, hash: "x" }] },
    ]) {
      expect((await post(batch)).status).toBe(422);
    }
    expect(requestsOf(app, id)).toBe(0);
  });

  test("of a key that does not exist is answered and stores nothing", async () => {
    await using app = await createTestApp();
    const row = { hash: "0".repeat(64), keyId: "key_none", at: 1, ip: "x", hour: HOUR };
    const counts = { ok: 1, clientError: 0, limited: 0 };
    const answer = await postTo(app)({ node: "n", sequence: 1, rows: [{ ...row, ...counts }] });
    expect(answer.status).toBe(200);
  });
});

describe("usage that a replica gathers", () => {
  const { log } = createTestLog("info");

  test("is merged by hour while the primary takes none, and sent again unchanged", async () => {
    const sent: UsageBatch[] = [];
    let isUp = false;
    const sender = createUsageSender(testContext({ log }), "n1", async (batch) => {
      sent.push(structuredClone(batch));
      if (!isUp) throw new Error("down");
    });
    await sender.send([useOf("a", "k", 1)]);
    await sender.send([useOf("a", "k", 2)]);
    await sender.send([useOf("a", "k", 3), useOf("a", "k", 5, HOUR + HOUR_MS)]);
    expect(sender.waiting()).toBe(3);
    isUp = true;
    await sender.send([]);
    expect(sent.map(({ sequence }) => sequence)).toEqual([1, 1, 1, 1, 2]);
    expect(sent[3]).toEqual(sent[0] as UsageBatch);
    expect(sent[4]?.rows.map(({ ok, limited }) => [ok, limited])).toEqual([
      [5, 2],
      [5, 1],
    ]);
    expect(sender.waiting()).toBe(0);
  });

  test("is kept up to 100,000 rows, and sent in batches", async () => {
    let isUp = false;
    let rows = 0;
    const logged = createTestLog("info");
    const sender = createUsageSender(testContext(logged), "n1", async (batch) => {
      if (!isUp) throw new Error("down");
      rows += batch.rows.length;
      expect(batch.rows.length).toBeLessThanOrEqual(2_000);
    });
    await sender.send(Array.from({ length: ROWS_MAX + 7 }, (_, at) => useOf(`h${at}`, "k", 1)));
    expect(sender.waiting()).toBe(ROWS_MAX);
    isUp = true;
    await sender.send([]);
    expect(rows).toBe(ROWS_MAX);
    expect(JSON.stringify(logged.lines)).toContain('"dropped":7');
  });

  test("reaches the primary through its private listener, with the token of the fleet alone", async () => {
    await using app = await createTestApp();
    const handlers = { "POST /fleet/v1/usage": createUsageHandler(app.ctx) };
    const listener = listenPrivately(
      { host: "127.0.0.1", port: 0 },
      { token: "t", gateway: () => undefined, handlers },
    );
    const primary = () => `http://127.0.0.1:${listener.port}`;
    const batch = { node: "n", sequence: 1, rows: [] };
    const { clock } = app;
    const post = (body: UsageBatch, token = "t", address: () => string | undefined = primary) =>
      postToPrimary(clock, { primary: address, token }, "/fleet/v1/usage", body);
    await post(batch);
    expect(post(batch, "u")).rejects.toThrow("SECRET");
    expect(post(batch, "t", () => undefined)).rejects.toThrow("no primary");
    app.ctx.db.close();
    expect(post({ ...batch, sequence: 2 })).rejects.toThrow("503");
    await listener.close();
  });
});
