import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { killMachine } from "../support/fleet/fleet";
import { createKeyAt } from "../support/fleet/keys";
import {
  durationMs,
  expectWithin,
  IS_LONG_RUN,
  report,
  rounds,
  waitingTest,
} from "../support/long";
import { findNetworkProblem, type Machine, startNetwork } from "../support/fleet/network";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { connectTo, litestreamPid } from "../support/fleet/primary";
import { type RedisServer, startRedis } from "../support/fleet/redis";
import { type S3Server, startS3 } from "../support/fleet/s3";
import { incidentNames, startWrites, type Writes } from "../support/fleet/writes";
import { temporaryFolder } from "../support/temporary-folder";

const ARGS = ["--replica", "--eligible", "--failover", "automatic"];

const PER_SECOND = 20;
/** Acknowledged writes before a fault, and before a primary without Valkey is killed. */
const WRITES = 20;

/** Pause between two looks at the writes, in ms. */
const PAUSE_MS = 50;

const MONITORS = 5;
const INTERVAL_MS = 5_000;
/** Time around a check in ms in which no primary is paused. */
const QUIET_MS = 200;
/** Port of each machine's loopback that the monitors check. */
const CHECKED_PORT = 8_099;

/** Shortest time in ms that a primary is paused in a long run, longer than that of a failover. */
const PAUSED_MS = durationMs(0, 60_000);

/** Longest time in ms until writes are acknowledged again. */
const BACK_MS = 25_000;

interface Primary {
  node: FleetNode;
  machine: Machine;
  store: S3Server;
  valkey: RedisServer;
  writes: Writes;
  /** Id of its Litestream. */
  litestream: number;
}

interface Fault {
  begin(primary: Primary): Promise<unknown> | void;
  end(primary: Primary): Promise<unknown> | void;
  /** Shortest duration in ms. */
  lastsMs?: number;
}

/** Faults after which the primary comes back. */
const FAULTS = {
  "is cut off from all others": {
    begin: ({ machine }) => machine.cut(),
    end: ({ machine }) => machine.mend(),
  },
  "is paused with its Litestream": {
    lastsMs: PAUSED_MS,
    begin({ node, litestream }) {
      node.freeze();
      process.kill(litestream, "SIGSTOP");
    },
    end({ node, litestream }) {
      process.kill(litestream, "SIGCONT");
      node.thaw();
    },
  },
  "is paused while its Litestream runs on": {
    lastsMs: PAUSED_MS,
    begin: ({ node }) => node.freeze(),
    end: ({ node }) => node.thaw(),
  },
  "is cut off from the store": {
    begin: ({ machine, store }) => machine.drop(store.port),
    end: ({ machine }) => machine.mend(),
  },
  "is cut off from Valkey and killed later": {
    async begin({ node, machine, valkey, writes }) {
      await machine.drop(valkey.port);
      const enough = writes.acknowledged.length + WRITES;
      await eventually("writes go on", async () => writes.acknowledged.length > enough);
      await killMachine(node);
    },
    async end({ node, machine }) {
      await machine.mend();
      await node.restart();
    },
  },
} satisfies Record<string, Fault>;

type FaultName = keyof typeof FAULTS;

/** Faults that every run of the tests has. The others need nftables. */
const SHORT: FaultName[] = ["is cut off from all others", "is paused with its Litestream"];
const LONG = (Object.keys(FAULTS) as FaultName[]).filter((name) => !SHORT.includes(name));

const NAME = "a primary";
const problem = findNetworkProblem(...(IS_LONG_RUN ? ["nft"] : []));
if (problem !== undefined) console.warn(`SKIPPED: “${NAME}” with two nodes alive. ${problem}`);

const needed = { go: ["litestream", "versitygw"], debian: ["redis-server|valkey-server"] } as const;
await describeWithPrograms(NAME, needed, () => {
  const title =
    "that %s loses no replicated write, lists the others, and neither writes nor checks once another node does";
  const limit = durationMs(600_000, 60 * 60_000);
  waitingTest.skipIf(problem !== undefined).each(SHORT)(title, check, limit);
  test.skipIf(problem !== undefined || !IS_LONG_RUN).each(LONG)(title, check, limit);
});

async function check(name: FaultName): Promise<void> {
  const figures = {
    runs: 0,
    replicated: 0,
    local: 0,
    lost: 0,
    orphans: 0,
    backMaxMs: 0,
    checkGapMinMs: Infinity,
  };
  for (let round = 1; round <= rounds(1, 20); round++) {
    const { replicated, local, lost, orphans, backMs, checkGapMs } = await failOver(FAULTS[name]);
    figures.runs += 1;
    figures.replicated += replicated;
    figures.local += local;
    figures.lost += lost;
    figures.orphans += orphans;
    figures.backMaxMs = Math.max(figures.backMaxMs, Math.round(backMs));
    figures.checkGapMinMs = Math.min(figures.checkGapMinMs, Math.round(checkGapMs));
  }
  report(`a primary that ${name}`, figures);
  expect(figures.lost).toBe(0);
  expectWithin(figures.backMaxMs, BACK_MS);
  expect(figures.checkGapMinMs).toBeGreaterThanOrEqual(INTERVAL_MS);
}

/** Starts two nodes, makes a fault at the first, and waits until it follows the second one. */
async function failOver(fault: Fault) {
  await using store = await startS3();
  await using valkey = await startRedis();
  await using network = await startNetwork();
  await network.publish(store.port);
  await network.publish(valkey.port);
  const valkeyUrl = new URL(valkey.url);
  valkeyUrl.hostname = network.address;
  const env = { ALLCLEAR_VALKEY_URL: valkeyUrl.href };
  const [oldMachine, nextMachine] = [await network.addMachine(), await network.addMachine()];
  await using checksOfOld = await startTarget(oldMachine);
  await using checksOfNext = await startTarget(nextMachine);

  const start = (machine: Machine) =>
    startNode({ store, path: "split", place: { network, machine }, args: ARGS, env });
  await using old = await start(oldMachine);
  await eventually(
    "the first node is the primary",
    async () => (await statusOf(old, "/readyz/primary")) === 200,
  );
  const client = await connectTo(old);
  await createMonitors(old);
  await using next = await start(nextMachine);
  await eventually("the other follows", async () => (await statusOf(next, "/readyz/api")) === 200);

  const atOld = startWrites((name) => client.openIncident(name, old), {
    prefix: "old",
    perSecond: PER_SECOND,
  });
  // A replica forwards to the primary of its record, so only a primary's own answers count.
  const openAtNext = async (name: string) =>
    (await statusOf(next, "/readyz/primary")) === 200 ? client.openIncident(name, next) : undefined;
  const atNext = startWrites(openAtNext, { prefix: "next", perSecond: PER_SECOND });
  const litestream = await litestreamPid(old);
  // A check that is under way would arrive after a pause.
  await eventually(
    "writes are acknowledged, and monitors checked",
    async () =>
      atOld.acknowledged.length > WRITES &&
      checksOfOld.monitors() === MONITORS &&
      checksOfOld.isQuiet(),
  );

  const beganAt = performance.now();
  const primary = {
    node: old,
    machine: oldMachine,
    store,
    valkey,
    writes: atOld,
    litestream,
  };
  await fault.begin(primary);
  const faultAt = performance.now();
  while (atNext.acknowledged.length === 0) await Bun.sleep(PAUSE_MS);
  const backAt = performance.now();
  await Bun.sleep(Math.max(0, beganAt + (fault.lastsMs ?? 0) - backAt));
  await fault.end(primary);
  await eventually("the old primary follows the new one", async () => {
    const { role, term } = (await (await old.call("/readyz/api")).json()) as {
      role: string;
      term: number;
    };
    return role === "replica" && term === 2 && checksOfNext.monitors() === MONITORS;
  });
  await atOld.stop();
  await atNext.stop();

  const names = incidentNames(next);
  const isLost = ({ name }: { name: string }) => !names.has(name);
  const firstAt = atNext.acknowledged[0]?.at ?? 0;
  // The old node forwards what it gets later.
  expect(atOld.acknowledged.filter(({ at }) => at > firstAt).filter(isLost)).toEqual([]);
  expect(checksOfOld.since(checksOfNext.firstAt())).toEqual([]);

  const setAside = incidentNames(old, "allclear.db.term-1");
  const orphans = await listOrphans(next, join(old.folder, "allclear.db.term-1"));
  expect(orphans).toEqual(new Set([...setAside].filter((name) => !names.has(name))));
  const local = atOld.acknowledged.filter(({ isLocal }) => isLocal);
  for (const { name } of local.filter(isLost)) expect(orphans).toContain(name);
  const replicated = [...atOld.acknowledged, ...atNext.acknowledged].filter(
    ({ isLocal }) => !isLocal,
  );
  return {
    replicated: replicated.length,
    local: local.length,
    lost: replicated.filter(isLost).length,
    orphans: orphans.size,
    backMs: backAt - faultAt,
    checkGapMs: checksOfNext.gapAfter(checksOfOld),
  };
}

/** Server on the loopback of a machine that the monitors check there. */
async function startTarget(machine: Machine) {
  const folder = temporaryFolder();
  const unix = join(folder.path, "target");
  /** Times of the checks of each path, on the monotonic clock. */
  const checks = new Map<string, number[]>();
  const server = Bun.serve({
    unix,
    fetch({ url }) {
      const { pathname } = new URL(url);
      checks.set(pathname, [...(checks.get(pathname) ?? []), performance.now()]);
      return new Response();
    },
  });
  await machine.reach(unix, CHECKED_PORT);
  return {
    checks,
    /** Returns the number of monitors that were checked. */
    monitors: () => checks.size,
    /** True if no check begins or ends about now, and each monitor was checked twice. */
    isQuiet: () =>
      [...checks.values()].every((times) => {
        // The first one is at once, the others are at the same time of each interval.
        const sinceMs = (performance.now() - (times.at(-1) ?? NaN)) % INTERVAL_MS;
        return times.length > 1 && sinceMs > QUIET_MS && sinceMs < INTERVAL_MS - QUIET_MS;
      }),
    firstAt: () => Math.min(...[...checks.values()].flat()),
    since: (start: number) => [...checks.values()].flat().filter((at) => at >= start),
    /** Returns the shortest time of a monitor in ms from its last check at another target to the first one here. */
    gapAfter: (other: { checks: typeof checks }) =>
      Math.min(
        ...[...checks].map(
          ([path, [first = NaN]]) => first - (other.checks.get(path)?.at(-1) ?? NaN),
        ),
      ),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      folder[Symbol.dispose]();
    },
  };
}

async function createMonitors(node: FleetNode): Promise<void> {
  const { value: key } = await createKeyAt(node, "manage:monitors");
  for (let number = 1; number <= MONITORS; number++) {
    const config = { url: `http://127.0.0.1:${CHECKED_PORT}/${number}` };
    const body = { type: "http", name: `${number}`, interval_seconds: INTERVAL_MS / 1_000, config };
    const answer = await node.call("/api/v1/monitors", { method: "POST", key, body });
    expect(answer.status).toBe(201);
  }
}

/** Returns the names of the incidents among the events of a database that the fleet's history lacks. */
async function listOrphans(node: FleetNode, file: string): Promise<Set<string>> {
  const { code, stdout, stderr } = await node.run("fleet", "orphans", file, "--json");
  if (code !== 0) throw new Error(stderr);
  const events = JSON.parse(stdout) as { type: string; name: string }[];
  return new Set(events.filter(({ type }) => type.startsWith("incident")).map(({ name }) => name));
}

async function statusOf(node: FleetNode, path: string): Promise<number> {
  return (await node.call(path).catch(() => undefined))?.status ?? 0;
}
