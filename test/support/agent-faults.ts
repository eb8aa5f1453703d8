import fc from "fast-check";
import { HOUR_MS, MINUTE_MS } from "../../src/base/time";
import { type SentCheck, TREATMENTS } from "./agent-proxy";
import { type AgentMachine, type AgentSite, openAgentSite, type SeenCheck } from "./agent-site";
import { holds } from "./binary";
import { durationMs } from "./long";

/** Results of a monitor from an agent: those that it sent, and those in the history. */
export interface Compared {
  sent: readonly SentCheck[];
  kept: readonly SeenCheck[];
  /** Number of results that the server had taken and that are not kept. */
  lost: number;
  /** Number of kept results beyond one for each that was sent. */
  twice: number;
}

/** Compares what an agent sent with the history, at a moment at which nothing is under way. */
export async function compareResults(
  site: AgentSite,
  agent: AgentMachine,
  monitor = "Shop",
): Promise<Compared> {
  const { id } = await site.monitor(monitor);
  const sentSoFar = () => {
    const sent = site.proxy?.sentWith(agent.token) ?? [];
    return sent.filter(({ monitorId }) => monitorId === id).map((check) => ({ ...check }));
  };
  let sent: SentCheck[] = [];
  let kept: SeenCheck[] = [];
  const isQuiet = await holds(async () => {
    sent = sentSoFar();
    kept = await site.history(agent.name, monitor);
    return sent.at(-1)?.isTaken === true && Bun.deepEquals(sent, sentSoFar());
  });
  if (!isQuiet) throw new Error(`the results of ${agent.name} are never all taken`);
  const pairs = pairsOf(sent, kept);
  const lost = sent.filter((check) => check.isTaken && !pairs.has(check)).length;
  return { sent, kept, lost, twice: kept.length - pairs.size };
}

/** Half of the shortest time between two checks of a monitor. */
const PAIR_MAX_MS = 500;

/**
 * Pairs sent checks with kept ones of the same outcome, the nearest in time first. The time of a kept check lies
 * between the two of its sent one, unless a clock was adjusted.
 */
function pairsOf(sent: readonly SentCheck[], kept: readonly SeenCheck[]) {
  const candidates = sent.flatMap((check) =>
    kept
      .filter(({ outcome }) => outcome === check.outcome)
      .map((other) => ({ check, other, distance: distanceOf(check, Date.parse(other.at)) }))
      .filter(({ distance }) => distance < PAIR_MAX_MS),
  );
  const pairs = new Map<SentCheck, SeenCheck>();
  const paired = new Set<SeenCheck>();
  for (const { check, other } of candidates.sort((a, b) => a.distance - b.distance)) {
    if (pairs.has(check) || paired.has(other)) continue;
    pairs.set(check, other);
    paired.add(other);
  }
  return pairs;
}

function distanceOf({ at, latestAt }: SentCheck, keptAt: number): number {
  return Math.max(0, at - keptAt, keptAt - latestAt);
}

/** Agents of the test of random faults. The last one runs from the sources, with a clock that can be set. */
const LOCATIONS = ["berlin", "oregon", "osaka", "quito"] as const;
const WITH_CLOCK = "quito";

/** Number of locations that must find the monitor down: of four agents and the server. */
const NEEDED = 3;

/** Time after which a location comes back before the next fault: after 11.5 minutes, its last word would not count. */
const AWAY_MAX_MS = 4 * MINUTE_MS;

/** Faults. More frequent ones are repeated. */
const FAULTS = [
  "target",
  "target",
  "target",
  "network",
  "network",
  "process",
  "process",
  "stop",
  "server",
  "clock",
  "batches",
] as const;

/** A step of a sequence: a fault that begins at a location, or ends there. `more` decides on its details. */
export const FaultStep = fc.record({
  fault: fc.constantFrom(...FAULTS),
  location: fc.constantFrom(...LOCATIONS),
  more: fc.nat(),
});
type FaultStep = typeof FaultStep extends fc.Arbitrary<infer Value> ? Value : never;

/** Opens a site with a model of what its locations said last. Its processes are killed after `lifetimeMs`. */
export async function openFaultySite(lifetimeMs: number) {
  await using stack = new AsyncDisposableStack();
  const site = stack.use(
    await openAgentSite(LOCATIONS, {
      programs: { [WITH_CLOCK]: { clockOffsetMs: 0 } },
      isProxied: true,
      lifetimeMs,
    }),
  );
  const agents = new Map(site.agents.map((agent) => [agent.name, agent]));
  const withoutTarget = new Set<string>();
  const cut = new Set<string>();
  const killed = new Set<string>();
  /** Locations that said last that the monitor is down. Those that are away keep their word. */
  let down: ReadonlySet<string> = new Set();
  let isDown = false;
  const events: string[] = [];
  const counts = new Map<string, number>();
  const isAway = (location: string) => cut.has(location) || killed.has(location);
  /** Times at which locations went away, on the clock of the process. */
  const awaySince = new Map<string, number>();

  const agentAt = (location: string) => agents.get(location) as AgentMachine;

  async function toggleTarget(location: string): Promise<string> {
    const agent = agentAt(location);
    if (withoutTarget.delete(location)) {
      await agent.findTarget();
      return "target found";
    }
    withoutTarget.add(location);
    await agent.loseTarget();
    return "target lost";
  }

  async function toggleNetwork(location: string): Promise<string> {
    const { machine } = agentAt(location);
    if (cut.delete(location)) {
      await machine.mend();
      return "network mended";
    }
    cut.add(location);
    awaySince.set(location, performance.now());
    await machine.cut();
    return "network cut";
  }

  async function toggleProcess(location: string): Promise<string> {
    const agent = agentAt(location);
    if (killed.delete(location)) {
      await agent.startAgain();
      return "agent restarted";
    }
    killed.add(location);
    awaySince.set(location, performance.now());
    await agent.agent.kill();
    return "agent killed";
  }

  /** Lets an agent, or the server, be away for a time in which the target of a location may come or go. */
  async function pause(location: string, more: number): Promise<void> {
    if (more % 2 === 0 && !isAway(location)) await toggleTarget(location);
    await Bun.sleep(durationMs(1_000, 1_000 + (more % 15_000)));
  }

  /** Brings a location back that is away. */
  const bringBack = (location: string) =>
    cut.has(location) ? toggleNetwork(location) : toggleProcess(location);

  async function begin({ fault, location, more }: FaultStep): Promise<string> {
    const agent = agentAt(location);
    if (fault === "network" || fault === "process") {
      if (isAway(location)) return bringBack(location);
      return fault === "network" ? toggleNetwork(location) : toggleProcess(location);
    }
    if (fault === "stop" && !isAway(location)) {
      agent.agent.signal("SIGSTOP");
      await pause(location, more);
      agent.agent.signal("SIGCONT");
      return "agent stopped for a time";
    }
    if (fault === "server") {
      await site.server.kill();
      await pause(location, more);
      await site.startServer();
      return "server away for a time";
    }
    if (fault === "clock" && !killed.has(WITH_CLOCK)) {
      agentAt(WITH_CLOCK).setClock(((more % 3) - 1) * HOUR_MS);
      return "clock set";
    }
    if (fault === "batches" && site.proxy) {
      const { proxy } = site;
      const counts = new Map<string, number>();
      // Each agent meets all treatments in turn: one whose batches were always late would say nothing any more.
      proxy.treat = (token) => {
        const count = (counts.get(token) ?? more) + (more % 2 === 0 ? 1 : 3);
        counts.set(token, count);
        return TREATMENTS[count % TREATMENTS.length] ?? "once";
      };
      return "batches disturbed";
    }
    return toggleTarget(location);
  }

  /** Lets the model follow: locations that are not away say what is so. */
  function follow(): void {
    down = new Set(
      LOCATIONS.filter((location) => (isAway(location) ? down : withoutTarget).has(location)),
    );
    if (down.size >= NEEDED === isDown) return;
    isDown = !isDown;
    events.push(isDown ? "monitor.down" : "monitor.up");
  }

  async function settles(): Promise<boolean> {
    const since = Date.now();
    const states = Object.fromEntries(
      ["local", ...LOCATIONS].map((location) => [location, down.has(location) ? "down" : "up"]),
    );
    const isHeard = await holds(async () => {
      const seen = await site.monitor().catch(() => undefined);
      const present = seen?.at_locations.filter(({ location }) => !isAway(location)) ?? [];
      return (
        present.length > 0 &&
        present.every(({ last_check: check }) => Date.parse(check?.at ?? "") > since)
      );
    });
    return (
      isHeard &&
      (await site.reaches(isDown ? "down" : "up", states)) &&
      (await holds(async () => Bun.deepEquals(site.eventTypes(), events)))
    );
  }

  if (!(await settles())) throw new Error("the monitor does not come up");
  const owned = stack.move();
  return {
    settles,
    /** Begins or ends a fault. Returns what happened. */
    async take(step: FaultStep): Promise<string> {
      const latest = performance.now() - AWAY_MAX_MS;
      const overdue = LOCATIONS.find(
        (location) => isAway(location) && (awaySince.get(location) ?? 0) < latest,
      );
      const fault = await (overdue === undefined ? begin(step) : bringBack(overdue));
      follow();
      counts.set(fault, (counts.get(fault) ?? 0) + 1);
      return `${overdue ?? step.location}: ${fault}`;
    },
    expected: () => ({ isDown, down: [...down], events, seen: site.eventTypes() }),
    /** Mends all networks, and starts all agents. */
    async endFaults(): Promise<void> {
      if (site.proxy) site.proxy.treat = () => "once";
      for (const location of LOCATIONS) {
        // oxlint-disable no-await-in-loop
        if (!isAway(location)) continue;
        await bringBack(location);
        follow();
        if (!(await settles())) {
          throw new Error(`${location} does not come back: ${site.eventTypes().join()}`);
        }
        // oxlint-enable no-await-in-loop
      }
    },
    async figures() {
      const compared = await Promise.all(site.agents.map((agent) => compareResults(site, agent)));
      const sumOf = (numbers: number[]) => numbers.reduce((sum, each) => sum + each, 0);
      return {
        ...Object.fromEntries(counts),
        transitions: events.length,
        results: sumOf(compared.map(({ kept }) => kept.length)),
        lost: sumOf(compared.map((each) => each.lost)),
        twice: sumOf(compared.map((each) => each.twice)),
      };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
