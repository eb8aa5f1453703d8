import { join } from "node:path";
import { createInstallation, type Installation, type Server } from "./binary";
import { type Machine, startNetwork } from "./fleet/network";
import { runCommand } from "./servers/server-process";

const PORT = 8080;
const HOSTS = join(import.meta.dir, "processes/outside-hosts.ts");

/** State of a monitor, as the API shows it. */
export interface MonitorOutside {
  id: string;
  name: string;
  state: string;
  state_since: string;
  last_check: { outcome: string; message: string | null } | null;
}

/**
 * The executable on a machine of its own, and another machine with the global addresses of all hosts outside. Both are
 * network namespaces, so nothing leaves the machine of the test.
 */
export interface OutsideSite extends AsyncDisposable {
  site: Installation;
  server: Server;
  /** Sends a request to the API from the server's own loopback. */
  api<Body>(path: string, init?: { method?: string; json?: unknown }): Promise<Body>;
  monitors(): Promise<MonitorOutside[]>;
  /** Calls an address of the server from a global address. Returns false if no answer came. */
  callFrom(address: string, path: string): Promise<boolean>;
  /** Gives the outside machine an address, or takes it away: then its packets are lost. */
  host(address: string, isThere: boolean): Promise<void>;
  /** Cuts the link of the server, and mends it. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Bodies of the messages that came to any host outside. */
  messages(): string[];
}

/** Opens the site. `built` is the path of an executable; one of the sources is built by default. */
export async function openOutsideSite(
  hosts: readonly string[],
  built?: string,
): Promise<OutsideSite> {
  await using stack = new AsyncDisposableStack();
  const network = stack.use(await startNetwork());
  const machine = await network.addMachine();
  const outside = await network.addMachine();
  const onMachine = (own: Machine, ...words: string[]) => runCommand(own.commandOf(words));
  const addRoute = () =>
    onMachine(machine, "ip", "route", "replace", "default", "via", outside.address);
  const host = async (address: string, isThere: boolean) => {
    const verb = isThere ? "add" : "del";
    await onMachine(outside, "ip", "address", verb, `${address}/32`, "dev", "lo");
  };
  for (const address of hosts) await host(address, true);
  await addRoute();
  const site = stack.use(await createInstallation({ ...(built !== undefined && { built }) }));
  const { value: key } = await site.createKey([
    "manage:monitors",
    "manage:webhooks",
    "read:status",
    "read:analytics",
  ]);
  const messages = await answerHosts(stack, outside);
  const server = await site.serve({
    within: machine.commandOf([]),
    env: { ALLCLEAR_LISTEN: `0.0.0.0:${PORT}`, ALLCLEAR_OUTBOUND_ALLOW: "10.0.0.0/8" },
  });
  const unix = await machine.open(PORT);
  const owned = stack.move();

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

  return {
    site,
    server,
    api,
    monitors: async () =>
      (await api<{ data: MonitorOutside[] }>("/api/v1/monitors?limit=100")).data,
    async callFrom(address, path) {
      const url = `http://${machine.address}:${PORT}${path}`;
      const words = ["curl", "--silent", "--max-time", "2", "--interface", address, url];
      return runCommand(outside.commandOf(words)).then(
        () => true,
        () => false,
      );
    },
    host,
    cut: () => machine.cut(),
    async mend() {
      await machine.mend();
      await addRoute();
    },
    messages,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Starts a process on a machine that answers for hosts, which ends with the stack. Resolves when it listens, to a function
 * that returns the bodies of the messages that the hosts got.
 */
export async function answerHosts(
  stack: AsyncDisposableStack,
  machine: { commandOf(command: string[]): string[] },
): Promise<() => string[]> {
  const answering = Bun.spawn(machine.commandOf([process.execPath, HOSTS]), {
    stdout: "pipe",
    stderr: "inherit",
  });
  stack.defer(async () => {
    answering.kill("SIGKILL");
    await answering.exited;
  });
  let printed = "";
  const listening = Promise.withResolvers<void>();
  void (async () => {
    for await (const chunk of answering.stdout.pipeThrough(new TextDecoderStream())) {
      printed += chunk;
      if (printed.includes("ready")) listening.resolve();
    }
  })();
  await listening.promise;
  return () =>
    printed
      .split("\n")
      .filter((line) => line.startsWith('"'))
      .map((line) => JSON.parse(line) as string);
}
