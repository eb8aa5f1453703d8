import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { SECOND_MS } from "../../src/base/time";
import { rotateLocationToken } from "../../src/features/locations/locations";
import { findLocationByRef } from "../../src/features/locations/store";
import { openForCommand } from "../../src/installation";
import { testConfig } from "./app";
import { type AgentProxy, startAgentProxy } from "./agent-proxy";
import { createInstallation, holds, type Installation, type Running, type Server } from "./binary";
import { type Machine, startNetwork } from "./fleet/network";
import { runCommand } from "./servers/server-process";
import { answerHosts } from "./outside-site";

const PORT = 8080;
const TARGET_PORT = 80;
const PROCESSES = join(import.meta.dir, "processes");

/** Interval of the checks of all monitors. */
export const INTERVAL_MS = 5 * SECOND_MS;

/** A secret of every monitor, which no file and no log of an agent may have. */
export const SECRET = "s3cr3t-of-the-monitor-4711";

/** Words of a command that lets a program leave a core, which an agent has to forbid. */
export const WITH_CORES = ["sh", "-c", 'ulimit -c "$(ulimit -H -c)"; exec "$0" "$@"'];

/** A monitor as the API shows it. */
export interface SeenMonitor {
  id: string;
  name: string;
  state: string;
  at_locations: { location: string; state: string; last_check: { at: string } | null }[];
}

/** A result as the API shows it. */
export interface SeenCheck {
  at: string;
  outcome: string;
}

/** An event about a monitor, by its message. */
export interface SeenEvent {
  type: string;
  timestamp: string;
  data: { name: string; outage: { started_at: string } | null };
}

/** Program of an agent that runs from the sources, which are slow to start. */
export interface AgentProgram {
  /** Version, if not that of the server. */
  version?: string;
  /** Error of the wall clock, in ms. */
  clockOffsetMs?: number;
}

/** An agent on a machine of its own. */
export interface AgentMachine {
  name: string;
  token: string;
  machine: Machine;
  /** Process that runs now. */
  agent: Running;
  /** Directory with the files of the agent: its working directory and its state. */
  directory: string;
  /** Starts another process after the last one has ended, with its program or another. */
  startAgain(program?: AgentProgram): Promise<void>;
  /** Sets the error of the wall clock of a program that has one, in ms. */
  setClock(offsetMs: number): void;
  /** Replaces the token in the file of the agent. */
  writeToken(token: string): void;
  /** Loses all packets to the target of a monitor, the first one by default, and undoes it. */
  loseTarget(monitor?: string): Promise<void>;
  findTarget(monitor?: string): Promise<void>;
}

/** A server, a target and agents, each on a machine of its own: network namespaces, so nothing leaves the machine. */
export interface AgentSite extends AsyncDisposable {
  site: Installation;
  /** Server that runs now. */
  server: Server;
  agents: AgentMachine[];
  /** Proxy through which the agents of a site with `isProxied` reach the server. */
  proxy: AgentProxy | undefined;
  /** Starts the server again. */
  startServer(): Promise<void>;
  /** Sends a request to the server, from its own machine. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  api<Body>(path: string, init?: { method?: string; json?: unknown }): Promise<Body>;
  /** Returns a monitor, the first one by default. */
  monitor(name?: string): Promise<SeenMonitor>;
  /** Resolves to true once a monitor has a state; `states` are states at locations. */
  reaches(state: string, states?: Record<string, string>, monitor?: string): Promise<boolean>;
  /** Returns the results of a monitor from a location, oldest first. */
  history(location: string, monitor?: string): Promise<SeenCheck[]>;
  /** Events about monitors so far, oldest first, by the messages that came to the targets. */
  events(): SeenEvent[];
  /** Types of these events. */
  eventTypes(): string[];
  /** Replaces the token of a location, which ends at once, as an admin does. Returns the next one. */
  replaceToken(name: string): Promise<string>;
}

interface AgentSiteOptions {
  /** Names of the monitors. Each has a target with an address of its own. */
  monitors?: readonly string[];
  /** Programs of agents that are not that of the server. */
  programs?: Readonly<Record<string, AgentProgram>>;
  /** True if the agents reach the server through a proxy of the test. */
  isProxied?: boolean;
  /** Time after which the processes are killed, in ms. */
  lifetimeMs?: number;
}

/** Opens the site with monitors that the server and all agents check at one interval. */
export async function openAgentSite(
  names: readonly string[],
  { monitors = ["Shop"], programs = {}, isProxied = false, lifetimeMs }: AgentSiteOptions = {},
): Promise<AgentSite> {
  await using stack = new AsyncDisposableStack();
  const network = stack.use(await startNetwork());
  const serverMachine = await network.addMachine();
  const target = await network.addMachine();
  const targets = new Map<string, string>();
  for (const [index, name] of monitors.entries()) {
    // The first target has the address of its machine, and the others have the last ones of the network.
    const address = index === 0 ? target.address : target.address.replace(/\d+$/, `${255 - index}`);
    targets.set(name, address);
    const words = ["ip", "address", "add", `${address}/24`, "dev", "eth0"];
    if (index > 0) await runCommand(target.commandOf(words));
  }
  const targetOf = (monitor = monitors[0] ?? "") => targets.get(monitor) ?? "";
  const site = stack.use(
    await createInstallation({ ...(lifetimeMs !== undefined && { lifetimeMs }) }),
  );
  const messages = await answerHosts(stack, target);

  const { value: key } = await site.createKey(
    ["manage:monitors", "manage:webhooks"],
    "--rate-limit",
    "1000000",
  );
  const tokens = names.map((name) => ({ name, token: `${name}_${"x".repeat(40)}` }));
  const file = site.path("config.json");
  const monitorsInFile = monitors.map((name) => ({
    name,
    type: "http",
    config: { url: `http://${targetOf(name)}:${TARGET_PORT}/`, headers: { "x-secret": SECRET } },
    interval_seconds: INTERVAL_MS / SECOND_MS,
    retry_interval_seconds: 1,
    timeout_ms: 4_000,
    failure_threshold: 2,
    success_threshold: 1,
    locations: ["local", ...names],
    down_when: "majority",
  }));
  const locations = tokens.map(({ name, token }) => ({ name, ref: name, token }));
  writeFileSync(file, JSON.stringify({ pages: [], locations, monitors: monitorsInFile }));
  await site.output("apply", file);

  const startServer = () =>
    site.serve({
      within: serverMachine.commandOf([]),
      env: { ALLCLEAR_LISTEN: `0.0.0.0:${PORT}`, ALLCLEAR_OUTBOUND_ALLOW: "10.0.0.0/8" },
    });
  let server = await startServer();
  const unix = await serverMachine.open(PORT);
  const proxy = isProxied ? stack.use(await startAgentProxy(unix)) : undefined;
  if (proxy) await network.publish(proxy.port);
  const serverUrl = proxy
    ? `http://${network.address}:${proxy.port}`
    : `http://${serverMachine.address}:${PORT}`;
  const agents = await Promise.all(tokens.map(addAgent));

  async function addAgent({ name, token }: { name: string; token: string }): Promise<AgentMachine> {
    const machine = await network.addMachine();
    const directory = site.path(name);
    mkdirSync(join(directory, "state"), { recursive: true });
    const tokenFile = site.path(`${name}.token`);
    writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
    const clockFile = site.path(`${name}.clock`);
    let program = programs[name];
    let agent: Running;
    const start = async () => {
      const args = ["--server", serverUrl, "--allow-http", "--token-file", tokenFile];
      agent = site.start(["probe", ...args, "--state-dir", join(directory, "state")], {
        within: machine.commandOf(WITH_CORES),
        cwd: directory,
        ...(program && { program: commandOf(program, clockFile) }),
      });
      await agent.untilError(/checks for|must be at most one minor version apart/);
    };
    await start();
    return {
      name,
      token,
      machine,
      directory,
      get agent() {
        return agent;
      },
      async startAgain(next = program) {
        program = next;
        await start();
      },
      setClock(offsetMs) {
        writeFileSync(clockFile, String(offsetMs));
        agent.signal("SIGUSR2");
      },
      writeToken: (next) => writeFileSync(tokenFile, `${next}\n`),
      loseTarget: (monitor) => route(machine, "add", targetOf(monitor)),
      findTarget: (monitor) => route(machine, "del", targetOf(monitor)),
    };
  }

  const fetchHere = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { redirect: "manual", ...init, unix });
  const api = async <Body>(
    path: string,
    { method = "GET", json }: { method?: string; json?: unknown } = {},
  ): Promise<Body> => {
    const answer = await fetchHere(path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Body;
  };
  await api("/api/v1/webhooks", {
    method: "POST",
    json: {
      url: `http://${target.address}/`,
      format: "standard",
      events: ["monitor.down", "monitor.up"],
    },
  });
  const { data } = await api<{ data: SeenMonitor[] }>("/api/v1/monitors");
  const ids = new Map(data.map(({ name, id }) => [name, id]));
  const pathOf = (name = monitors[0] ?? "") => `/api/v1/monitors/${ids.get(name)}`;
  const monitor = (name?: string) => api<SeenMonitor>(pathOf(name));
  /** A message that was sent again, since the server was killed before it knew the answer, is left out. */
  const seenEvents = () => [...new Set(messages())].map((body) => JSON.parse(body) as SeenEvent);
  const owned = stack.move();

  return {
    site,
    get server() {
      return server;
    },
    agents,
    proxy,
    async startServer() {
      server = await startServer();
    },
    fetch: fetchHere,
    api,
    monitor,
    async replaceToken(name) {
      const config = testConfig({ ALLCLEAR_DATA_DIR: site.dataDir });
      const opened = openForCommand(config, "test", { canCreate: false });
      try {
        return await opened.ctx.db.write((tx) => {
          const { id = "" } = findLocationByRef(tx, { ref: name }) ?? {};
          return rotateLocationToken(opened.ctx, tx, id, "now", CLI_ACTOR).token;
        });
      } finally {
        opened.close();
      }
    },
    reaches: (state, states = {}, name) =>
      holds(async () => {
        const seen = await monitor(name).catch(() => undefined);
        const there = new Map(seen?.at_locations.map((each) => [each.location, each.state]));
        return (
          seen?.state === state &&
          Object.entries(states).every(([location, expected]) => there.get(location) === expected)
        );
      }),
    async history(location, name) {
      const checks: SeenCheck[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const query = new URLSearchParams({ location, limit: "100", ...(cursor && { cursor }) });
        const page: { data: SeenCheck[]; next_cursor: string | null } = await api(
          `${pathOf(name)}/checks?${query}`,
        );
        checks.push(...page.data);
        cursor = page.next_cursor;
      }
      return checks.reverse();
    },
    events: seenEvents,
    eventTypes: () => seenEvents().map(({ type }) => type),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Returns the command that runs a program from the sources. */
function commandOf({ version, clockOffsetMs }: AgentProgram, clockFile: string): string[] {
  const bun = process.execPath;
  if (version !== undefined) return [bun, join(PROCESSES, "allclear-as.ts"), version];
  writeFileSync(clockFile, String(clockOffsetMs ?? 0));
  return [bun, join(PROCESSES, "allclear-at.ts"), clockFile];
}

/** Adds or removes the route by which all packets to an address are lost. */
async function route(machine: Machine, verb: "add" | "del", address: string): Promise<void> {
  await runCommand(machine.commandOf(["ip", "route", verb, "blackhole", `${address}/32`]));
}
