import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { SetAside } from "../../../src/features/alarms/fleet";
import { createNodeRegistry, type NodeReport } from "../../../src/fleet/primary/nodes";
import { createRank, startReporting } from "../../../src/fleet/replica/serve";
import { createSignal } from "../../../src/base/signal";
import { MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createTestClock, settle, TEST_START, type TestClock } from "../../support/clock";

const REPORT: NodeReport = {
  node: "oslo",
  isEligible: true,
  version: "1.0.0",
  schema: 20,
  txid: "000000000000002a",
  lagSeconds: 0.4,
  clockSkewMs: 12,
  setAside: [],
};
const OWN: NodeReport = { ...REPORT, node: "bergen", lagSeconds: null };

let clock: TestClock;
let own: NodeReport;
let registry: ReturnType<typeof createNodeRegistry>;
/** Files whose events were dismissed. */
let dismissed: Set<string>;
/** Details of the alarms that hold. */
let raised: Map<string, string>;

beforeEach(async () => {
  clock = createTestClock();
  own = OWN;
  dismissed = new Set();
  raised = new Map();
  const alarms = {
    raise: (kind: string, detail: string) => void raised.set(kind, detail),
    clear: (kind: string) => void raised.delete(kind),
  };
  const readUndismissed = () => (one: SetAside) => one.events > 0 && !dismissed.has(one.file);
  registry = createNodeRegistry({ clock, alarms, readUndismissed }, () => own);
});
afterEach(() => registry.stop());

/** Sends a report, and returns the status of the answer. */
async function report(changes: object = {}): Promise<number> {
  return (await answerTo(changes)).status;
}

async function answerTo(changes: object): Promise<Response> {
  const body = JSON.stringify({ ...REPORT, ...changes });
  return registry.take(new Request("http://a/fleet/v1/nodes", { method: "POST", body }));
}

describe("the registry of nodes", () => {
  test("lists the primary, then the replicas by name, with the time of their last report", async () => {
    expect(await report({ node: "trondheim", txid: null, lagSeconds: null })).toBe(200);
    await clock.advance(SECOND_MS);
    await report();
    await report({ lagSeconds: 0.6 });
    expect(registry.list()).toEqual([
      {
        name: "bergen",
        role: "primary",
        isEligible: true,
        isSelf: true,
        version: "1.0.0",
        txid: "000000000000002a",
        lagSeconds: undefined,
        seenAt: TEST_START + SECOND_MS,
      },
      expect.objectContaining({ name: "oslo", role: "replica", isSelf: false, lagSeconds: 0.6 }),
      expect.objectContaining({ name: "trondheim", txid: undefined, seenAt: TEST_START }),
    ]);
  });

  test.each([
    ["no JSON", "{"],
    ["another type", "[]"],
    ["a missing field", JSON.stringify({ ...REPORT, txid: undefined })],
    ["an empty name", JSON.stringify({ ...REPORT, node: "" })],
    ["a long name", JSON.stringify({ ...REPORT, node: "x".repeat(101) })],
  ])("refuses a report with %s", async (_name, body) => {
    const request = new Request("http://a/fleet/v1/nodes", { method: "POST", body });
    expect((await registry.take(request)).status).toBe(422);
    expect(registry.list()).toHaveLength(1);
  });

  test("keeps at most 200 replicas", async () => {
    for (let number = 0; number < 205; number++) await report({ node: `node-${number}` });
    expect(registry.list()).toHaveLength(201);
  });

  test("forgets a replica after 15 minutes of silence", async () => {
    await report();
    await clock.advance(15 * MINUTE_MS);
    expect(registry.list()).toHaveLength(2);
    await clock.advance(5 * SECOND_MS);
    expect(registry.list()).toHaveLength(1);
    expect([...raised]).toEqual([]);
  });
});

describe("the rank of a replica", () => {
  /** Returns the ranks of nodes after the same answer, which each gets at its next report. */
  async function ranksOf(...names: string[]): Promise<number[]> {
    const answer = await (await answerTo({ node: "reader", isEligible: false })).text();
    return names.map((name) => {
      const rank = createRank(name);
      rank.take(answer);
      return rank.get();
    });
  }

  test("is the number of eligible replicas with newer copies, by name among equal ones", async () => {
    expect(await ranksOf("oslo")).toEqual([0]);
    await report({ node: "voss" });
    await report({ node: "oslo" });
    await report({ node: "bodo", txid: "0000000000000029" });
    await report({ node: "moss", txid: "0000000000000100" });
    await report({ node: "new", txid: null });
    await clock.advance(5 * SECOND_MS);
    expect(await ranksOf("moss", "oslo", "voss", "bodo", "new", "unknown")).toEqual([
      0, 1, 2, 3, 4, 5,
    ]);
  });

  test("stays the same for all until the next check, also if one has reported more since", async () => {
    await report({ node: "oslo" });
    await report({ node: "voss", txid: "0000000000000029" });
    await clock.advance(5 * SECOND_MS);
    await report({ node: "voss", txid: "000000000000002b" });
    expect(await ranksOf("oslo", "voss")).toEqual([0, 1]);
    await clock.advance(5 * SECOND_MS);
    expect(await ranksOf("oslo", "voss")).toEqual([1, 0]);
  });

  test("does not count replicas that are silent for more than 30 seconds", async () => {
    await report({ node: "moss", txid: "0000000000000100" });
    await clock.advance(20 * SECOND_MS);
    await report({ node: "oslo" });
    await clock.advance(15 * SECOND_MS);
    expect(await ranksOf("oslo")).toEqual([0]);
  });

  test.each(["", "{}"])("is the last known one after an answer without an order: %p", (answer) => {
    const rank = createRank("oslo");
    rank.take(JSON.stringify({ candidates: ["voss", "oslo"] }));
    rank.take(answer);
    expect(rank.get()).toBe(1);
  });
});

describe("two replicas with one identity", () => {
  const from = (host: string, run: string) => report({ node: `${host}/node_1`, run });

  test("are detected when they report in turn, and the later one is refused until the first is gone", async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++) {
      expect(await from("oslo", "first")).toBe(200);
      statuses.push(await from("voss", "second"));
      await clock.advance(5 * SECOND_MS);
    }
    expect(statuses).toEqual([200, 200, 409, 409]);
    const answer = await answerTo({ node: "voss/node_1", run: "second" });
    expect(await answer.json()).toMatchObject({
      detail: expect.stringContaining("the data directory was copied"),
    });
    await clock.advance(30 * SECOND_MS);
    expect(await from("voss", "second")).toBe(200);
    expect(await from("voss", "second")).toBe(200);
  });

  test("are not seen in a replica that is started again and again, also if one old report is late", async () => {
    for (const run of ["a", "a", "b", "a", "b", "b", "c", "c", "d", "c", "d", "e", "f", "f"]) {
      expect(await from("oslo", run)).toBe(200);
      await clock.advance(SECOND_MS);
    }
  });

  test("are not seen in replicas of other identities, or of an earlier version", async () => {
    for (let round = 0; round < 4; round++) {
      expect(await report({ node: "oslo/node_1", run: "a" })).toBe(200);
      expect(await report({ node: "oslo/node_2", run: "b" })).toBe(200);
      expect(await report({ node: "oslo/node_3" })).toBe(200);
    }
  });

  test("are detected at once if one of them is the primary", async () => {
    own = { ...OWN, node: "bergen/node_1" };
    expect(await from("oslo", "copy")).toBe(409);
    expect(registry.list()).toHaveLength(1);
  });
});

/** Lets replicas report for a time, and returns the alarms. */
async function after(ms: number, ...reports: object[]): Promise<Record<string, string>> {
  for (let passed = 0; passed < ms; passed += 5 * SECOND_MS) {
    for (const changes of reports) await report(changes);
    await clock.advance(5 * SECOND_MS);
  }
  return Object.fromEntries(raised);
}

describe("the registry raises alarms", () => {
  test("about replicas that are more than 10 seconds behind, and ends them", async () => {
    expect(await after(40_000, { lagSeconds: 10 })).toEqual({});
    expect(await after(5_000, { lagSeconds: 10.6 }, { node: "voss", lagSeconds: 14 })).toEqual({
      replica_lag: "oslo is 11 seconds behind. voss is 14 seconds behind.",
    });
    expect(await after(5_000, { lagSeconds: 3 }, { node: "voss" })).toEqual({});
  });

  test("about a replica that is silent for more than 30 seconds", async () => {
    await report();
    expect(await after(30_000)).toEqual({});
    expect(await after(5_000)).toEqual({ replica_lag: "oslo has been silent for 35 seconds." });
  });

  test("about a replica that has had no data for more than 30 seconds since its start", async () => {
    const empty = { txid: null, lagSeconds: null, schema: null };
    expect(await after(30_000, empty)).toEqual({});
    expect(await after(5_000, empty)).toEqual({
      replica_lag: "oslo has had no data for 35 seconds.",
    });
    expect(await after(5_000, {})).toEqual({});
    expect(await after(30_000, empty)).toEqual({});
  });

  test("about other versions and schemas", async () => {
    expect(await after(5_000, { version: "1.1.0" }, { node: "voss", schema: 19 })).toEqual({
      version_mismatch:
        "oslo has version 1.1.0, the primary 1.0.0. voss has schema version 19, the primary 20.",
    });
    expect(await after(40_000, {}, { node: "voss", schema: null })).toEqual({});
  });

  test("about wrong clocks, also of the primary", async () => {
    expect(await after(5_000, { clockSkewMs: 2_600 })).toEqual({
      clock_skew: "The clock of oslo is 2.6 s behind.",
    });
    own = { ...OWN, clockSkewMs: -3_000 };
    expect(await after(5_000, { clockSkewMs: 2_000 })).toEqual({
      clock_skew: "The clock of bergen is 3.0 s ahead.",
    });
    own = { ...OWN, clockSkewMs: null };
    expect(await after(40_000, {})).toEqual({});
  });

  test("about databases of earlier terms with events that the history lacks, also of the primary", async () => {
    const [file, events] = ["/data/allclear.db.term-6", 3];
    own = { ...OWN, setAside: [{ file: "/data/allclear.db.term-2", events: 1 }] };
    expect(await after(5_000, { setAside: [{ file, events }] })).toEqual({
      orphans:
        "bergen keeps 1 event of an earlier term in /data/allclear.db.term-2: see allclear fleet orphans, then dismiss them in Settings → Fleet or remove the file. oslo keeps 3 events of an earlier term in /data/allclear.db.term-6: see allclear fleet orphans, then dismiss them in Settings → Fleet or remove the file.",
    });
    expect(registry.orphans().map(({ node, events }) => [node, events])).toEqual([
      ["bergen", 1],
      ["oslo", 3],
    ]);
    dismissed.add("/data/allclear.db.term-2");
    expect(registry.orphans()).toEqual([{ node: "oslo", file, events }]);
    expect((await after(5_000, { setAside: [{ file, events }] })).orphans).toStartWith("oslo");
    dismissed.add(file);
    expect(await after(40_000, { setAside: [{ file, events }] })).toEqual({});
    dismissed.clear();
    own = OWN;
    expect(await after(40_000, { setAside: [{ file, events: 0 }] })).toEqual({});
  });

  test("and ends those of an earlier primary once it may have heard from all replicas", async () => {
    raised.set("replica_lag", "oslo is 20 seconds behind.");
    expect(Object.keys(await after(25_000))).toEqual(["replica_lag"]);
    expect(await after(5_000)).toEqual({});
  });
});

describe("a wait for the replicas of a primary", () => {
  /** Returns a function that tells if all replicas have the transaction 43. */
  function waitFor43(): () => boolean {
    let isOver = false;
    void registry.whenApplied(43).then(() => (isOver = true));
    return () => isOver;
  }

  test("is over at once without replicas", async () => {
    const isOver = waitFor43();
    await settle();
    expect(isOver()).toBe(true);
  });

  test("ends when the last of them has applied the transaction", async () => {
    await report();
    await report({ node: "trondheim", txid: null });
    const isOver = waitFor43();
    await report({ txid: "000000000000002b" });
    expect(isOver()).toBe(false);
    await report({ node: "trondheim", txid: "000000000000002c" });
    expect(isOver()).toBe(true);
  });

  test("ends without those that are gone, and when the primary stops", async () => {
    await report();
    const first = waitFor43();
    await clock.advance(35 * SECOND_MS);
    expect(first()).toBe(true);
    await report();
    const second = waitFor43();
    registry.stop();
    await settle();
    expect(second()).toBe(true);
  });
});

describe("reports of a replica", () => {
  test("follow a change within a second, and not more often", async () => {
    const changed = createSignal<void>();
    const sentAt: number[] = [];
    const timer = startReporting(
      clock,
      changed,
      () => REPORT,
      async () => void sentAt.push(clock.now() - TEST_START),
    );
    for (let step = 0; step < 20; step++) {
      changed.emit();
      await clock.advance(100);
    }
    expect(sentAt).toEqual([1_000, 2_000]);
    timer.cancel();
    await clock.advance(MINUTE_MS);
    expect(sentAt.length).toBe(2);
  });
});

test("a replica reports every 5 seconds, one report after the other, also after a failure", async () => {
  let sent = 0;
  let finish: PromiseWithResolvers<void> = Promise.withResolvers();
  const timer = startReporting(
    clock,
    createSignal<void>(),
    () => REPORT,
    async (given) => {
      expect(given).toBe(REPORT);
      sent += 1;
      await finish.promise;
    },
  );
  await clock.advance(15 * SECOND_MS);
  expect(sent).toBe(1);
  finish.reject(new Error("no answer"));
  await settle();
  finish = Promise.withResolvers();
  finish.resolve();
  // What was due is sent within a second.
  await clock.advance(SECOND_MS);
  expect(sent).toBe(2);
  await clock.advance(10 * SECOND_MS);
  expect(sent).toBe(4);
  timer.cancel();
});
