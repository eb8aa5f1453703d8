import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { signRecords, writeLeader } from "../../src/fleet/leader";
import type { FleetStatus } from "../../src/fleet/commands";
import { fleetToken } from "../../src/fleet/store";
import { systemClock } from "../../src/base/clock";
import { toIso } from "../../src/base/time";
import { openObjectStore } from "../../src/object-store/open";
import { commandLine } from "../support/command-line";
import { leaderRecord } from "../support/fleet/leader";
import { temporaryFolder } from "../support/temporary-folder";

const SECRET = "a-secret-of-at-least-thirty-two-characters";
const SINCE = Date.parse("2026-03-10T12:00:00.000Z");

let folder: ReturnType<typeof temporaryFolder>;
let primary: ReturnType<typeof Bun.serve>;
let answer: () => Response;
/** Number of requests that the primary got. */
let requests: number;

/** State with a primary and one replica. */
function status(): FleetStatus {
  const node = { version: "1.0.0", isEligible: true, txid: "2a", seenAt: Date.now() };
  return {
    term: 7,
    store: "file:///srv/fleet",
    failover: "manual",
    ack: "replicated",
    orphans: [],
    nodes: [
      { ...node, name: "bergen", role: "primary", isSelf: true, lagSeconds: undefined },
      { ...node, name: "oslo", role: "replica", isSelf: false, lagSeconds: 14.24 },
      { ...node, name: "voss", role: "replica", isEligible: false, isSelf: false, lagSeconds: 0.5 },
    ],
    alarms: [
      {
        kind: "replica_lag",
        name: "Replica behind",
        tone: "degraded",
        detail: "oslo is 14 seconds behind.",
        since: SINCE,
      },
    ],
  };
}

beforeEach(() => {
  folder = temporaryFolder();
  answer = () => Response.json(status());
  requests = 0;
  primary = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      requests += 1;
      const isAsked =
        new URL(request.url).pathname === "/fleet/v1/nodes" &&
        request.headers.get("allclear-fleet-token") === fleetToken(SECRET);
      return isAsked ? answer() : new Response(null, { status: 401 });
    },
  });
});
afterEach(async () => {
  await primary.stop(true);
  folder[Symbol.dispose]();
});

/** Writes the leader record of a fleet in a folder. */
async function writeRecord(address: string | null): Promise<void> {
  const path = join(folder.path, "store");
  const store = openObjectStore({ kind: "folder", path }, undefined, { clock: systemClock() });
  const record = leaderRecord({ term: 7, node: "bergen", address, prefix: "term-000007-1" });
  await writeLeader(signRecords(store, SECRET), undefined, record);
}

/** Runs `fleet status` with the settings of the fleet. */
const run = (
  args: string[] = [],
  env: Record<string, string> = { ALLCLEAR_FLEET_SECRET: SECRET },
) =>
  commandLine(join(folder.path, "data"))(["fleet", "status", ...args], {
    ALLCLEAR_FLEET_STORE: `file://${folder.path}/store`,
    ...env,
  });

const addressOf = () => `http://127.0.0.1:${primary.port}`;

describe("fleet status", () => {
  test("shows the primary, and the nodes and alarms that the primary knows", async () => {
    await writeRecord(addressOf());
    const { exitCode, out, err } = await run();
    expect(exitCode).toBe(0);
    expect(out[1]).toBe(`Primary  bergen at ${addressOf()}, term 7, version 1.0.0`);
    expect(out.slice(2).map((line) => line.split(/ {2,}/))).toEqual([
      ["NODE", "ROLE", "LAG", "TRANSACTION", "VERSION", "LAST SEEN"],
      ["bergen", "primary", "2a", "1.0.0", "now"],
      ["oslo", "eligible replica", "14.2 s", "2a", "1.0.0", expect.stringMatching(/seconds? ago$/)],
      ["voss", "replica", "0.5 s", "2a", "1.0.0", expect.stringMatching(/seconds? ago$/)],
    ]);
    expect(err).toEqual([
      `Alarm: Replica behind. oslo is 14 seconds behind. Since ${toIso(SINCE)}.`,
    ]);
  });

  test("prints JSON for programs", async () => {
    await writeRecord(addressOf());
    const { exitCode, out } = await run(["--json"]);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out.join("\n"))).toMatchObject({
      primary: { node: "bergen", term: 7, prefix: "term-000007-1", address: addressOf() },
      problem: null,
      nodes: [
        { name: "bergen", role: "primary", lag_seconds: null },
        { name: "oslo", role: "replica", eligible: true, lag_seconds: 14.24, txid: "2a" },
        { name: "voss", eligible: false },
      ],
      alarms: [{ kind: "replica_lag", since: toIso(SINCE) }],
    });
  });

  test.each([
    ["has no address", null, { ALLCLEAR_FLEET_SECRET: SECRET }, "has no --fleet-address"],
    ["is gone", "http://127.0.0.1:1", { ALLCLEAR_FLEET_SECRET: SECRET }, "cannot be asked"],
  ])(
    "exits with 1 if the primary %s, and still shows its record",
    async (_name, address, env, reason) => {
      await writeRecord(address === "" ? addressOf() : address);
      const { exitCode, out, err } = await run([], env);
      expect([exitCode, out.length, err.join("\n")]).toEqual([
        1,
        2,
        expect.stringContaining(reason),
      ]);
      const json = await run(["--json"], env);
      expect(json.exitCode).toBe(1);
      expect(JSON.parse(json.out.join("\n"))).toMatchObject({
        problem: expect.stringContaining(reason),
        nodes: [],
      });
    },
  );

  test("does not send its token to the address of a record that another secret has signed", async () => {
    await writeRecord(addressOf());
    const { exitCode, out, err } = await run([], { ALLCLEAR_FLEET_SECRET: SECRET.repeat(2) });
    expect([exitCode, out, requests]).toEqual([1, [], 0]);
    expect(err.join("\n")).toContain("ALLCLEAR_FLEET_SECRET must be equal on all nodes");
  });

  test("says that a store has no fleet, and that the store is missing", async () => {
    const none = await run();
    expect([none.exitCode, none.err[0]]).toEqual([
      1,
      expect.stringContaining("There is no fleet in"),
    ]);
    const { exitCode, err } = await commandLine(folder.path)(["fleet", "status"]);
    expect([exitCode, err.join("\n")]).toEqual([
      2,
      expect.stringContaining("--fleet-store is missing."),
    ]);
  });
});
