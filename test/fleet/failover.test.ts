import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readLeader, writeLeader } from "../../src/fleet/leader";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { killMachine } from "../support/fleet/fleet";
import { leaderRecord } from "../support/fleet/leader";
import { expectWithin, waitingTest } from "../support/long";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { connectTo, litestreamPid } from "../support/fleet/primary";
import { type S3Server, startS3 } from "../support/fleet/s3";

const REPLICA = ["--replica", "--eligible"];

/** Time limit of a test, in ms. */
const LIMIT_MS = 600_000;

await describeWithPrograms("a failover", { go: ["litestream", "versitygw"] }, () => {
  let store: S3Server;
  beforeAll(async () => {
    store = await startS3();
  }, LIMIT_MS);
  afterAll(() => store[Symbol.asyncDispose]());

  const recordAt = async (path: string) => (await readLeader(store.open(path)))?.record;

  const hasStatus = (node: FleetNode, path: string, status: number) =>
    eventually(`${path} answers ${status}`, async () => (await node.call(path)).status === status);

  /** Returns the names of the incidents of a node. */
  async function namesAt(node: FleetNode, key: string): Promise<string[]> {
    const answer = await node.call("/api/v1/incidents", { key });
    const { data } = (await answer.json()) as { data: { name: string }[] };
    return data.map(({ name }) => name).toSorted();
  }

  test(
    "by hand keeps every acknowledged write, and sets the database of the old primary aside",
    async () => {
      const path = "by-hand";
      await using primary = await startNode({ store, path });
      const client = await connectTo(primary);
      await using replica = await startNode({ store, path, args: REPLICA });
      await hasStatus(replica, "/readyz/api", 200);
      expect((await client.openIncident("one")).status).toBe(201);
      const refused = await replica.run("promote");
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("may be alive")]);

      const litestream = await litestreamPid(primary);
      const names = ["two", "three", "four", "five"];
      for (const name of names) expect((await client.openIncident(name)).status).toBe(201);
      process.kill(litestream, "SIGKILL");
      await primary.kill();

      const began = performance.now();
      const promoted = await replica.run("promote", "--force");
      expect([promoted.code, promoted.stderr]).toEqual([
        0,
        expect.stringContaining("This node is the primary now."),
      ]);
      expectWithin(performance.now() - began, 5_000);
      expect(await namesAt(replica, client.key)).toEqual(["one", ...names].toSorted());
      expect((await client.openIncident("six", replica)).status).toBe(201);
      expect((await replica.call("/readyz/primary")).status).toBe(200);
      expect(await recordAt(path)).toMatchObject({
        term: 2,
        prefix: "term-000002-1",
        previous: { term: 1, prefix: "term-000001-1", txid: expect.any(Number) },
      });

      await expect(primary.restart()).rejects.toThrow("allclear.db.term-1");
      expect(existsSync(join(primary.folder, "allclear.db.term-1"))).toBe(true);
      await expect(primary.restart()).rejects.toThrow("Start this node with --replica");
      expect(existsSync(join(primary.folder, "allclear.db"))).toBe(false);
      // The copy is the database now.
      expect(readdirSync(join(replica.folder, "fleet", "replica"))).toEqual([]);
      expect((await client.openIncident("seven", replica)).status).toBe(201);
    },
    LIMIT_MS,
  );

  test(
    "planned by demote loses nothing, and both nodes go on in the other role",
    async () => {
      const path = "planned";
      await using first = await startNode({ store, path });
      const client = await connectTo(first);
      await using second = await startNode({ store, path, args: REPLICA });
      await hasStatus(second, "/readyz/api", 200);
      await client.openIncident("one");
      expect((await second.run("demote")).stderr).toContain("This node is a replica.");
      const demoted = await first.run("demote");
      expect([demoted.code, demoted.stderr]).toEqual([
        0,
        expect.stringContaining("This node is a replica now."),
      ]);
      const promoted = await second.run("promote");
      expect([promoted.code, promoted.stderr]).toEqual([0, expect.stringContaining("now")]);
      expect(await namesAt(second, client.key)).toEqual(["one"]);
      // The first one follows, and sends changes to the second.
      await hasStatus(first, "/readyz/api", 200);
      await eventually("a change through the first node is made", async () => {
        const answer = await client.openIncident("two", first);
        return answer.status === 201;
      });
      expect(await namesAt(second, client.key)).toEqual(["one", "two"]);
    },
    LIMIT_MS,
  );

  test(
    "to an empty store that was interrupted is completed at the next start with the replica's copy",
    async () => {
      const path = "interrupted";
      await using primary = await startNode({ store, path });
      const client = await connectTo(primary);
      await using replica = await startNode({ store, path, args: REPLICA });
      await hasStatus(replica, "/readyz/api", 200);
      expect((await client.openIncident("one")).status).toBe(201);
      await eventually(
        "the replica has the incident",
        async () => (await namesAt(replica, client.key)).length === 1,
      );
      await killMachine(primary);
      await replica.kill();
      // The store is lost, and `promote --force` was killed when it had written the record into the new one.
      const emptied = store.open(path);
      await emptied.remove((await emptied.list("")).map(({ key }) => key));
      const file = join(replica.folder, "fleet", "node.json");
      const { id } = JSON.parse(readFileSync(file, "utf8")) as { id: string };
      writeFileSync(file, JSON.stringify({ id, term: 2 }));
      const record = leaderRecord({ term: 2, node: id, prefix: "term-000002-1" });
      await writeLeader(emptied, undefined, record);

      await replica.restart();
      await hasStatus(replica, "/readyz/primary", 200);
      expect(await namesAt(replica, client.key)).toEqual(["one"]);
      expect((await client.openIncident("two", replica)).status).toBe(201);
      expect(await recordAt(path)).toMatchObject({ term: 3, node: id, prefix: "term-000003-1" });
    },
    LIMIT_MS,
  );

  test(
    "is refused by a replica that is not eligible, and by a data directory without a node",
    async () => {
      const path = "not-eligible";
      await using primary = await startNode({ store, path });
      await connectTo(primary);
      await using replica = await startNode({ store, path, args: ["--replica"] });
      const refused = await replica.run("promote", "--force");
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("--eligible")]);
      const already = await primary.run("promote");
      expect([already.code, already.stderr]).toEqual([
        1,
        expect.stringContaining("is the primary"),
      ]);
      await replica.kill();
      const alone = await replica.run("promote");
      expect([alone.code, alone.stderr]).toEqual([
        1,
        expect.stringContaining("No node of a fleet"),
      ]);
    },
    LIMIT_MS,
  );

  waitingTest(
    "that is automatic makes a replica the primary within 25 seconds, and the old one joins as a replica",
    async () => {
      const path = "automatic";
      const args = [...REPLICA, "--failover", "automatic"];
      // The first node of the fleet creates the record.
      await using first = await startNode({ store, path, args });
      await hasStatus(first, "/readyz/primary", 200);
      const client = await connectTo(first);
      await using second = await startNode({ store, path, args });
      await hasStatus(second, "/readyz/api", 200);
      expect((await client.openIncident("one")).status).toBe(201);
      const leftover = await litestreamPid(first);
      await first.kill();
      const killedAt = performance.now();
      for (;;) {
        const answer = await client.openIncident("two", second).catch(() => undefined);
        if (answer?.status === 201) break;
        await Bun.sleep(100);
      }
      expectWithin(performance.now() - killedAt, 25_000);
      expect(await namesAt(second, client.key)).toEqual(["one", "two"]);
      await first.restart();
      await hasStatus(first, "/readyz/api", 200);
      expect((await first.call("/readyz/primary")).status).toBe(503);
      expect(existsSync(join(first.folder, "allclear.db.term-1"))).toBe(true);
      // Litestream outlived the process that was killed.
      expect(() => process.kill(leftover, 0)).toThrow();
      expect(await recordAt(path)).toMatchObject({ term: 2 });
    },
    LIMIT_MS,
  );

  waitingTest(
    "leaves an old primary with --rejoin a replica over restarts, in whose directory no command makes a database",
    async () => {
      const path = "rejoin";
      await using first = await startNode({ store, path, args: ["--rejoin"] });
      const client = await connectTo(first);
      await using second = await startNode({ store, path, args: REPLICA });
      await hasStatus(second, "/readyz/api", 200);
      await first.kill();
      expect(await second.run("promote", "--force")).toMatchObject({ code: 0 });
      expect((await client.openIncident("one", second)).status).toBe(201);
      for (let start = 1; start <= 2; start++) {
        await first.restart();
        await hasStatus(first, "/readyz/api", 200);
        const key = await first.run("key", "create", "--name", "x", "--scope", "read:status");
        expect([key.code, key.stderr]).toEqual([1, expect.stringContaining("of a replica")]);
        await first.kill();
        expect(existsSync(join(first.folder, "allclear.db"))).toBe(false);
      }
    },
    LIMIT_MS,
  );

  waitingTest(
    "can be undone: an old primary with --rejoin and --eligible is promoted again",
    async () => {
      const path = "back";
      await using first = await startNode({ store, path, args: ["--rejoin", "--eligible"] });
      const client = await connectTo(first);
      await using second = await startNode({ store, path, args: REPLICA });
      await hasStatus(second, "/readyz/api", 200);
      await client.openIncident("one");
      await first.kill();
      expect(await second.run("promote", "--force")).toMatchObject({ code: 0 });
      expect((await client.openIncident("two", second)).status).toBe(201);

      await first.restart();
      await eventually("the first node has both", async () => {
        return (await namesAt(first, client.key).catch(() => [])).length === 2;
      });
      const early = await first.run("promote");
      expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("may be alive")]);
      await second.kill();
      expect(await first.run("promote", "--force")).toMatchObject({ code: 0 });
      expect((await client.openIncident("three", first)).status).toBe(201);
      // It stays the primary when it is started again, and the other node follows it.
      await first.kill();
      await first.restart();
      await hasStatus(first, "/readyz/primary", 200);
      await second.restart();
      await eventually("the second node has all three", async () => {
        return (await namesAt(second, client.key).catch(() => [])).length === 3;
      });
      expect(await recordAt(path)).toMatchObject({ term: 3 });
    },
    LIMIT_MS,
  );
});
