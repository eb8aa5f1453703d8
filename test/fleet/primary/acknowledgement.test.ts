import { describe, expect, test } from "bun:test";
import { createIdFactory } from "../../../src/base/ids";
import { createAcknowledge } from "../../../src/fleet/primary/primary";
import { createAcknowledgement } from "../../../src/fleet/primary/primaryship";
import { holdLease, readLeader, writeLeader } from "../../../src/fleet/leader";
import type { RequestContext } from "../../../src/http/request-context";
import { systemRandom } from "../../../src/base/hash";
import { createTestClock, settle } from "../../support/clock";
import { createTestAlarms, leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";

async function createPrimary() {
  const clock = createTestClock();
  const store = createMemoryStore();
  const alarms = createTestAlarms();
  const written = await writeLeader(store, undefined, leaderRecord());
  if (written === "changed") throw new Error("not written");
  const { log } = createTestLog("silent");
  const lease = holdLease(
    { store, clock, log, alarms, isAutomatic: true },
    written,
    clock.monotonic(),
  );
  const uploads: PromiseWithResolvers<number>[] = [];
  const replication = {
    prefix: "term-000001-1",
    restarts: 0,
    lastTxid: 0,
    sync() {
      const upload = Promise.withResolvers<number>();
      uploads.push(upload);
      return upload.promise;
    },
    localFiles: () => "",
    async moveTo() {},
    async stop() {},
  };
  const newId = createIdFactory(clock, systemRandom);
  const foreign = { version: 1 };
  const ctx = { newId, db: { foreignVersion: () => foreign.version } };
  const acknowledgement = createAcknowledgement({ ctx, clock, lease, replication, alarms });
  /** Waits for a row, and tells if the wait is over. */
  function waitForRow(id: string) {
    const waiting = { isOver: false };
    void acknowledgement.waitForRow(id).then(() => (waiting.isOver = true));
    return waiting;
  }
  const parts = {
    acknowledgement,
    alarms,
    clock,
    foreign,
    lease,
    newId,
    replication,
    store,
    uploads,
  };
  return Object.assign(parts, { waitForRow });
}

describe("the acknowledgement of a write", () => {
  test("waits for the upload and then for a look at the record", async () => {
    const { acknowledgement, store, uploads } = await createPrimary();
    const answer = Promise.withResolvers<void>();
    store.hold = () => answer.promise;
    const reads = store.counts.get;
    let outcome: number | undefined;
    void acknowledgement.wait().then((txid) => (outcome = txid));
    await settle();
    expect(store.counts.get).toBe(reads);
    uploads[0]?.resolve(7);
    await settle();
    expect(store.counts.get).toBe(reads + 1);
    expect(outcome).toBeUndefined();
    answer.resolve();
    await settle();
    expect(outcome).toBe(7);
  });

  test("shares one round with all writes that wait, and never a round that had begun before it", async () => {
    const { acknowledgement, uploads } = await createPrimary();
    const outcomes: string[] = [];
    const wait = (name: string) =>
      void acknowledgement.wait().then((txid) => outcomes.push(`${name} ${txid}`));
    wait("a");
    wait("b");
    await settle();
    expect(uploads).toHaveLength(1);
    wait("c");
    wait("d");
    await settle();
    expect(uploads).toHaveLength(1);
    uploads[0]?.resolve(1);
    await settle();
    expect(outcomes).toEqual(["a 1", "b 1"]);
    expect(uploads).toHaveLength(2);
    uploads[1]?.resolve(2);
    await settle();
    expect(outcomes.slice(2)).toEqual(["c 2", "d 2"]);
  });

  test("is given for this machine alone if the store does not answer within 2 seconds", async () => {
    const { acknowledgement, alarms, clock } = await createPrimary();
    const waiting = acknowledgement.wait();
    await clock.advance(2_000);
    expect(await waiting).toBeUndefined();
    expect(acknowledgement.localWrites).toBe(1);
    expect(alarms.raised).toContain("durability_local");
  });

  test("tries a failed upload again within the 2 seconds", async () => {
    const { acknowledgement, clock, uploads } = await createPrimary();
    const waiting = acknowledgement.wait();
    await settle();
    uploads[0]?.reject(new Error("Litestream starts"));
    await settle();
    await clock.advance(100);
    uploads[1]?.resolve(3);
    await settle();
    expect(await waiting).toBe(3);
  });

  test("is refused if another node has become the primary, though the upload worked", async () => {
    const { acknowledgement, lease, store, uploads } = await createPrimary();
    const waiting = acknowledgement.wait();
    await settle();
    await writeLeader(store, await readLeader(store), leaderRecord({ term: 2, node: "node_b" }));
    uploads[0]?.resolve(1);
    await expect(waiting).rejects.toThrow("not the primary");
    expect(lease.isHeld()).toBe(false);
    await expect(acknowledgement.wait()).rejects.toThrow("not the primary");
  });

  test("is refused if the lease ended while the write waited", async () => {
    const { acknowledgement, clock, store } = await createPrimary();
    store.isDown = true;
    await clock.advance(9_000);
    const waiting = acknowledgement.wait();
    const failure = waiting.catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(String(await failure)).toContain("not the primary");
  });

  test("does not count an upload to a prefix that the record does not name", async () => {
    const { acknowledgement, clock, lease, replication, uploads } = await createPrimary();
    replication.prefix = "term-000001-2";
    const waiting = acknowledgement.wait();
    await settle();
    uploads[0]?.resolve(1);
    await settle();
    await lease.change({ prefix: "term-000001-2" });
    await clock.advance(100);
    uploads[1]?.resolve(2);
    await settle();
    expect(await waiting).toBe(2);
    expect(uploads).toHaveLength(2);
  });
});

describe("a row that is to be sent", () => {
  test("waits for the round that began after it, and rows of that time do not wait then", async () => {
    const { newId, uploads, waitForRow } = await createPrimary();
    const [first, second] = [newId("eml"), newId("dlv")];
    const waiting = waitForRow(first);
    await settle();
    const later = newId("eml");
    // It joins the running round, whose upload has it.
    const other = waitForRow(second);
    await settle();
    expect([uploads.length, waiting.isOver, other.isOver]).toEqual([1, false, false]);
    uploads[0]?.resolve(1);
    await settle();
    expect([waiting.isOver, other.isOver]).toEqual([true, true]);
    const again = waitForRow(first);
    const tooLate = waitForRow(later);
    await settle();
    expect([again.isOver, tooLate.isOver, uploads.length]).toEqual([true, false, 2]);
    uploads[1]?.resolve(2);
    await settle();
    expect(tooLate.isOver).toBe(true);
  });

  test("is sent without an upload after 2 seconds, but no later row because of that", async () => {
    const { acknowledgement, alarms, clock, newId, uploads, waitForRow } = await createPrimary();
    const first = waitForRow(newId("eml"));
    await settle();
    await clock.advance(1_900);
    expect(first.isOver).toBe(false);
    await clock.advance(100);
    expect(first.isOver).toBe(true);
    expect(alarms.raised).toContain("durability_local");
    expect(acknowledgement.localWrites).toBe(0);
    const second = waitForRow(newId("eml"));
    await settle();
    uploads[0]?.reject(new Error("the store does not answer"));
    await settle();
    await clock.advance(100);
    expect([second.isOver, uploads.length]).toEqual([false, 2]);
    uploads[1]?.resolve(1);
    await settle();
    expect(second.isOver).toBe(true);
    expect(alarms.raised).not.toContain("durability_local");
  });

  test("does not wait again for a store that did not answer, until it answers", async () => {
    const { clock, newId, uploads, waitForRow } = await createPrimary();
    const [first, second] = [newId("eml"), newId("eml")];
    waitForRow(first);
    await settle();
    const later = newId("eml");
    await clock.advance(2_000);
    const [queued, tooLate] = [waitForRow(second), waitForRow(later)];
    await settle();
    expect([queued.isOver, tooLate.isOver]).toEqual([true, false]);
    uploads[0]?.reject(new Error("the store does not answer"));
    await settle();
    await clock.advance(100);
    uploads[1]?.resolve(1);
    await settle();
    expect([tooLate.isOver, uploads.length]).toEqual([true, 2]);
    const next = waitForRow(newId("eml"));
    await settle();
    expect([next.isOver, uploads.length]).toEqual([false, 3]);
  });

  test("waits for a new round after a commit of another process", async () => {
    const { foreign, newId, uploads, waitForRow } = await createPrimary();
    const id = newId("eml");
    waitForRow(id);
    await settle();
    uploads[0]?.resolve(1);
    await settle();
    foreign.version += 1;
    const waiting = waitForRow(id);
    await settle();
    expect([waiting.isOver, uploads.length]).toEqual([false, 2]);
    uploads[1]?.resolve(2);
    await settle();
    expect(waiting.isOver).toBe(true);
  });

  test("is refused once another node is the primary, also if it was uploaded", async () => {
    const { acknowledgement, newId, store, uploads } = await createPrimary();
    const id = newId("eml");
    const uploaded = acknowledgement.waitForRow(id);
    await settle();
    uploads[0]?.resolve(1);
    await uploaded;
    const waiting = acknowledgement.waitForRow(newId("eml"));
    await settle();
    await writeLeader(store, await readLeader(store), leaderRecord({ term: 2, node: "node_b" }));
    uploads[1]?.resolve(2);
    await expect(waiting).rejects.toThrow("not the primary");
    await expect(acknowledgement.waitForRow(id)).rejects.toThrow("not the primary");
  });
});

describe("an answer of the primary", () => {
  const context = (facts: object = {}) =>
    ({ caller: { kind: "key" }, route: { path: "/" }, ...facts }) as RequestContext;
  const post = new Request("https://status.test/", { method: "POST" });

  /** Answers a request whose handler commits a change, and counts the waits. */
  async function answer(
    request: Request,
    requestContext: RequestContext,
    { status = 200, commits = true, isUploaded = true, isFailing = false } = {},
  ) {
    const db = { changes: 5 };
    let waits = 0;
    const acknowledge = createAcknowledge(db, async () => {
      waits += 1;
      return isUploaded ? 0x2a : undefined;
    });
    const handle = acknowledge(async () => {
      if (commits) db.changes += 1;
      if (isFailing) throw new Error("failed");
      return new Response(null, { status });
    });
    const answered = handle({ request, requestContext, params: {}, query: "" });
    const headers = await Promise.resolve(answered).then(
      (response) => response.headers,
      () => new Headers(),
    );
    return {
      waits,
      durability: headers.get("allclear-durability"),
      txid: headers.get("allclear-txid"),
    };
  }

  test("waits after a change, and names a transaction with it, or says that it is on one machine only", async () => {
    const stored = { waits: 1, durability: null, txid: "000000000000002a" };
    expect(await answer(post, context())).toEqual(stored);
    const local = await answer(post, context(), { isUploaded: false });
    expect(local).toEqual({ waits: 1, durability: "local", txid: null });
  });

  test.each([
    ["a read", new Request("https://status.test/"), context(), {}],
    ["a request without a change", post, context(), { commits: false }],
    ["a refused request", post, context(), { status: 422 }],
    ["a failed request", post, context(), { isFailing: true }],
    ["a heartbeat", post, context({ caller: { kind: "job" } }), {}],
    ["a sign-in", post, context({ route: { path: "/admin/sign-in" } }), {}],
  ])("does not wait for %s", async (_, request, requestContext, options) => {
    const unchanged = { waits: 0, durability: null, txid: null };
    expect(await answer(request, requestContext, options)).toEqual(unchanged);
  });
});
