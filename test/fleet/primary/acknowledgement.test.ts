import { describe, expect, test } from "bun:test";
import { createAcknowledge } from "../../../src/fleet/primary/acknowledge";
import { createAcknowledgement } from "../../../src/fleet/primary/acknowledgement";
import { readLeader, writeLeader } from "../../../src/fleet/leader/record";
import { holdLease } from "../../../src/fleet/leader/lease";
import type { RequestContext } from "../../../src/http";
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
  const acknowledgement = createAcknowledgement({ clock, lease, replication, alarms });
  return { acknowledgement, alarms, clock, lease, replication, store, uploads };
}

describe("the acknowledgement of a write", () => {
  test("waits for the upload and then for a look at the record", async () => {
    const { acknowledgement, store, uploads } = await createPrimary();
    const answer = Promise.withResolvers<void>();
    store.hold = () => answer.promise;
    const reads = store.counts.get;
    let outcome: string | undefined;
    void acknowledgement.wait().then((durability) => (outcome = durability));
    await settle();
    expect(store.counts.get).toBe(reads);
    uploads[0]?.resolve(7);
    await settle();
    expect(store.counts.get).toBe(reads + 1);
    expect(outcome).toBeUndefined();
    answer.resolve();
    await settle();
    expect(outcome).toBe("replicated");
  });

  test("shares one round with all writes that wait, and never a round that had begun before it", async () => {
    const { acknowledgement, uploads } = await createPrimary();
    const outcomes: string[] = [];
    const wait = (name: string) =>
      void acknowledgement.wait().then((durability) => outcomes.push(`${name} ${durability}`));
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
    expect(outcomes).toEqual(["a replicated", "b replicated"]);
    expect(uploads).toHaveLength(2);
    uploads[1]?.resolve(2);
    await settle();
    expect(outcomes.slice(2)).toEqual(["c replicated", "d replicated"]);
  });

  test("is given for this machine alone if the store does not answer within 2 seconds", async () => {
    const { acknowledgement, alarms, clock } = await createPrimary();
    const waiting = acknowledgement.wait();
    await clock.advance(2_000);
    expect(await waiting).toBe("local");
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
    expect(await waiting).toBe("replicated");
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
    expect(await waiting).toBe("replicated");
    expect(uploads).toHaveLength(2);
  });
});

describe("an answer of the primary", () => {
  const context = (facts: object = {}) =>
    ({ caller: { kind: "key" }, failure: undefined, route: { path: "/" }, ...facts }) as never as
      RequestContext | undefined;
  const post = new Request("https://status.test/", { method: "POST" });

  /** Answers a request whose handler commits a change, and counts the waits. */
  async function answer(
    request: Request,
    requestContext: RequestContext | undefined,
    { status = 200, commits = true, durability = "replicated" as "replicated" | "local" } = {},
  ) {
    const db = { changes: 5 };
    let waits = 0;
    const acknowledge = createAcknowledge(db, async () => {
      waits += 1;
      return durability;
    });
    const handled = Promise.resolve().then(() => {
      if (commits) db.changes += 1;
      return new Response(null, { status });
    });
    const response = await acknowledge(requestContext, request, handled);
    return { waits, durability: response.headers.get("allclear-durability") };
  }

  test("waits after a change, and says when it is on one machine only", async () => {
    expect(await answer(post, context())).toEqual({ waits: 1, durability: null });
    const local = await answer(post, context(), { durability: "local" });
    expect(local).toEqual({ waits: 1, durability: "local" });
  });

  test.each([
    ["a read", new Request("https://status.test/"), context(), {}],
    ["a request without a change", post, context(), { commits: false }],
    ["a refused request", post, context(), { status: 422 }],
    ["a failed request", post, context({ failure: {} }), {}],
    ["a heartbeat", post, context({ caller: { kind: "job" } }), {}],
    ["a sign-in", post, context({ route: { path: "/admin/sign-in" } }), {}],
  ])("does not wait for %s", async (_, request, requestContext, options) => {
    expect((await answer(request, requestContext, options)).waits).toBe(0);
  });
});
