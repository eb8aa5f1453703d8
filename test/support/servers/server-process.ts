import { afterAll, beforeAll, describe } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port";
import { temporaryFolder } from "../temporary-folder";

/** A server program that a test started in a folder of its own. Disposing it ends the process. */
export interface ServerProcess extends AsyncDisposable {
  port: number;
  folder: string;
  /** Returns the id of the process. */
  pid(): number;
  /** Returns the end of what the process has printed since its last start. */
  output(): string;
  /** Resolves to the exit code once the process has ended. */
  exited(): Promise<number>;
  /** Stops the process without closing its connections, as a machine that hangs. */
  freeze(): void;
  /** Lets a frozen process go on. */
  thaw(): void;
  /** Sends SIGKILL and waits until the process has ended. The folder stays. */
  kill(): Promise<void>;
  /** Starts a server that has ended again, with the same port and folder. Throws while it runs. */
  restart(): Promise<void>;
}

/** Folders with server programs that are not in the PATH of every user. */
const FOLDERS = ["/usr/sbin", "/sbin", ...newestFirst("/usr/lib/postgresql", "bin")];

/** Characters of a server's output that are kept, for messages. */
const OUTPUT_MAX = 100_000;
/** Longest time in ms until a process has stopped. */
const STOPPED_MAX_MS = 240_000;

/** User without rights, for servers that refuse to run as root. */
const USER = "nobody";

function newestFirst(folder: string, inner: string): string[] {
  try {
    const versions = readdirSync(folder).toSorted((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(folder, version, inner));
  } catch {
    return [];
  }
}

/** Returns the path of a program; undefined if it is not installed. */
export function findProgram(...names: string[]): string | undefined {
  const PATH = [process.env["PATH"] ?? "", ...FOLDERS].join(":");
  return names.map((name) => Bun.which(name, { PATH })).find((path) => path !== null) ?? undefined;
}

/**
 * Describes tests that need a server program of Debian. Without one of the programs they are skipped, loudly;
 * in CI that is a failure.
 */
export function describeWithServer<Server extends AsyncDisposable>(
  name: string,
  { programs, start }: { programs: string[]; start: () => Promise<Server> },
  body: (server: () => Server) => void,
): void {
  const missing = programs.find((program) => findProgram(...program.split("|")) === undefined);
  if (missing !== undefined) {
    const message = `The program ${missing} is not installed.`;
    if (process.env["CI"]) throw new Error(message);
    console.warn(`SKIPPED: “${name}”. ${message}`);
    describe.skip(name, () => {});
    return;
  }
  describe(name, () => {
    let server: Server;
    beforeAll(async () => {
      server = await start();
    }, 60_000);
    afterAll(() => server?.[Symbol.asyncDispose]());
    body(() => server);
  });
}

/** Certificates of the servers that a test compares: a trusted one, an expired one, and one for another name. */
export const CERTIFICATES = ["good", "expired", "other"] as const;
export type CertificateName = (typeof CERTIFICATES)[number];

/** Servers that differ in their certificate. */
export type ServersByCertificate = Record<CertificateName, ServerProcess> & AsyncDisposable;

/**
 * Starts a server for each certificate. `prepare` makes what they share in a folder that is removed when all
 * of them have started.
 */
export async function startByCertificate(
  prepare: (folder: string) => Promise<void>,
  start: (certificate: CertificateName, shared: string) => Promise<ServerProcess>,
): Promise<ServersByCertificate> {
  using shared = temporaryFolder();
  await prepare(shared.path);
  const [good, expired, other] = await Promise.all([
    start("good", shared.path),
    start("expired", shared.path),
    start("other", shared.path),
  ]);
  return {
    good,
    expired,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([good, expired, other].map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

interface StartOptions {
  /** Prepares the folder, which other users may read, and returns the command of the server. */
  command(place: { folder: string; port: number }): Promise<string[]> | string[];
  /** Line that the server prints when it accepts connections; if omitted, connections are tried. */
  ready?: RegExp;
  /** Variables that are added to the environment, or removed from it. */
  env?: Record<string, string | undefined>;
  /** Signal that ends it; SIGTERM if omitted. */
  stop?: NodeJS.Signals;
}

/** Starts a server on a free port of loopback and waits until it accepts connections. */
export async function startServer({
  command,
  ready,
  env = {},
  stop = "SIGTERM",
}: StartOptions): Promise<ServerProcess> {
  const folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const port = await freePort();
  const line = await command({ folder: folder.path, port });
  let output = { text: "" };
  const start = async () => {
    output = { text: "" };
    const child = Bun.spawn(line, {
      cwd: folder.path,
      env: { ...process.env, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    await untilReady(child, ready ?? port, output);
    return child;
  };
  let child = await start().catch((error: unknown) => {
    folder[Symbol.dispose]();
    throw error;
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    // A frozen process gets the signal when it goes on.
    child.kill("SIGCONT");
    await child.exited;
  };
  return {
    port,
    folder: folder.path,
    pid: () => child.pid,
    output: () => output.text,
    exited: () => child.exited,
    freeze() {
      child.kill("SIGSTOP");
      untilStopped(child.pid);
    },
    thaw: () => child.kill("SIGCONT"),
    kill: () => end("SIGKILL"),
    async restart() {
      // The running process would answer in the place of the new one.
      if (child.exitCode === null && child.signalCode === null) throw new Error("the server runs");
      child = await start();
    },
    async [Symbol.asyncDispose]() {
      await end(stop);
      folder[Symbol.dispose]();
    },
  };
}

type Spawned = Bun.Subprocess<"ignore", "pipe", "pipe">;

/** Waits for a line, or until a port accepts connections. Throws what the process printed if it ends before. */
async function untilReady(
  child: Spawned,
  ready: RegExp | number,
  output: { text: string },
): Promise<void> {
  const pattern = typeof ready === "number" ? /(?!)/ : ready;
  const isReady = [child.stdout, child.stderr].map((stream) => untilMatch(stream, pattern, output));
  if (typeof ready === "number") isReady.push(untilListening(ready, child));
  try {
    await Promise.any(isReady);
  } catch (error) {
    throw new Error(`the server did not start:\n${output.text}`, { cause: error });
  }
}

async function untilListening(port: number, child: Spawned): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    try {
      const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
      socket.end();
      return;
    } catch {
      await Bun.sleep(10);
    }
  }
  throw new Error("the server has ended");
}

/** Returns the words of a command line, none of which contains white space. */
export function words(line: string): string[] {
  return line.trim().split(/\s+/);
}

/** Runs a command to its end. Throws what it printed if it fails. */
export async function runCommand(command: string[], input = ""): Promise<string> {
  const child = Bun.spawn(command, { stdin: Buffer.from(input), stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0)
    throw new Error(`${command.join(" ")} failed:\n${output}${errors}`);
  return output;
}

/** Returns a command that runs as a user without rights, since some servers refuse to run as root. */
export function withoutRights(command: string[]): string[] {
  if (process.getuid?.() !== 0) return command;
  return ["setpriv", `--reuid=${USER}`, `--regid=nogroup`, "--clear-groups", ...command];
}

/** Gives a folder to the user without rights. */
export async function giveAway(folder: string): Promise<void> {
  if (process.getuid?.() === 0) await runCommand(["chown", "-R", `${USER}:nogroup`, folder]);
}

/** Waits until all threads of a process have stopped: Linux stops them after it has taken the signal. */
function untilStopped(pid: number): void {
  const threads = `/proc/${pid}/task`;
  if (!existsSync(threads)) return;
  const end = performance.now() + STOPPED_MAX_MS;
  while (performance.now() < end) {
    if (readdirSync(threads).every((thread) => isStopped(join(threads, thread, "stat")))) return;
    Bun.sleepSync(1);
  }
  throw new Error(`process ${pid} has not stopped`);
}

function isStopped(file: string): boolean {
  try {
    // The state follows the name of the program, which is in parentheses.
    return /\) T [^)]*$/.test(readFileSync(file, "utf8"));
  } catch {
    // The thread has ended.
    return true;
  }
}

/** Reads a stream to its end. Resolves at the first match, and rejects without one. */
async function untilMatch(
  stream: ReadableStream<Uint8Array>,
  pattern: RegExp,
  output: { text: string },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      output.text = `${output.text}${decoder.decode(chunk, { stream: true })}`.slice(-OUTPUT_MAX);
      if (pattern.test(output.text)) resolve();
    }
    reject(new Error("the stream ended"));
  };
  void read();
  return promise;
}
