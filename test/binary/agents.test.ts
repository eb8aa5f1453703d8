import { describe, expect, setDefaultTimeout } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { HOUR_MS } from "../../src/base/time";
import { VERSION } from "../../src/version";
import { compareResults, FaultStep, openFaultySite } from "../support/agent-faults";
import { type SentCheck, TREATMENTS } from "../support/agent-proxy";
import {
  type AgentMachine,
  type AgentSite,
  INTERVAL_MS,
  openAgentSite,
  SECRET,
  type SeenCheck,
  WITH_CORES,
} from "../support/agent-site";
import { createInstallation, holds, PROCESS_TEST_MS } from "../support/binary";
import { signInOwner } from "../support/first-owner";
import { durationMs, IS_LONG_RUN, report, rounds, waitingTest } from "../support/long";
import { findNetworkProblem } from "../support/fleet/network";

/*
 * Faults of agents, their server, their networks and clocks, with processes. `bun test/long.ts
 * test/binary/agents.test.ts` runs them with long absences and many rounds, in about 20 minutes.
 */

/** Limit of a test, and of the life of its processes. */
const TEST_MS = durationMs(2 * PROCESS_TEST_MS, 2 * HOUR_MS);

setDefaultTimeout(TEST_MS);

const problem = findNetworkProblem();
if (problem !== undefined) console.warn(`SKIPPED: the tests of agents; ${problem}`);

/** Resolves to true once an agent has made a check after this call, by the clock of this machine. */
function isChecking(site: AgentSite, name: string): Promise<boolean> {
  const since = Date.now();
  return holds(async () => {
    return (await lastCheckAt(site, name)) > since;
  });
}

/** Resolves to true once the last check at a location is more than two intervals older than the server's own. */
function isBehind(site: AgentSite, name: string): Promise<boolean> {
  return holds(
    async () =>
      (await lastCheckAt(site, "local")) - (await lastCheckAt(site, name)) > 2 * INTERVAL_MS,
  );
}

/** Returns the time of the last check at a location that the server knows, in unix ms. */
async function lastCheckAt(site: AgentSite, name: string): Promise<number> {
  const { at_locations: locations } = await site.monitor();
  return Date.parse(locations.find(({ location }) => location === name)?.last_check?.at ?? "");
}

/** Resolves to true once an agent has tried to send `count` checks that it made since a time. */
function hasFound(
  { proxy }: AgentSite,
  { token }: AgentMachine,
  { since, count = 1, ...filter }: { since: number; count?: number } & Partial<SentCheck>,
): Promise<boolean> {
  return holds(async () => {
    const own = (proxy?.sentWith(token) ?? []).filter(({ at }) => at >= since);
    return own.filter((check) => Bun.deepMatch(filter, check)).length >= count;
  });
}

/** Largest error of the time of a kept check, in ms: it includes the time of the request that brought it. */
const WAY_MAX_MS = 60_000;

/** Largest time between two checks in long runs. */
const GAP_MAX_MS = 3 * INTERVAL_MS;

/** Expects that all that an agent sent is kept once, at its time. Returns the results, oldest first. */
async function expectWhole(
  site: AgentSite,
  agent: AgentMachine,
  monitor?: string,
): Promise<readonly SeenCheck[]> {
  const { sent, kept, lost, twice } = await compareResults(site, agent, monitor);
  expect({ lost, twice, kept: kept.length }).toEqual({ lost: 0, twice: 0, kept: sent.length });
  const times = kept.map(({ at }) => Date.parse(at));
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  // Results without their own times would follow each other at once. The first check of a process comes at any time
  // before the next one, and the test starts no agent more than twice.
  expect(gaps.filter((gap) => gap < 100).length).toBeLessThanOrEqual(2);
  if (IS_LONG_RUN) expect(Math.max(...gaps)).toBeLessThan(GAP_MAX_MS);
  return kept;
}

/** Returns the words of the command of a process, separated by NUL. */
function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}

/** Returns the texts of all files below a directory. */
function textsBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}

describe.skipIf(problem !== undefined)("agents of locations", () => {
  waitingTest(
    "a monitor is down when most of its three locations do not reach it, and no secret is on a disk of an agent",
    async () => {
      await using site = await openAgentSite(["berlin", "oregon"]);
      const [berlin, oregon] = site.agents as [AgentMachine, AgentMachine];
      expect(await site.reaches("up", { local: "up", berlin: "up", oregon: "up" })).toBe(true);

      await berlin.loseTarget();
      expect(await site.reaches("up", { local: "up", berlin: "down", oregon: "up" })).toBe(true);
      // One of three is a minority.
      expect(site.eventTypes()).toEqual([]);

      await oregon.loseTarget();
      expect(await site.reaches("down", { local: "up", berlin: "down", oregon: "down" })).toBe(
        true,
      );
      const { unreachable_via: via, last_check: check } = await site.api<Record<string, unknown>>(
        `/api/v1/monitors/${(await site.monitor()).id}`,
      );
      expect([via, check]).toEqual([null, expect.anything()]);
      await oregon.findTarget();
      expect(await site.reaches("up", { local: "up", berlin: "down", oregon: "up" })).toBe(true);
      expect(await holds(async () => site.eventTypes().length === 2)).toBe(true);
      expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);

      for (const { agent, directory, token } of site.agents) {
        const texts = [...textsBelow(directory), agent.stdout(), agent.stderr()];
        expect(texts.length).toBeGreaterThan(2);
        for (const text of texts) {
          expect(text).not.toContain(SECRET);
          expect(text).not.toContain(token);
        }
        const limits = readFileSync(`/proc/${agent.pid}/limits`, "utf8");
        expect(limits).toMatch(/^Max core file size\s+0\s+0\s/m);
      }

      // A program that forbids nothing leaves a core, if this machine writes cores to where programs run.
      const other = site.site.path("other");
      mkdirSync(other);
      const words = [...WITH_CORES, "sleep", "600"];
      const sleeping = site.site.start([], { program: words, cwd: other });
      expect(await holds(async () => commandOf(sleeping.pid).startsWith("sleep"))).toBe(true);
      for (const running of [sleeping, berlin.agent]) running.signal("SIGSEGV");
      oregon.agent.signal("SIGABRT");
      await Promise.all([sleeping, berlin.agent, oregon.agent].map(({ exited }) => exited));
      const isWrittenHere = /^[^/|]/.test(readFileSync("/proc/sys/kernel/core_pattern", "utf8"));
      if (isWrittenHere) expect(readdirSync(other)).toHaveLength(1);
      for (const { directory } of site.agents) {
        expect(readdirSync(directory)).toEqual(["state"]);
        expect(textsBelow(directory).join()).not.toContain(SECRET);
      }
    },
  );

  waitingTest("an agent is not dumpable, with any limit of core files", async () => {
    const userId = 65_534;
    await using site = await createInstallation({ userId });
    const tokenFile = site.path("token");
    writeFileSync(tokenFile, "x".repeat(40), { mode: 0o644 });
    const args = ["--server", "http://127.0.0.1:1", "--token-file", tokenFile];
    const agent = site.start(["probe", ...args], { within: WITH_CORES });
    // Linux gives the files of a process that cannot be dumped to root.
    const ownerOf = (pid: number) => statSync(`/proc/${pid}/status`).uid;
    const isRunning = async () => commandOf(agent.pid).startsWith(site.path("allclear"));
    expect(await holds(isRunning)).toBe(true);
    expect(await holds(async () => ownerOf(agent.pid) === 0)).toBe(true);
    expect(await agent.stop()).toBe(0);
  });

  waitingTest(
    "two of five agents that lose the target, and two whose network is cut, do not bring a monitor of six locations down",
    async () => {
      const names = ["berlin", "oregon", "osaka", "quito", "lagos"];
      await using site = await openAgentSite(names);
      const up = Object.fromEntries(["local", ...names].map((name) => [name, "up"]));
      expect(await site.reaches("up", up)).toBe(true);
      const [berlin, oregon, osaka, quito] = site.agents as [
        AgentMachine,
        AgentMachine,
        AgentMachine,
        AgentMachine,
      ];
      await Promise.all([osaka.machine.cut(), quito.machine.cut()]);
      await berlin.loseTarget();
      await oregon.loseTarget();
      expect(await site.reaches("up", { local: "up", berlin: "down", oregon: "down" })).toBe(true);
      // One after the other: each tells late that it found the monitor down, until its next check.
      for (const agent of [osaka, quito]) {
        // oxlint-disable no-await-in-loop
        await agent.machine.mend();
        expect(await isChecking(site, agent.name)).toBe(true);
        expect(await site.reaches("up", { [agent.name]: "up" })).toBe(true);
        // oxlint-enable no-await-in-loop
      }
      expect(await site.reaches("up", { ...up, berlin: "down", oregon: "down" })).toBe(true);
      // Four of six are needed.
      await osaka.loseTarget();
      expect(await site.reaches("up", { osaka: "down" })).toBe(true);
      expect(site.eventTypes()).toEqual([]);
      await quito.loseTarget();
      expect(await site.reaches("down", { quito: "down", local: "up" })).toBe(true);
    },
  );

  waitingTest(
    "the server may end and begin again, and an agent may be killed, stand still or lose its network, without an outage",
    async () => {
      await using site = await openAgentSite(["berlin", "oregon"], { isProxied: true });
      const [berlin, oregon] = site.agents as [AgentMachine, AgentMachine];
      const everywhere = { local: "up", berlin: "up", oregon: "up" };
      expect(await site.reaches("up", everywhere)).toBe(true);

      await site.server.kill();
      const killedAt = Date.now();
      for (const agent of site.agents) {
        // oxlint-disable-next-line no-await-in-loop
        expect(await hasFound(site, agent, { since: killedAt, isTaken: false })).toBe(true);
      }
      await site.startServer();
      expect(await isChecking(site, "berlin")).toBe(true);
      expect(await isChecking(site, "oregon")).toBe(true);

      await berlin.agent.kill();
      await berlin.startAgain();
      expect(await isChecking(site, "berlin")).toBe(true);

      oregon.agent.signal("SIGSTOP");
      expect(await isBehind(site, "oregon")).toBe(true);
      oregon.agent.signal("SIGCONT");
      expect(await isChecking(site, "oregon")).toBe(true);

      const cutAt = Date.now();
      await berlin.machine.cut();
      expect(await isBehind(site, "berlin")).toBe(true);
      await berlin.machine.mend();
      expect(await isChecking(site, "berlin")).toBe(true);
      expect(await hasFound(site, berlin, { since: cutAt, outcome: "failed" })).toBe(true);
      expect(await site.reaches("up", { local: "up", oregon: "up" })).toBe(true);
      expect(site.eventTypes()).toEqual([]);
      expect(await oregon.agent.stop()).toBe(0);
    },
  );

  waitingTest(
    "an agent whose token was replaced logs it and makes no checks until its file has the next one",
    async () => {
      await using site = await openAgentSite(["berlin"], { isProxied: true });
      const [berlin] = site.agents as [AgentMachine];
      expect(await site.reaches("up", { local: "up", berlin: "up" })).toBe(true);
      const next = await site.replaceToken("berlin");
      await berlin.agent.untilError(/The server answered with status 401/);
      const health = ["healthcheck", "--probe", "--state-dir", join(berlin.directory, "state")];
      expect((await site.site.run(health)).exitCode).toBe(0);
      // Results may be the first that the server rejects. The next poll tells the agent to forget its monitors.
      expect(await holds(async () => site.proxy?.pollStatus(berlin.token) === 401)).toBe(true);
      expect(await isChecking(site, "local")).toBe(true);
      const stoppedAt = Date.now();
      // An agent that goes on would make two checks between these three.
      // oxlint-disable-next-line no-await-in-loop
      for (let count = 0; count < 3; count += 1) expect(await isChecking(site, "local")).toBe(true);
      const givenAt = Date.now();
      berlin.writeToken(next);
      await berlin.agent.untilError(/the server answers again/);
      expect(await isChecking(site, "berlin")).toBe(true);
      const times = (await site.history("berlin")).map(({ at }) => Date.parse(at));
      expect(times.filter((at) => at > stoppedAt && at < givenAt)).toEqual([]);
    },
  );

  waitingTest("an agent answers the check that a user wants at once, with its steps", async () => {
    await using site = await openAgentSite(["berlin"]);
    expect(await site.reaches("up", { local: "up", berlin: "up" })).toBe(true);
    const { id } = await site.monitor();
    const check = await site.api<{ locations: { location: string; steps: { name: string }[] }[] }>(
      `/api/v1/monitors/${id}/check`,
      { method: "POST", json: {} },
    );
    const there = check.locations.find(({ location }) => location === "berlin");
    expect(there?.steps.map(({ name }) => name)).toContain("request");
  });

  waitingTest(
    "what agents find while the server is away is kept with its time, and only what is still so counts",
    async () => {
      const monitors = ["Shop", "Mended", "Lost"];
      const options = { monitors, isProxied: true, lifetimeMs: TEST_MS };
      await using site = await openAgentSite(["berlin", "oregon"], options);
      const everywhere = { local: "up", berlin: "up", oregon: "up" };
      for (const name of monitors) {
        // oxlint-disable-next-line no-await-in-loop
        expect(await site.reaches("up", everywhere, name)).toBe(true);
      }
      const ids = await Promise.all(monitors.map(async (name) => (await site.monitor(name)).id));
      const [, mendedId = "", lostId = ""] = ids;

      await site.server.kill();
      const leftAt = Date.now();
      const atBoth = (change: (agent: AgentMachine) => Promise<void>) =>
        Promise.all(site.agents.map(change));
      const haveFound = async (checks: Parameters<typeof hasFound>[2]) => {
        const found = await Promise.all(site.agents.map((agent) => hasFound(site, agent, checks)));
        return found.every(Boolean);
      };
      await atBoth((agent) => agent.loseTarget("Mended"));
      await atBoth((agent) => agent.loseTarget("Lost"));
      expect(
        await haveFound({ monitorId: mendedId, outcome: "failed", count: 2, since: leftAt }),
      ).toBe(true);
      expect(
        await haveFound({ monitorId: lostId, outcome: "failed", count: 2, since: leftAt }),
      ).toBe(true);
      await Bun.sleep(durationMs(0, 5 * 60_000 - (Date.now() - leftAt) - 20_000));
      await atBoth((agent) => agent.findTarget("Mended"));
      const mendedAt = Date.now();
      expect(await haveFound({ monitorId: mendedId, outcome: "ok", since: mendedAt })).toBe(true);
      await Bun.sleep(durationMs(0, 5 * 60_000 - (Date.now() - leftAt)));

      const returnedAt = Date.now();
      await site.startServer();
      const away = returnedAt - leftAt;
      expect(await site.reaches("down", { berlin: "down", oregon: "down" }, "Lost")).toBe(true);
      for (const name of ["Shop", "Mended"]) {
        // oxlint-disable-next-line no-await-in-loop
        expect(await site.reaches("up", everywhere, name)).toBe(true);
      }
      const figures = { awayMs: away, results: 0, lost: 0, twice: 0 };
      const firstFailures: number[] = [];
      for (const agent of site.agents) {
        for (const name of monitors) {
          // oxlint-disable-next-line no-await-in-loop
          const kept = await expectWhole(site, agent, name);
          figures.results += kept.length;
          const failures = kept.filter(({ outcome }) => outcome === "failed");
          expect(failures.length > 1).toBe(name !== "Shop");
          if (name === "Lost") firstFailures.push(Date.parse(failures[0]?.at ?? ""));
          const isWhileAway = ({ at }: SeenCheck) =>
            Date.parse(at) > leftAt && Date.parse(at) < returnedAt;
          expect(kept.some(isWhileAway)).toBe(true);
        }
      }
      expect(await holds(async () => site.events().length > 0)).toBe(true);
      const [outage, ...others] = site.events();
      expect([outage?.type, outage?.data.name, others]).toEqual(["monitor.down", "Lost", []]);
      const since = Date.parse(outage?.data.outage?.started_at ?? "");
      // The server has no data of an absence of more than 45 seconds: the outage begins at its end.
      if (away < 25_000) expect(since).toBe(Math.max(...firstFailures));
      if (away > 60_000) expect(since).toBeGreaterThanOrEqual(returnedAt);
      report("server away", figures);
    },
  );

  waitingTest(
    "an agent whose clock is an hour wrong, or is set while it runs, gives its results their right times",
    async () => {
      const openedAt = Date.now();
      const programs = { berlin: { clockOffsetMs: -HOUR_MS } };
      await using site = await openAgentSite(["berlin"], { programs, isProxied: true });
      const [berlin] = site.agents as [AgentMachine];
      const everywhere = { local: "up", berlin: "up" };
      expect(await site.reaches("up", everywhere)).toBe(true);
      const { proxy } = site;
      if (!proxy) throw new Error("the site has no proxy");
      for (const offsetMs of [HOUR_MS, -HOUR_MS, 0]) {
        // oxlint-disable no-await-in-loop
        // Results wait at the agent while its clock is set.
        const waited = proxy.treated.late;
        proxy.treat = () => "late";
        expect(await holds(async () => proxy.treated.late > waited)).toBe(true);
        berlin.setClock(offsetMs);
        proxy.treat = () => "once";
        expect(await isChecking(site, "berlin")).toBe(true);
        // oxlint-enable no-await-in-loop
      }
      expect(await berlin.agent.stop()).toBe(0);
      await berlin.startAgain({ clockOffsetMs: HOUR_MS });
      expect(await isChecking(site, "berlin")).toBe(true);
      expect(await site.reaches("up", everywhere)).toBe(true);
      expect(site.eventTypes()).toEqual([]);
      const kept = await expectWhole(site, berlin);
      const times = kept.map((check) => Date.parse(check.at));
      expect(times.length).toBeGreaterThan(4);
      expect(Math.min(...times)).toBeGreaterThan(openedAt - WAY_MAX_MS);
      expect(Math.max(...times)).toBeLessThan(Date.now() + WAY_MAX_MS);
    },
  );

  waitingTest(
    "an agent one minor version apart works, and one that is two apart waits, as the dashboard says, until it is replaced",
    async () => {
      const programs = {
        berlin: { version: versionApart(1) },
        oregon: { version: versionApart(2) },
      };
      await using site = await openAgentSite(["berlin", "oregon"], { programs });
      const [berlin, oregon] = site.agents as [AgentMachine, AgentMachine];
      expect(await site.reaches("up", { berlin: "up", oregon: "pending" })).toBe(true);
      expect(berlin.agent.stderr()).toContain(`Allclear ${versionApart(1)} checks for`);
      await oregon.agent.untilError(/They must be at most one minor version apart/);
      const cookie = await signInOwner({
        ...site.server,
        fetch: (path, init) => site.fetch(path, init),
      });
      const screen = async () =>
        (await site.fetch("/admin/settings/locations", { headers: { cookie } })).text();
      expect(await screen()).toContain("Other version");
      expect(await screen()).toContain(`Waits for version ${VERSION}`);

      await oregon.agent.kill();
      await oregon.startAgain({ version: VERSION });
      expect(await site.reaches("up", { local: "up", berlin: "up", oregon: "up" })).toBe(true);
      expect(await holds(async () => !(await screen()).includes("Other version"))).toBe(true);
      expect(site.eventTypes()).toEqual([]);
    },
  );

  waitingTest(
    "batches that come twice, late or without an answer to the agent are kept once",
    async () => {
      await using site = await openAgentSite(["berlin", "oregon"], {
        isProxied: true,
        lifetimeMs: TEST_MS,
      });
      const { proxy } = site;
      const everywhere = { local: "up", berlin: "up", oregon: "up" };
      expect(await site.reaches("up", everywhere)).toBe(true);
      if (!proxy) throw new Error("the site has no proxy");
      const counts = new Map<string, number>();
      proxy.treat = (token) => {
        const count = counts.get(token) ?? 0;
        counts.set(token, count + 1);
        return TREATMENTS[(count + 1) % TREATMENTS.length] ?? "once";
      };
      for (const agent of site.agents) await agent.loseTarget();
      expect(await site.reaches("down", { berlin: "down", oregon: "down" })).toBe(true);
      for (const agent of site.agents) await agent.findTarget();
      expect(await site.reaches("up", everywhere)).toBe(true);
      const few = rounds(1, 25);
      const isEnough = async () => Object.values(proxy.treated).every((count) => count >= few);
      expect(await holds(isEnough)).toBe(true);
      proxy.treat = () => "once";
      let results = 0;
      for (const agent of site.agents) results += (await expectWhole(site, agent)).length;
      expect(await holds(async () => site.eventTypes().length === 2)).toBe(true);
      expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);
      report("batches", { ...proxy.treated, results, lost: 0, keptTwice: 0 });
    },
  );

  waitingTest(
    "after each of random faults a monitor has the state that most locations said last, and no event comes from a minority",
    async () => {
      // Short runs are the same each time: two of five locations lose the target, one of them while the server is away, and
      // an agent is killed.
      const seed = IS_LONG_RUN ? Math.floor(Math.random() * 2 ** 31) : 107;
      const steps = fc.sample(FaultStep, { numRuns: rounds(3, 50), seed });
      await using site = await openFaultySite(TEST_MS);
      for (const [index, step] of steps.entries()) {
        // oxlint-disable-next-line no-await-in-loop
        const fault = await site.take(step);
        // oxlint-disable-next-line no-await-in-loop
        const isAsExpected = await site.settles();
        expect({ seed, index, fault, ...(!isAsExpected && site.expected()) }).toEqual({
          seed,
          index,
          fault,
        });
      }
      await site.endFaults();
      expect(await site.settles()).toBe(true);
      const figures = await site.figures();
      report("random faults", { seed, steps: steps.length, ...figures });
      expect(figures).toMatchObject({ lost: 0, twice: 0 });
    },
  );
});

/** Returns a version that is some minor versions before the server's, or after it if there is none. */
function versionApart(count: number): string {
  const [major = 0, minor = 0] = VERSION.split(".").map(Number);
  return `${major}.${minor >= count ? minor - count : minor + count}.0`;
}
