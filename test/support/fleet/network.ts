import { join } from "node:path";
import { findProgram, runCommand } from "../servers/server-process";
import { temporaryFolder } from "../temporary-folder";

/** Network of the addresses below, which exist in the namespaces only. */
const NETWORK = "10.213.47";
const HUB = `${NETWORK}.1`;

/**
 * Network with a namespace for each machine and one for the bridge that connects them. Each namespace belongs to a
 * process of this test and ends with it, also if the test is killed.
 */
export interface Network extends AsyncDisposable {
  /** Address of the servers that `publish` adds. */
  address: string;
  /** Makes a port of the test's loopback reachable for the machines at the same port of `address`. */
  publish(port: number): Promise<void>;
  /** Adds a machine. */
  addMachine(): Promise<Machine>;
}

/** Machine with a loopback of its own and one link. */
export interface Machine {
  /** Address for the other machines. */
  address: string;
  /** Returns the command that runs a command on this machine. */
  commandOf(words: readonly string[]): string[];
  /** Makes a port of its loopback reachable for the test. Returns the path of a socket. */
  open(port: number): Promise<string>;
  /** Makes a socket of the test reachable at a port of its loopback. */
  reach(socket: string, port: number): Promise<void>;
  /** Takes its link away. */
  cut(): Promise<void>;
  /** Loses all packets from and to a port that was published. */
  drop(port: number): Promise<void>;
  /** Undoes `cut` and `drop`. */
  mend(): Promise<void>;
}

/** Returns the reason why no network can be made; undefined if it can be. */
export function findNetworkProblem(...programs: readonly string[]): string | undefined {
  const missing = ["ip", "nsenter", "unshare", ...programs].find((name) => !findProgram(name));
  if (missing !== undefined) return `The program ${missing} is not installed.`;
  const { exitCode } = Bun.spawnSync(["unshare", "--net", "ip", "link", "set", "lo", "up"]);
  return exitCode === 0 ? undefined : "Namespaces of the network need root.";
}

/** Starts a network without machines. */
export async function startNetwork(): Promise<Network> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder());
  const outside = stack.use(startRelays([]));
  const hub = stack.use(startRelays(["unshare", "--net"]));
  await hub.untilReady();
  await hub.run("ip", "link", "add", "name", "bridge", "type", "bridge");
  await hub.run("ip", "address", "add", `${HUB}/24`, "dev", "bridge");
  await hub.run("ip", "link", "set", "bridge", "up");
  let machines = 0;

  async function addMachine(): Promise<Machine> {
    const number = (machines += 1);
    const address = `${NETWORK}.${number + 1}`;
    const own = owned.use(startRelays(["unshare", "--net"]));
    await own.untilReady();
    const link = ["type", "veth", "peer", "name", "eth0", "netns", String(own.pid)];
    await hub.run("ip", "link", "add", "name", `machine${number}`, ...link);
    await hub.run("ip", "link", "set", `machine${number}`, "master", "bridge", "up");
    await own.run("ip", "link", "set", "lo", "up");
    await own.run("ip", "address", "add", `${address}/24`, "dev", "eth0");
    await own.run("ip", "link", "set", "eth0", "up");
    let hasRules = false;
    return {
      address,
      commandOf: own.commandOf,
      async open(port) {
        const socket = join(folder.path, `${number}-${port}`);
        await own.relay(socket, `127.0.0.1:${port}`);
        return socket;
      },
      reach: (socket, port) => own.relay(`127.0.0.1:${port}`, socket),
      cut: () => own.run("ip", "link", "set", "eth0", "down"),
      async drop(port) {
        hasRules = true;
        await own.apply(`table inet cut {
          chain in { type filter hook input priority 0; tcp sport ${port} drop; }
          chain out { type filter hook output priority 0; tcp dport ${port} drop; }
        }`);
      },
      async mend() {
        if (hasRules) await own.run("nft", "flush", "ruleset");
        hasRules = false;
        await own.run("ip", "link", "set", "eth0", "up");
      },
    };
  }

  const owned = stack.move();
  return {
    address: HUB,
    async publish(port) {
      const socket = join(folder.path, String(port));
      await outside.relay(socket, `127.0.0.1:${port}`);
      await hub.relay(`${HUB}:${port}`, socket);
    },
    addMachine,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Starts a process that relays connections. `command` begins it, such as one that gives it a namespace. */
function startRelays(command: readonly string[]) {
  const relays = join(import.meta.dir, "../processes/relay.ts");
  const child = Bun.spawn([...command, process.execPath, relays], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  /** A relay after the other, since each answers with a line. */
  let last: Promise<unknown> = Promise.resolve();
  const commandOf = (words: readonly string[]) => [
    "nsenter",
    `--net=/proc/${child.pid}/ns/net`,
    ...words,
  ];

  async function add(line: string): Promise<void> {
    child.stdin.write(`${line}\n`);
    await child.stdin.flush();
    if ((await lines.read()).done) throw new Error(`there is no relay ${line}`);
  }

  return {
    pid: child.pid,
    commandOf,
    /** Waits until the process has its namespace. */
    untilReady: () => add(""),
    relay(from: string, to: string): Promise<void> {
      const added = last.then(() => add(`${from} ${to}`));
      last = added.catch(() => {});
      return added;
    },
    async run(...words: string[]): Promise<void> {
      await runCommand(commandOf(words));
    },
    /** Applies rules of nftables. */
    async apply(rules: string): Promise<void> {
      await runCommand(commandOf(["nft", "-f", "-"]), `${rules}\n`);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
