import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatTxid } from "../../../src/db/followed-database";
import { examineLog, watchLog } from "../../../src/fleet/log/restore";
import { holdLease, readLeader, writeLeader } from "../../../src/fleet/leader";
import { createTestClock, settle } from "../../support/clock";
import { createTestAlarms, leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore, type MemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";
import { temporaryFolder } from "../../support/temporary-folder";
import { until } from "../../support/until";

const PREFIX = "term-000001-1";
const BYTES = new TextEncoder().encode("ltx");

let folder: ReturnType<typeof temporaryFolder>;
let store: MemoryStore;

beforeEach(() => {
  folder = temporaryFolder();
  store = createMemoryStore();
});
afterEach(() => folder[Symbol.dispose]());

const nameOf = (min: number, max = min) => `${formatTxid(min)}-${formatTxid(max)}.ltx`;
const levelPrefix = (prefix: string, level: number) => `${prefix}/000${level}/`;
const keyOf = (level: number, min: number, max = min) =>
  `${levelPrefix(PREFIX, level)}${nameOf(min, max)}`;

async function upload(level: number, ...ranges: [number, number?][]): Promise<void> {
  for (const [min, max] of ranges) await store.put(keyOf(level, min, max), BYTES);
}

function keepHere(...txids: number[]): void {
  for (const txid of txids) writeFileSync(join(folder.path, nameOf(txid)), BYTES);
}

const audit = (until: number) =>
  examineLog({ store, prefix: PREFIX, levelPrefix, localFiles: folder.path, until });

describe("an audit of the log", () => {
  test("finds a log whole that goes from a snapshot over merged files to the newest ones", async () => {
    await upload(9, [1, 1], [1, 7]);
    await upload(2, [2, 6]);
    await upload(1, [5, 6], [7, 9]);
    await upload(0, [9], [10], [11]);
    expect(await audit(11)).toEqual({ kind: "whole" });
  });

  test("finds it whole if a missing file is contained in a merged one", async () => {
    await upload(9, [1, 1]);
    await upload(1, [2, 4]);
    await upload(0, [2], [4], [5]);
    expect(await audit(5)).toEqual({ kind: "whole" });
  });

  test("uploads missing files again from this machine", async () => {
    await upload(9, [1, 1]);
    await upload(0, [2], [5], [7]);
    keepHere(2, 3, 4, 5, 6, 7);
    expect(await audit(7)).toEqual({ kind: "filled", files: 3 });
    expect(store.objects.has(keyOf(0, 3))).toBe(true);
    expect(await audit(7)).toEqual({ kind: "whole" });
  });

  test("uploads the newest file again if it was removed", async () => {
    await upload(9, [1, 1]);
    await upload(0, [2]);
    keepHere(2, 3);
    expect(await audit(3)).toEqual({ kind: "filled", files: 1 });
  });

  test("finds a log lost if this machine lacks a missing file too", async () => {
    await upload(9, [1, 1]);
    await upload(0, [2], [4]);
    keepHere(4);
    expect(await audit(4)).toEqual({ kind: "lost" });
  });

  test("finds a log lost without a snapshot and its first files", async () => {
    await upload(0, [40], [41]);
    expect(await audit(41)).toEqual({ kind: "lost" });
  });

  test("goes on without a snapshot if the first files are there", async () => {
    await upload(0, [1], [2]);
    expect(await audit(2)).toEqual({ kind: "whole" });
  });
});

describe("the watch over the log", () => {
  async function startWatch() {
    const clock = createTestClock();
    const alarms = createTestAlarms();
    const { log } = createTestLog("silent");
    const leader = await writeLeader(store, undefined, leaderRecord());
    if (leader === "changed") throw new Error("not written");
    const lease = holdLease(
      { store, clock, log, alarms, isAutomatic: true },
      leader,
      clock.monotonic(),
    );
    const replication = {
      prefix: PREFIX,
      restarts: 0,
      lastTxid: 0,
      txid: 3 as number | undefined,
      async sync() {
        if (replication.txid === undefined) throw new Error("the store does not answer");
        return replication.txid;
      },
      localFiles: () => folder.path,
      async moveTo(prefix: string) {
        replication.prefix = prefix;
      },
      async stop() {},
    };
    const address = {
      kind: "s3",
      bucket: "b",
      path: "",
      region: "r",
      endpoint: undefined,
    } as const;
    const litestream = { program: "", store: address, credentials: undefined };
    const fleetStore = { leader: store, files: store, litestream };
    watchLog({ clock, log, alarms, lease, replication, store: fleetStore });
    return { alarms, clock, replication };
  }

  test("repairs a hole within 90 seconds, with an alarm until the log is whole", async () => {
    const { alarms, clock } = await startWatch();
    await upload(9, [1, 1]);
    await upload(0, [3]);
    keepHere(2, 3);
    await clock.advance(60_000);
    // Reading the files of this machine takes turns of the event loop.
    await until(() => alarms.raised.has("log_hole"));
    expect(store.objects.has(keyOf(0, 2))).toBe(true);
    await clock.advance(60_000);
    expect(alarms.raised).not.toContain("log_hole");
  });

  test("begins a new log if a hole cannot be repaired, and names it in the record", async () => {
    const { alarms, clock, replication } = await startWatch();
    await upload(0, [3]);
    mkdirSync(join(folder.path, "empty"));
    await clock.advance(60_000);
    await until(() => replication.prefix !== PREFIX);
    expect(alarms.raised).toContain("log_hole");
    expect(replication.prefix).toBe("term-000001-2");
    await settle();
    expect((await readLeader(store))?.record.prefix).toBe("term-000001-2");
  });

  test("does not write into a new log that an earlier process has begun", async () => {
    const { clock, replication } = await startWatch();
    await upload(0, [3]);
    await store.put("term-000001-2/0000/0000000000000001-0000000000000001.ltx", BYTES);
    await clock.advance(60_000);
    await until(() => replication.prefix !== PREFIX);
    expect(replication.prefix).toBe("term-000001-3");
  });

  test("raises an alarm when nothing was uploaded for 30 seconds", async () => {
    const { alarms, clock, replication } = await startWatch();
    await upload(0, [1], [2], [3]);
    replication.txid = undefined;
    await clock.advance(20_000);
    expect(alarms.raised).not.toContain("upload_stalled");
    await clock.advance(10_000);
    expect(alarms.raised).toContain("upload_stalled");
    replication.txid = 3;
    await clock.advance(10_000);
    expect(alarms.raised).not.toContain("upload_stalled");
  });

  test("ends the alarm of writes on one machine once they are uploaded, also if no other write follows", async () => {
    const { alarms, clock, replication } = await startWatch();
    await upload(0, [1], [2], [3]);
    alarms.raise("durability_local", "The fleet store has not answered.");
    replication.txid = undefined;
    await clock.advance(10_000);
    expect(alarms.raised).toContain("durability_local");
    replication.txid = 3;
    await clock.advance(10_000);
    expect(alarms.raised).not.toContain("durability_local");
  });
});
