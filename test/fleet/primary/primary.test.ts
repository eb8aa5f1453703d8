import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readLeader, writeLeader } from "../../../src/fleet/leader";
import { describeWithPrograms } from "../../support/fleet/describe";
import { startLink } from "../../support/fleet/link";
import { type FleetNode, startNode } from "../../support/fleet/nodes";
import { connectTo, litestreamPid } from "../../support/fleet/primary";
import { readRestored } from "../../support/fleet/restored";
import { type S3Server, startS3 } from "../../support/fleet/s3";

const NAMES = "SELECT name FROM incidents ORDER BY id";

/** Time limit of tests with several processes, in ms. */
const LIMIT_MS = 600_000;

await describeWithPrograms("a primary", { go: ["litestream", "versitygw"] }, () => {
  let store: S3Server;
  beforeAll(async () => {
    store = await startS3();
  }, LIMIT_MS);
  afterAll(() => store[Symbol.asyncDispose]());

  test(
    "acknowledges a write when a restore from the store contains it, and goes on after kill -9",
    async () => {
      const path = "restart";
      await using node = await startNode({ store, path });
      const client = await connectTo(node);
      for (const name of ["one", "two", "three"]) {
        const answer = await client.openIncident(name);
        expect(answer.status).toBe(201);
        expect(answer.headers.get("allclear-durability")).toBeNull();
        expect(await readRestored(store, path, "term-000001-1", NAMES)).toContain(name);
      }
      const before = await litestreamPid(node);
      await node.kill();
      await node.restart();
      // The one that outlived its server was ended.
      expect(await litestreamPid(node)).not.toBe(before);
      expect(() => process.kill(before, 0)).toThrow();
      expect((await client.openIncident("four")).status).toBe(201);
      const restored = await readRestored(store, path, "term-000001-1", NAMES);
      expect(restored).toEqual(["one", "two", "three", "four"]);
      const terms = await readRestored(store, path, "term-000001-1", "SELECT term FROM terms");
      expect(terms).toEqual([1]);
      expect((await readLeader(store.open(path)))?.record).toMatchObject({
        term: 1,
        previous: null,
      });
    },
    LIMIT_MS,
  );

  test(
    "starts Litestream again when that has died, so that writes still reach the store",
    async () => {
      const path = "litestream";
      await using node = await startNode({ store, path });
      const client = await connectTo(node);
      process.kill(await litestreamPid(node), "SIGKILL");
      const answer = await client.openIncident("one");
      expect(answer.headers.get("allclear-durability")).toBeNull();
      expect(await readRestored(store, path, "term-000001-1", NAMES)).toEqual(["one"]);
      expect(node.output()).toContain("Litestream ended; starting it again");
    },
    LIMIT_MS,
  );

  test(
    "answers that a write is on one machine only while the store does not answer",
    async () => {
      const path = "cut";
      await using link = await startLink(store.port);
      await using node = await startNode({ store, path, storePort: link.port });
      const client = await connectTo(node);
      link.stall();
      const local = await client.openIncident("one");
      expect(local.status).toBe(201);
      expect(local.headers.get("allclear-durability")).toBe("local");
      await link.mend();
      const replicated = await client.openIncident("two");
      expect(replicated.headers.get("allclear-durability")).toBeNull();
      expect(await readRestored(store, path, "term-000001-1", NAMES)).toEqual(["one", "two"]);
    },
    LIMIT_MS,
  );

  test(
    "acknowledges nothing once another node has begun a later term, sets its database aside, and ends",
    async () => {
      const path = "superseded";
      await using node = await startNode({ store, path });
      const client = await connectTo(node);
      await client.openIncident("one");
      await beginLaterTerm(store, path);
      const refused = await client.openIncident("two");
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({ code: "unavailable" });
      expect(await node.exited()).toBe(1);
      expect(node.output()).toContain("The primary is node_other now");
      expect(existsSync(join(node.folder, "allclear.db.term-1"))).toBe(true);
      expect(existsSync(join(node.folder, "allclear.db"))).toBe(false);
      expect((await readLeader(store.open(path)))?.record.node).toBe("node_other");
      // A start without --replica does not begin a second history.
      await expect(node.restart()).rejects.toThrow("Start this node with --replica");
      expect(existsSync(join(node.folder, "allclear.db"))).toBe(false);
    },
    LIMIT_MS,
  );

  test(
    "finds at its start that another node has begun a later term, and writes nothing",
    async () => {
      const path = "returning";
      await using node = await startNode({ store, path });
      await connectTo(node);
      await node.kill();
      await beginLaterTerm(store, path);
      await expect(node.restart()).rejects.toThrow("allclear.db.term-1");
      expect(existsSync(join(node.folder, "allclear.db.term-1"))).toBe(true);
    },
    LIMIT_MS,
  );

  test(
    "does not start beside another primary",
    async () => {
      const path = "second";
      await using node = await startNode({ store, path });
      expect(await litestreamPid(node)).toBeGreaterThan(1);
      await expect(startNode({ store, path })).rejects.toThrow("Start this node with --replica");
    },
    LIMIT_MS,
  );

  test(
    "serves pages, and refuses requests with a key, until the store has answered for the first time",
    async () => {
      const path = "late";
      await using link = await startLink(store.port);
      await using node = await startNode({ store, path, storePort: link.port });
      const client = await connectTo(node);
      await node.kill();
      await link.cut();
      await node.restart();
      expect((await node.call("/readyz")).status).toBe(200);
      expect((await node.call("/status/sample")).status).toBe(200);
      const refused = await client.openIncident("one");
      expect([refused.status, await refused.json()]).toEqual([
        503,
        expect.objectContaining({ detail: expect.stringContaining("if keys were revoked") }),
      ]);
      expect(
        (await node.run("key", "create", "--name", "late", "--scope", "read:status")).code,
      ).toBe(0);
      // It is not known if the fleet has a database.
      const empty = startNode({ store, path, storePort: link.port });
      await expect(empty).rejects.toThrow("it is not known if the fleet has one");
    },
    LIMIT_MS,
  );

  test.each([
    [
      "a program that is missing",
      { ALLCLEAR_LITESTREAM: "/nowhere/litestream" },
      "cannot be started",
    ],
    ["a program of another kind", { ALLCLEAR_LITESTREAM: "/bin/true" }, "of an unknown version"],
  ])(
    "does not start with %s as Litestream",
    async (_, env, message) => {
      const starting: Promise<FleetNode> = startNode({ store, path: "program", env });
      await expect(starting).rejects.toThrow(message);
    },
    LIMIT_MS,
  );
});

/** Makes another node the primary of the next term, as a promotion does. */
async function beginLaterTerm(server: S3Server, path: string): Promise<void> {
  const store = server.open(path);
  const current = await readLeader(store);
  if (!current) throw new Error("there is no primary");
  const { term, prefix } = current.record;
  const written = await writeLeader(store, current, {
    ...current.record,
    term: term + 1,
    node: "node_other",
    run: "other",
    prefix: "term-000002-1",
    previous: { term, prefix, txid: 0 },
  });
  if (written === "changed") return beginLaterTerm(server, path);
}
