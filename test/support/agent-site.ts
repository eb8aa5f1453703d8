import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLI_ACTOR } from "../../src/base/actor";
import { rotateLocationToken } from "../../src/features/locations/locations";
import { findLocationByRef } from "../../src/features/locations/store";
import { openForCommand } from "../../src/installation";
import { testConfig } from "./app";
import { createInstallation, holds, type Installation, type Running, type Server } from "./binary";
import { type Machine, startNetwork } from "./fleet/network";
import { runCommand } from "./servers/server-process";
import { answerHosts } from "./outside-site";

const PORT = 8080;
const TARGET_PORT = 80;

/** A secret of every monitor, which no file and no log of an agent may have. */
export const SECRET = "s3cr3t-of-the-monitor-4711";

/** A monitor as the API shows it. */
export interface SeenMonitor {
  id: string;
  name: string;
  state: string;
  at_locations: {
    location: string;
    state: string;
    is_silent: boolean;
    last_check: { at: string } | null;
  }[];
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
  /** Starts another process in the place of the last one. */
  restart(): Promise<void>;
  /** Replaces the token in the file of the agent. */
  writeToken(token: string): void;
  /** Loses all packets to the target, and undoes it. */
  loseTarget(): Promise<void>;
  findTarget(): Promise<void>;
}

/** A server, a target and agents, each on a machine of its own: network namespaces, so nothing leaves the machine. */
export interface AgentSite extends AsyncDisposable {
  site: Installation;
  /** Server that runs now. */
  server: Server;
  serverMachine: Machine;
  agents: AgentMachine[];
  /** Starts the server again. */
  startServer(): Promise<void>;
  api<Body>(path: string, init?: { method?: string; json?: unknown }): Promise<Body>;
  monitor(): Promise<SeenMonitor>;
  /** Resolves to true once the monitor has a state; `places` are states by location. */
  reaches(state: string, places?: Record<string, string>): Promise<boolean>;
  /** Types of the events about monitors so far, oldest first, by the messages that came to the target. */
  events(): string[];
  /** Replaces the token of a location, which ends at once, as an admin does. Returns the next one. */
  replaceToken(name: string): Promise<string>;
}

/** Opens the site with a monitor that the server and all agents check each second. */
export async function openAgentSite(
  names: readonly string[],
  {
    isFromSources = false,
    downWhen = "majority",
  }: { isFromSources?: boolean; downWhen?: string } = {},
): Promise<AgentSite> {
  await using stack = new AsyncDisposableStack();
  const network = stack.use(await startNetwork());
  const serverMachine = await network.addMachine();
  const target = await network.addMachine();
  const site = stack.use(await createInstallation({ isFromSources }));
  const messages = await answerHosts(stack, target);

  const { value: key } = await site.createKey(
    ["manage:monitors", "manage:webhooks"],
    "--rate-limit",
    "1000000",
  );
  const tokens = names.map((name) => ({ name, token: `${name}_${"x".repeat(40)}` }));
  const file = site.path("config.json");
  const monitorInFile = {
    name: "Shop",
    type: "http",
    config: { url: `http://${target.address}:${TARGET_PORT}/`, headers: { "x-secret": SECRET } },
    interval_seconds: 5,
    retry_interval_seconds: 1,
    timeout_ms: 1_000,
    failure_threshold: 2,
    success_threshold: 1,
    locations: ["local", ...names],
    down_when: downWhen,
  };
  const locations = tokens.map(({ name, token }) => ({ name, ref: name, token }));
  writeFileSync(file, JSON.stringify({ pages: [], locations, monitors: [monitorInFile] }));
  await site.output("apply", file);

  const startServer = () =>
    site.serve({
      within: serverMachine.commandOf([]),
      env: { ALLCLEAR_LISTEN: `0.0.0.0:${PORT}`, ALLCLEAR_OUTBOUND_ALLOW: "10.0.0.0/8" },
    });
  let server = await startServer();
  const unix = await serverMachine.open(PORT);
  const agents = await Promise.all(tokens.map(addAgent));

  async function addAgent({ name, token }: { name: string; token: string }): Promise<AgentMachine> {
    const machine = await network.addMachine();
    const directory = site.path(name);
    mkdirSync(join(directory, "state"), { recursive: true });
    const tokenFile = site.path(`${name}.token`);
    writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
    const start = async () => {
      const url = `http://${serverMachine.address}:${PORT}`;
      const args = ["--server", url, "--allow-http", "--token-file", tokenFile];
      const agent = site.start(["probe", ...args, "--state-dir", join(directory, "state")], {
        within: machine.commandOf([]),
        cwd: directory,
      });
      await agent.untilError(/checks for/);
      return agent;
    };
    let agent = await start();
    return {
      name,
      token,
      machine,
      directory,
      get agent() {
        return agent;
      },
      async restart() {
        agent = await start();
      },
      writeToken: (next) => writeFileSync(tokenFile, `${next}\n`),
      loseTarget: () => route(machine, "add", target.address),
      findTarget: () => route(machine, "del", target.address),
    };
  }

  const api = async <Body>(
    path: string,
    { method = "GET", json }: { method?: string; json?: unknown } = {},
  ): Promise<Body> => {
    const answer = await fetch(`http://localhost:${PORT}${path}`, {
      method,
      unix,
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
  const id = data[0]?.id ?? "";
  const monitor = () => api<SeenMonitor>(`/api/v1/monitors/${id}`);
  const owned = stack.move();

  return {
    site,
    get server() {
      return server;
    },
    serverMachine,
    agents,
    async startServer() {
      server = await startServer();
    },
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
    reaches: (state, places = {}) =>
      holds(async () => {
        const seen = await monitor().catch(() => undefined);
        const there = new Map(seen?.at_locations.map((each) => [each.location, each.state]));
        return (
          seen?.state === state &&
          Object.entries(places).every(([place, expected]) => there.get(place) === expected)
        );
      }),
    events: () => messages().map((body) => (JSON.parse(body) as { type: string }).type),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Adds or removes the route by which all packets to an address are lost. */
async function route(machine: Machine, verb: "add" | "del", address: string): Promise<void> {
  await runCommand(machine.commandOf(["ip", "route", verb, "blackhole", `${address}/32`]));
}
