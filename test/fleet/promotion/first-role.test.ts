import { describe, expect, test } from "bun:test";
import { folderAddress } from "../../../src/base/store-address";
import { isStillPrimary, roleWithoutDatabase } from "../../../src/fleet/run-node";
import { type LeaderRecord, writeLeader } from "../../../src/fleet/leader";
import { leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";

const FIRST_FILE = "term-000001-1/ltx/0/0000000000000001-0000000000000001.ltx";

/** Returns the function that decides about a node in a fleet with this record, in which something was written. */
async function createFleet(record?: Partial<LeaderRecord>) {
  const store = createMemoryStore();
  if (record) await writeLeader(store, undefined, leaderRecord(record));
  if (record) await store.put(FIRST_FILE, new Uint8Array(1));
  const litestream = { program: "", store: folderAddress("/nowhere"), credentials: undefined };
  const roleOf = (changes: { rejoins?: boolean; hasCopy?: boolean; term?: number } = {}) => {
    const { rejoins = false, hasCopy = false, term } = changes;
    const node = { id: "node_b", term };
    return roleWithoutDatabase({
      node,
      store: { leader: store, files: store, litestream },
      rejoins,
      hasCopy,
    });
  };
  const isPrimary = (term: number) =>
    isStillPrimary({
      node: { id: "node_b", term },
      store: { leader: store, files: store, litestream },
    });
  return { isPrimary, roleOf, store };
}

describe("a node that is started as a primary without a database", () => {
  test("is the primary of a fleet that has none", async () => {
    const { roleOf } = await createFleet();
    expect(await roleOf()).toBe("primary");
    expect(await roleOf({ rejoins: true })).toBe("primary");
  });

  test("is refused before it creates one if another node is the primary", async () => {
    const { roleOf } = await createFleet({ node: "node_a" });
    await expect(roleOf()).rejects.toThrow("has a primary: node_a. Start this node with --replica");
  });

  test("is a replica again with --rejoin, also while the store does not answer", async () => {
    const { roleOf, store } = await createFleet({ node: "node_a" });
    expect(await roleOf({ rejoins: true })).toBe("replica");
    store.isDown = true;
    expect(await roleOf({ rejoins: true, hasCopy: true })).toBe("replica");
    await expect(roleOf({ hasCopy: true })).rejects.toThrow("has no database");
  });

  test("is refused while the store does not answer, since the fleet may have a database", async () => {
    const { roleOf, store } = await createFleet();
    store.isDown = true;
    for (const rejoins of [false, true]) {
      await expect(roleOf({ rejoins })).rejects.toThrow(
        "it is not known if the fleet has one. Start this node again when the store answers.",
      );
    }
  });

  test("does not begin an empty database beside the copy of a replica", async () => {
    const { roleOf } = await createFleet();
    await expect(roleOf({ hasCopy: true })).rejects.toThrow("allclear promote --force");
    expect(await roleOf({ hasCopy: true, rejoins: true })).toBe("replica");
    const interrupted = await createFleet({ node: "node_b" });
    interrupted.store.objects.delete(FIRST_FILE);
    await expect(interrupted.roleOf({ hasCopy: true, term: 1 })).rejects.toThrow("--eligible");
  });

  test("does not write an empty database into the log of its own term", async () => {
    const { roleOf } = await createFleet({ node: "node_b" });
    await expect(roleOf({ term: 1 })).rejects.toThrow("its data directory has no database");
    expect(await roleOf({ term: 1, rejoins: true })).toBe("replica");
  });

  test("begins the first term again if nothing was written in it", async () => {
    const { roleOf, store } = await createFleet({ node: "node_b" });
    store.objects.delete(FIRST_FILE);
    expect(await roleOf({ term: 1 })).toBe("primary");
  });
});

test("a node is still the primary if the record is that of its last term", async () => {
  const { isPrimary, store } = await createFleet({ node: "node_b" });
  expect(await isPrimary(1)).toBe(true);
  expect(await isPrimary(2)).toBe(false);
  store.isDown = true;
  expect(await isPrimary(1)).toBe(false);
  const other = await createFleet({ node: "node_a" });
  expect(await other.isPrimary(1)).toBe(false);
});
