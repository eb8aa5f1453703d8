import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentMachine, type AgentSite, openAgentSite, SECRET } from "../support/agent-site";
import { holds, PROCESS_TEST_MS } from "../support/binary";
import { findNetworkProblem } from "../support/fleet/network";

setDefaultTimeout(2 * PROCESS_TEST_MS);

const problem = findNetworkProblem();
if (problem !== undefined) console.warn(`SKIPPED: the tests of agents; ${problem}`);

const at = (agents: readonly AgentMachine[], ...indexes: number[]) =>
  indexes.map((index) => agents[index] as AgentMachine);

/** Returns what a monitor's places say by their refs. */
async function placesOf(site: AgentSite): Promise<Record<string, string>> {
  const { at_locations: places } = await site.monitor();
  return Object.fromEntries(places.map(({ location, state }) => [location, state]));
}

/** Resolves to true once results of an agent arrive again: the number of its checks has risen. */
function isChecking(site: AgentSite, name: string): Promise<boolean> {
  let first: string | undefined;
  return holds(async () => {
    const { at_locations: places } = await site.monitor();
    const last = places.find(({ location }) => location === name)?.last_check?.at;
    first ??= last ?? "";
    return last !== undefined && last > first;
  });
}

/** Returns the texts of all files below a directory. */
function textsBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
}

describe.skipIf(problem !== undefined)("agents of locations", () => {
  test("a monitor is down when most of its three places do not reach it, and no secret is on a disk of an agent", async () => {
    await using site = await openAgentSite(["berlin", "oregon"]);
    const [berlin, oregon] = at(site.agents, 0, 1) as [AgentMachine, AgentMachine];
    expect(await site.reaches("up", { local: "up", berlin: "up", oregon: "up" })).toBe(true);

    await berlin.loseTarget();
    expect(await site.reaches("up", { local: "up", berlin: "down", oregon: "up" })).toBe(true);
    // One of three is a minority.
    expect(site.events()).toEqual([]);

    await oregon.loseTarget();
    expect(await site.reaches("down", { local: "up", berlin: "down", oregon: "down" })).toBe(true);
    const { unreachable_via: via, last_check: check } = await site.api<Record<string, unknown>>(
      `/api/v1/monitors/${(await site.monitor()).id}`,
    );
    expect([via, check]).toEqual([null, expect.anything()]);
    await oregon.findTarget();
    expect(await site.reaches("up", { local: "up", berlin: "down", oregon: "up" })).toBe(true);
    expect(await holds(async () => site.events().length === 2)).toBe(true);
    expect(site.events()).toEqual(["monitor.down", "monitor.up"]);

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
  });

  test("two of five agents that lose the target, and two whose network is cut, do not bring a monitor of six locations down", async () => {
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
    await Promise.all([osaka.machine.mend(), quito.machine.mend()]);
    expect(await isChecking(site, "osaka")).toBe(true);
    expect(await isChecking(site, "quito")).toBe(true);
    expect(await site.reaches("up", { ...up, berlin: "down", oregon: "down" })).toBe(true);
    // Four of six are needed.
    await osaka.loseTarget();
    expect(await site.reaches("up", { osaka: "down" })).toBe(true);
    expect(site.events()).toEqual([]);
    await quito.loseTarget();
    expect(await site.reaches("down", { quito: "down", local: "up" })).toBe(true);
  });

  test("the server may end and begin again, and an agent may be killed, stand still or lose its network, without an outage", async () => {
    await using site = await openAgentSite(["berlin", "oregon"]);
    const [berlin, oregon] = at(site.agents, 0, 1) as [AgentMachine, AgentMachine];
    const everywhere = { local: "up", berlin: "up", oregon: "up" };
    expect(await site.reaches("up", everywhere)).toBe(true);

    await site.server.kill();
    await Bun.sleep(3_000);
    await site.startServer();
    expect(await isChecking(site, "berlin")).toBe(true);
    expect(await isChecking(site, "oregon")).toBe(true);

    await berlin.agent.kill();
    await berlin.restart();
    expect(await isChecking(site, "berlin")).toBe(true);

    oregon.agent.signal("SIGSTOP");
    await Bun.sleep(7_000);
    oregon.agent.signal("SIGCONT");
    expect(await isChecking(site, "oregon")).toBe(true);

    await berlin.machine.cut();
    await Bun.sleep(7_000);
    await berlin.machine.mend();
    expect(await isChecking(site, "berlin")).toBe(true);
    expect(await site.reaches("up", { local: "up", oregon: "up" })).toBe(true);
    expect(site.events()).toEqual([]);
    expect(await oregon.agent.stop()).toBe(0);
  });

  test("a revoked token stops an agent at once, and one that is put into its file starts it again", async () => {
    await using site = await openAgentSite(["berlin"]);
    const [berlin] = at(site.agents, 0) as [AgentMachine];
    expect(await site.reaches("up", { local: "up", berlin: "up" })).toBe(true);
    expect(await placesOf(site)).toEqual({ local: "up", berlin: "up" });
    const next = await site.replaceToken("berlin");
    await berlin.agent.untilError(/The server answered with status 401/);
    const health = ["healthcheck", "--probe", "--state-dir", join(berlin.directory, "state")];
    expect((await site.site.run(health)).exitCode).toBe(0);
    berlin.writeToken(next);
    await berlin.agent.untilError(/the server answers again/);
    expect(await isChecking(site, "berlin")).toBe(true);
  });

  test("an agent answers the check that a user wants at once, with its steps", async () => {
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
});
