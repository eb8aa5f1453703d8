import { chmodSync, chownSync, copyFileSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder";

const ROOT = join(import.meta.dir, "../..");
/** Time limit of tests that start processes, in milliseconds. It ends those that hang; no machine is slow enough to reach it. */
export const PROCESS_TEST_MS = 10 * 60_000;

/** Time after which a condition is taken never to hold, in milliseconds: less than the limit of a test. */
export const HANGS_MS = PROCESS_TEST_MS / 2;

let building: Promise<string> | undefined;

/** Returns the path of the executable, built from the sources once per test run. */
export function executable(): Promise<string> {
  building ??= build();
  return building;
}

async function build(): Promise<string> {
  const folder = join(ROOT, ".test-build");
  mkdirSync(folder, { recursive: true });
  const unfinished = join(folder, `allclear-${process.pid}`);
  const builder = Bun.spawn([process.execPath, "deploy/build.ts", "--outfile", unfinished], {
    cwd: ROOT,
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = await textOf(builder.stderr);
  if ((await builder.exited) !== 0) throw new Error(`the build failed:\n${errors}`);
  // A rename does not disturb processes that still run an earlier build.
  const finished = join(folder, "allclear");
  renameSync(unfinished, finished);
  return finished;
}

/** A command that has ended. */
interface Outcome {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

interface ProcessOptions {
  /** Variables added to an environment with PATH only. */
  env?: Record<string, string>;
  /** Working directory, by default an empty folder. */
  cwd?: string;
  /** Largest number of open file descriptors, by default the machine's limit. */
  descriptors?: number;
  /** Words of a command that runs the executable, such as in another network. */
  within?: readonly string[];
  /** Command that runs instead of the executable. */
  program?: readonly string[];
}

interface ServeOptions extends ProcessOptions {
  /** `serve` by default. */
  command?: "serve" | "demo";
  args?: string[];
}

interface FetchOptions extends Omit<RequestInit, "headers"> {
  /** Key value for `Authorization: Bearer`. */
  key?: string;
  headers?: Record<string, string>;
}

/** A command that runs until it is stopped. */
export interface Running {
  pid: number;
  /** Standard output and standard error so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves at the first match in standard error. Rejects when the process ends without one. */
  untilError(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends SIGTERM. Resolves to the exit code once the process has ended. */
  stop(): Promise<number>;
  /** Sends SIGKILL. Resolves once the process has ended. */
  kill(): Promise<void>;
  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

/** A running server that has reported to be ready. */
export interface Server extends Running {
  url: string;
  port: number;
  fetch(path: string, options?: FetchOptions): Promise<Response>;
}

/** A data directory with the executable. Disposing it ends all processes that it started. */
export interface Installation extends AsyncDisposable {
  dataDir: string;
  /** An empty folder, the default working directory of all processes. */
  workDir: string;
  /** Returns a path outside of both folders for a file of the test. */
  path(name: string): string;
  /** Runs a command to its end. */
  run(args: string[], options?: ProcessOptions): Promise<Outcome>;
  /** Starts a command that does not end by itself. */
  start(args: string[], options?: ProcessOptions): Running;
  /** Runs a command that must succeed and returns its trimmed standard output. */
  output(...args: string[]): Promise<string>;
  /** Starts a server on a free port of the loopback interface and waits until it is ready. */
  serve(options?: ServeOptions): Promise<Server>;
  /** Creates a key by command and returns its id and value. */
  createKey(scopes: string[], ...more: string[]): Promise<{ id: string; value: string }>;
  /** Creates a page by command, with these components. */
  createPage(slug: string, components: string[]): Promise<void>;
}

/**
 * Creates an installation. `isFromSources` runs `src/main.ts` instead of the executable, and `built` another one. `userId`
 * runs a copy of the executable as this user, which only root can do. Its processes are killed after `lifetimeMs`.
 */
export async function createInstallation({
  isFromSources = false,
  built,
  userId,
  lifetimeMs = PROCESS_TEST_MS,
}: {
  isFromSources?: boolean;
  built?: string;
  userId?: number;
  lifetimeMs?: number;
} = {}): Promise<Installation> {
  const command = isFromSources
    ? [process.execPath, join(ROOT, "src/main.ts")]
    : [built ?? (await executable())];
  const folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  const dataDir = path("data");
  const workDir = path("work");
  mkdirSync(workDir);
  if (userId !== undefined) {
    chmodSync(folder.path, 0o755);
    mkdirSync(dataDir, { mode: 0o700 });
    for (const own of [dataDir, workDir]) chownSync(own, userId, userId);
    // The folder of the sources may be closed to other users.
    const copy = path("allclear");
    copyFileSync(command[0] ?? "", copy);
    const ids = [`--reuid=${userId}`, `--regid=${userId}`, "--clear-groups"];
    command.splice(0, 1, "setpriv", ...ids, copy);
  }
  const started = new Set<Bun.Subprocess>();

  function start(
    args: string[],
    { cwd = workDir, env = {}, descriptors, within = [], program = command }: ProcessOptions,
  ) {
    const limited = ["sh", "-c", `ulimit -n ${descriptors}; exec "$0" "$@"`];
    const before = [...within, ...(descriptors === undefined ? [] : limited)];
    const child = Bun.spawn([...before, ...program, ...args], {
      cwd,
      env: {
        PATH: process.env.PATH ?? "",
        ALLCLEAR_DATA_DIR: dataDir,
        ALLCLEAR_LISTEN: "127.0.0.1:0",
        ...env,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: lifetimeMs,
      killSignal: "SIGKILL",
    });
    started.add(child);
    void child.exited.then(() => started.delete(child));
    return child;
  }

  function startRunning(args: string[], options: ProcessOptions = {}): Running {
    const child = start(args, options);
    const stdout = gather(child.stdout);
    const stderr = gather(child.stderr);
    return {
      pid: child.pid,
      stdout: stdout.text,
      stderr: stderr.text,
      untilError: stderr.until,
      exited: child.exited,
      async stop() {
        child.kill("SIGTERM");
        return child.exited;
      },
      async kill() {
        child.kill("SIGKILL");
        await child.exited;
      },
      signal: (signal) => child.kill(signal),
    };
  }

  async function run(args: string[], options: ProcessOptions = {}): Promise<Outcome> {
    const child = start(args, options);
    const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    await child.exited;
    return { exitCode: child.exitCode, stdout, stderr };
  }

  async function output(...args: string[]): Promise<string> {
    const outcome = await run(args);
    if (outcome.exitCode !== 0) {
      throw new Error(`allclear ${args.join(" ")} exited ${outcome.exitCode}: ${outcome.stderr}`);
    }
    return outcome.stdout.trim();
  }

  return {
    dataDir,
    workDir,
    path,
    run,
    start: startRunning,
    output,
    async serve({ command: name = "serve", args = [], ...options } = {}) {
      const running = startRunning([name, ...args], options);
      const ready = await running.untilError(/is ready\. Open (http:\/\/\S+:(\d+))/);
      const [, url = "", port = ""] = ready;
      return {
        ...running,
        url,
        port: Number(port),
        fetch(target, { key, headers, ...init } = {}) {
          const sent = new Headers(headers);
          if (key !== undefined) sent.set("authorization", `Bearer ${key}`);
          return fetch(url + target, { redirect: "manual", ...init, headers: sent });
        },
      };
    },
    async createKey(scopes, ...more) {
      const flags = scopes.flatMap((scope) => ["--scope", scope]);
      const json = await output("key", "create", "--name", "test", ...flags, ...more, "--json");
      return JSON.parse(json) as { id: string; value: string };
    },
    async createPage(slug, components) {
      const file = path(`${slug}.json`);
      // JSON is also YAML.
      const page = { slug, name: slug, components: components.map((name) => ({ name })) };
      await Bun.write(file, JSON.stringify({ pages: [page] }));
      await output("apply", file);
    },
    async [Symbol.asyncDispose]() {
      for (const child of started) child.kill("SIGKILL");
      await Promise.all([...started].map((child) => child.exited));
      folder[Symbol.dispose]();
    },
  };
}

/** Reads a stream to its end. */
export function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

interface Gathered {
  text(): string;
  /** Resolves at the first match, rejects when the stream ends without one. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Reads a stream to its end, keeps its text, and notifies callers that wait for a part of it. */
function gather(stream: ReadableStream<Uint8Array>): Gathered {
  let text = "";
  let hasEnded = false;
  let wake = Promise.withResolvers<void>();
  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      notify();
    }
    hasEnded = true;
    notify();
  };
  void read();
  return {
    text: () => text,
    async until(pattern) {
      for (;;) {
        const match = pattern.exec(text);
        if (match) return match;
        if (hasEnded) throw new Error(`the process ended without ${pattern}:\n${text}`);
        await wake.promise;
      }
    },
  };
}

/**
 * Repeats a probe until it holds, and returns true then. Returns false after minutes, since nothing takes that long on any
 * machine. For changes that a server only notices by polling, such as commits of other processes.
 */
export async function holds(probe: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + HANGS_MS;
  while (!(await probe())) {
    if (performance.now() >= until) return false;
    await Bun.sleep(20);
  }
  return true;
}
