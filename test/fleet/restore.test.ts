import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { writeLeader } from "../../src/fleet/leader";
import { type Replication, startReplication } from "../../src/fleet/log/replication";
import { openForCommand } from "../../src/installation";
import { systemClock } from "../../src/base/clock";
import { toIso } from "../../src/base/time";
import { testConfig } from "../support/app";
import { commandLine, jsonOf } from "../support/command-line";
import { describeWithPrograms } from "../support/fleet/describe";
import { leaderRecord } from "../support/fleet/leader";
import { litestreamPath } from "../support/fleet/litestream";
import { FLEET_SECRET } from "../support/fleet/nodes";
import { type S3Server, startS3 } from "../support/fleet/s3";
import { createTestLog } from "../support/log";
import { settle } from "../support/clock";
import { temporaryFolder } from "../support/temporary-folder";
import { until } from "../support/until";
import { createKey } from "../support/examined";

await describeWithPrograms("restore --from-store", { go: ["litestream", "versitygw"] }, () => {
  let s3: S3Server;
  let folder: ReturnType<typeof temporaryFolder>;
  let litestream: string;

  beforeEach(async () => {
    litestream = await litestreamPath();
    s3 = await startS3();
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await s3[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** Settings of a node in its own data directory. */
  const settingsOf = (node: string) => ({
    ALLCLEAR_DATA_DIR: join(folder.path, node),
    ALLCLEAR_LOG_LEVEL: "silent",
    ALLCLEAR_LITESTREAM: litestream,
    ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
    ALLCLEAR_FLEET_STORE: s3.urlOf("fleet"),
    ALLCLEAR_FLEET_STORE_KEY_ID: s3.credentials.keyId,
    ALLCLEAR_FLEET_STORE_SECRET: s3.credentials.secret,
  });

  /** Runs a command on the data directory of a node. */
  const run = (node: string, ...args: string[]) =>
    commandLine(join(folder.path, node))(args, settingsOf(node));

  /** Writes keys with these names as the primary of a term, each after the upload of the one before. Returns the times between. */
  async function writeTerm(node: string, term: number, names: string[]): Promise<number[]> {
    const installation = openForCommand(testConfig(settingsOf(node)), "test", { canCreate: true });
    const { ctx, directory } = installation;
    const prefix = `term-${String(term).padStart(6, "0")}-1`;
    const store = s3.open("fleet");
    const { log } = createTestLog("silent");
    const replication = await startReplication(
      {
        clock: systemClock(),
        log,
        litestream: {
          program: litestream,
          store: s3.addressOf("fleet"),
          credentials: s3.credentials,
        },
        database: directory.database,
        folder: join(folder.path, `${node}-litestream`),
      },
      prefix,
    );
    const times: number[] = [];
    for (const name of names) {
      await ctx.db.write((tx) => createKey(ctx, tx, { name, scopes: ["read:status"] }, CLI_ACTOR));
      await upload(replication);
      const time = Date.now();
      times.push(time);
      await until(() => Date.now() > time);
    }
    const current = await store.get("leader.json");
    const before = current && { record: leaderRecord(), etag: current.etag };
    await writeLeader(store, before, leaderRecord({ term, node, prefix }));
    await replication.stop();
    installation.close();
    return times;
  }

  /** Records an event on the data directory of a node, which is not uploaded. */
  async function writeEvent(node: string, name: string): Promise<void> {
    const installation = openForCommand(testConfig(settingsOf(node)), "test", { canCreate: false });
    const { ctx } = installation;
    const event = { pageId: null, subjectId: ctx.newId("inc"), data: { name } };
    await ctx.db.write((tx) => ctx.outbox.record(tx, { type: "incident.created", ...event }));
    installation.close();
  }

  /** Waits until everything is uploaded, also while Litestream starts. */
  async function upload(replication: Replication): Promise<void> {
    let isUploaded = false;
    while (!isUploaded) {
      isUploaded = await replication.sync(10_000).then(
        () => true,
        () => false,
      );
      await settle();
    }
  }

  const namesIn = async (node: string) =>
    jsonOf<{ name: string }[]>(await run(node, "key", "list", "--json")).map(({ name }) => name);

  test("brings back the newest state, and that of a moment of this or an earlier term", async () => {
    const [first = 0] = await writeTerm("a", 1, ["one", "two"]);
    expect((await run("b", "restore", "--from-store")).exitCode).toBe(0);
    const [third = 0] = await writeTerm("b", 2, ["three", "four"]);

    // The number of no process.
    mkdirSync(join(folder.path, "c", "from-fleet-store-999999999-killed"), { recursive: true });
    const newest = await run("c", "restore", "--from-store");
    expect(newest.err[0]).toMatch(
      /^Restored transaction \d+ of term-000002-1 from the fleet store\. All sessions have ended/,
    );
    expect(await namesIn("c")).toEqual(["four", "three", "two", "one"]);
    const within = await run("c", "restore", "--from-store", "--at", toIso(third));
    expect(within.exitCode).toBe(0);
    expect(await namesIn("c")).toEqual(["three", "two", "one"]);
    const earlier = await run("c", "restore", "--from-store", "--at", toIso(first));
    expect(earlier.err[0]).toContain(" of term-000001-1 ");
    expect(await namesIn("c")).toEqual(["one"]);
    expect(
      readdirSync(join(folder.path, "c")).filter((name) => /from-fleet-store/.test(name)),
    ).toEqual([]);

    const never = await run("c", "restore", "--from-store", "--at", "2020-01-01T00:00:00Z");
    expect([never.exitCode, never.err.join("\n")]).toEqual([
      1,
      expect.stringContaining("begin after 2020-01-01T00:00:00.000Z"),
    ]);
    expect(await namesIn("c")).toEqual(["one"]);
  }, 600_000);

  test("fleet orphans lists the events that only a database which was set aside has", async () => {
    await writeTerm("a", 1, ["one"]);
    await writeEvent("a", "common");
    await writeTerm("a", 1, ["two"]);
    // The old primary goes on alone.
    await run("b", "restore", "--from-store");
    await writeEvent("a", "lost");
    await writeEvent("b", "kept");
    await writeTerm("b", 2, ["three"]);
    const setAside = join(folder.path, "a.term-1");
    copyFileSync(join(folder.path, "a/allclear.db"), setAside);

    const { exitCode, out, err } = await run("a", "fleet", "orphans", setAside);
    expect(exitCode).toBe(0);
    expect(out.slice(1).map((line) => line.split(/ {2,}/).slice(1))).toEqual([
      ["incident.created", expect.stringMatching(/^inc_/), "lost"],
    ]);
    expect(err).toEqual([`1 event of ${setAside} is not in the present history.`]);
    const json = jsonOf<{ name: string }[]>(await run("a", "fleet", "orphans", setAside, "--json"));
    expect(json.map(({ name }) => name)).toEqual(["lost"]);
    const missing = await run("a", "fleet", "orphans", join(folder.path, "none"));
    expect([missing.exitCode, missing.err[0]]).toEqual([1, expect.stringContaining("no file")]);
  }, 600_000);

  test("says that a store has no fleet, a record without signature, or does not answer, and keeps the database", async () => {
    await run("c", "key", "create", "--name", "own", "--scope", "read:status");
    const empty = await run("c", "restore", "--from-store");
    expect([empty.exitCode, empty.err.join("\n")]).toEqual([
      1,
      expect.stringContaining("There is no fleet in "),
    ]);
    const forged = new TextEncoder().encode(JSON.stringify(leaderRecord()));
    await s3.open("fleet").put("leader.json", forged);
    const refused = await run("c", "restore", "--from-store");
    expect([refused.exitCode, refused.err.join("\n")]).toEqual([
      1,
      expect.stringContaining("leader.json in s3://allclear-test/fleet is not signed"),
    ]);
    await s3[Symbol.asyncDispose]();
    const gone = await run("c", "restore", "--from-store");
    expect(gone.exitCode).toBe(1);
    expect(gone.err.join("\n")).not.toContain(s3.credentials.secret);
    expect(await namesIn("c")).toEqual(["own"]);
    expect(
      readdirSync(join(folder.path, "c")).filter((name) => /from-fleet-store/.test(name)),
    ).toEqual([]);
  }, 600_000);
});

test.each([
  [["restore"], "FILE is missing."],
  [["restore", "--from-store"], "--fleet-store is missing."],
  [["restore", "--from-store", "copy.db"], "Unexpected: copy.db"],
  [["restore", "copy.db", "--at", "2020-01-01T00:00:00Z"], "--at is only for --from-store."],
  [["restore", "--from-store", "--at", "yesterday"], "--at must be a time with its zone"],
  [["restore", "--from-store", "--at", "2999-01-01T00:00:00Z"], "--at must be in the past."],
])("%p is refused as wrong usage", async (args, problem) => {
  using folder = temporaryFolder();
  const { exitCode, err } = await commandLine(folder.path)(args);
  expect(exitCode).toBe(2);
  expect(err.join("\n")).toContain(problem);
});
