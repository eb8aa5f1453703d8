import fc from "fast-check";
import { HOUR_MS, MINUTE_MS } from "../../src/base/time";
import { type SentCheck, TREATMENTS } from "./agent-link";
import { type AgentMachine, type AgentSite, openAgentSite, type SeenCheck } from "./agent-site";
import { holds } from "./binary";
import { durationMs } from "./long";

/** Results of a monitor from an agent: those that it sent, and those in the history. */
export interface Compared {
  sent: readonly SentCheck[];
  kept: readonly SeenCheck[];
  /** Number of results that the server had taken and that are not kept, and of those that are kept twice. */
  lost: number;
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
    const sent = site.link?.sentWith(agent.token) ?? [];
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
  const taken = sent.filter(({ isTaken }) => isTaken).length;
  const lost = Math.max(0, taken - kept.length);
  return { sent, kept, lost, twice: Math.max(0, kept.length - sent.length) };
}

/** Agents of the test of random faults. The last one runs from the sources, with a clock that can be set. */
const PLACES = ["berlin", "oregon", "osaka", "quito"] as const;
const WITH_CLOCK = "quito";

/** Number of places that must find the monitor down: of four agents and the server. */
const NEEDED = 3;

/** Time after which a place comes back before the next fault: after 11.5 minutes, its last word would not count. */
const AWAY_MAX_MS = 4 * MINUTE_MS;

const FAULTS = [
  "target",
  "target",
  "target",
  "link",
  "link",
  "process",
  "process",
  "stop",
  "server",
  "clock",
  "batches",
] as const;

/** A step of a sequence: a fault that begins at a place, or ends there. `more` decides on its details. */
export const FaultStep = fc.record({
  fault: fc.constantFrom(...FAULTS),
  place: fc.constantFrom(...PLACES),
  more: fc.nat(),
});
type FaultStep = typeof FaultStep extends fc.Arbitrary<infer Value> ? Value : never;

/** Opens a site with a model of what its places said last. Its processes are killed after `lifetimeMs`. */
export async function openFaultySite(lifetimeMs: number) {
  await using stack = new AsyncDisposableStack();
  const site = stack.use(
    await openAgentSite(PLACES, {
      programs: { [WITH_CLOCK]: { clockOffsetMs: 0 } },
      isLinked: true,
      lifetimeMs,
    }),
  );
  const agents = new Map(site.agents.map((agent) => [agent.name, agent]));
  const lost = new Set<string>();
  const cut = new Set<string>();
  const killed = new Set<string>();
  /** Places that said last that the monitor is down. Those that are away keep their word. */
  let down: ReadonlySet<string> = new Set();
  let isDown = false;
  const events: string[] = [];
  const counts = new Map<string, number>();
  const isAway = (place: string) => cut.has(place) || killed.has(place);
  /** Times at which places went away, on the clock of the process. */
  const awaySince = new Map<string, number>();

  const agentAt = (place: string) => agents.get(place) as AgentMachine;

  async function toggleTarget(place: string): Promise<string> {
    const agent = agentAt(place);
    if (lost.delete(place)) {
      await agent.findTarget();
      return "target found";
    }
    lost.add(place);
    await agent.loseTarget();
    return "target lost";
  }

  async function toggleLink(place: string): Promise<string> {
    const { machine } = agentAt(place);
    if (cut.delete(place)) {
      await machine.mend();
      return "link mended";
    }
    cut.add(place);
    awaySince.set(place, performance.now());
    await machine.cut();
    return "link cut";
  }

  async function toggleProcess(place: string): Promise<string> {
    const agent = agentAt(place);
    if (killed.delete(place)) {
      await agent.restart();
      return "agent restarted";
    }
    killed.add(place);
    awaySince.set(place, performance.now());
    await agent.agent.kill();
    return "agent killed";
  }

  /** Lets an agent, or the server, be away for a time in which the target of a place may come or go. */
  async function pause(place: string, more: number): Promise<void> {
    if (more % 2 === 0 && !isAway(place)) await toggleTarget(place);
    await Bun.sleep(durationMs(1_000, 1_000 + (more % 15_000)));
  }

  /** Brings a place back that is away. */
  const bringBack = (place: string) => (cut.has(place) ? toggleLink(place) : toggleProcess(place));

  async function begin({ fault, place, more }: FaultStep): Promise<string> {
    const agent = agentAt(place);
    if (fault === "link" || fault === "process") {
      if (isAway(place)) return bringBack(place);
      return fault === "link" ? toggleLink(place) : toggleProcess(place);
    }
    if (fault === "stop" && !isAway(place)) {
      agent.agent.signal("SIGSTOP");
      await pause(place, more);
      agent.agent.signal("SIGCONT");
      return "agent stopped for a time";
    }
    if (fault === "server") {
      await site.server.kill();
      await pause(place, more);
      await site.startServer();
      return "server away for a time";
    }
    if (fault === "clock" && !killed.has(WITH_CLOCK)) {
      agentAt(WITH_CLOCK).setClock(((more % 3) - 1) * HOUR_MS);
      return "clock set";
    }
    if (fault === "batches" && site.link) {
      const { link } = site;
      let count = more;
      link.treat = () => TREATMENTS[(count += 1 + (more % 3)) % TREATMENTS.length] ?? "once";
      return "batches disturbed";
    }
    return toggleTarget(place);
  }

  /** Lets the model follow: places that are not away say what is so. */
  function follow(): void {
    down = new Set(PLACES.filter((place) => (isAway(place) ? down : lost).has(place)));
    if (down.size >= NEEDED === isDown) return;
    isDown = !isDown;
    events.push(isDown ? "monitor.down" : "monitor.up");
  }

  async function settles(): Promise<boolean> {
    const since = Date.now();
    const places = Object.fromEntries(
      ["local", ...PLACES].map((place) => [place, down.has(place) ? "down" : "up"]),
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
      (await site.reaches(isDown ? "down" : "up", places)) &&
      (await holds(async () => Bun.deepEquals(site.events(), events)))
    );
  }

  if (!(await settles())) throw new Error("the monitor does not come up");
  const owned = stack.move();
  return {
    settles,
    /** Begins or ends a fault. Returns what happened. */
    async take(step: FaultStep): Promise<string> {
      const latest = performance.now() - AWAY_MAX_MS;
      const overdue = PLACES.find((place) => isAway(place) && (awaySince.get(place) ?? 0) < latest);
      const fault = await (overdue === undefined ? begin(step) : bringBack(overdue));
      follow();
      counts.set(fault, (counts.get(fault) ?? 0) + 1);
      return `${overdue ?? step.place}: ${fault}`;
    },
    expected: () => ({ isDown, down: [...down], events, seen: site.events() }),
    /** Mends all links, and starts all agents. */
    async endFaults(): Promise<void> {
      if (site.link) site.link.treat = () => "once";
      for (const place of PLACES) {
        // oxlint-disable no-await-in-loop
        if (!isAway(place)) continue;
        await bringBack(place);
        follow();
        if (!(await settles())) {
          throw new Error(`${place} does not come back: ${site.events().join()}`);
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
