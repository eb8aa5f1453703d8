import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder";

const ROOT = join(import.meta.dir, "../..");
/** No process of a test outlives this, whatever becomes of the test. */
const LIFETIME_MS = 60_000;

/** For tests that start several processes on a machine that is busy with other things. */
export const PROCESS_TEST_MS = 30_000;

let building: Promise<string> | undefined;

/** The compiled executable, built from the present sources by the first who asks in a test run. */
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
  const complaints = await textOf(builder.stderr);
  if ((await builder.exited) !== 0) throw new Error(`the build failed:\n${complaints}`);
  // A rename leaves whoever runs the build from before with what it has.
  const finished = join(folder, "allclear");
  renameSync(unfinished, finished);
  return finished;
}

/** A command that has ended. */
export interface Outcome {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export interface ProcessOptions {
  /** Added to an environment that holds nothing else of the test runner's but PATH. */
  env?: Record<string, string>;
  /** The working directory; an empty folder unless given. */
  cwd?: string;
  /** The most file descriptors that the process may have open; the machine's limit unless given. */
  descriptors?: number;
}

export interface ServeOptions extends ProcessOptions {
  args?: string[];
}

export interface FetchOptions extends Omit<RequestInit, "headers"> {
  /** The value of a key, sent as bearer. */
  key?: string;
  headers?: Record<string, string>;
}

/** A server that runs and has said that it is ready. */
export interface Server {
  pid: number;
  url: string;
  port: number;
  fetch(path: string, options?: FetchOptions): Promise<Response>;
  /** Standard error so far. */
  stderr(): string;
  /** Sends SIGTERM. Resolves to the exit code once the process has ended. */
  stop(): Promise<number>;
  /** Sends SIGKILL. Resolves once the process has ended. */
  kill(): Promise<void>;
  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

/** A data directory of its own, with the executable to use it. Its end ends all that it started. */
export interface Installation extends AsyncDisposable {
  dataDir: string;
  /** An empty folder, in which everything is started unless told otherwise. */
  workDir: string;
  /** Another path beside the two, for a file of the test. */
  path(name: string): string;
  /** Runs a command to its end. */
  run(args: string[], options?: ProcessOptions): Promise<Outcome>;
  /** Runs a command that has to succeed, and answers what it wrote to standard output, trimmed. */
  output(...args: string[]): Promise<string>;
  /** Starts a server on a free port of the loopback interface and waits until it is ready. */
  serve(options?: ServeOptions): Promise<Server>;
  /** Creates a key by command and answers its id and value. */
  createKey(scopes: string[], ...more: string[]): Promise<{ id: string; value: string }>;
  /** Creates a page by command, with these components. */
  createPage(slug: string, components: string[]): Promise<void>;
}

/** `isFromSources` runs `src/main.ts` instead of the executable. */
export async function createInstallation({ isFromSources = false } = {}): Promise<Installation> {
  const command = isFromSources
    ? [process.execPath, join(ROOT, "src/main.ts")]
    : [await executable()];
  const folder = temporaryFolder();
  const path = (name: string) => join(folder.path, name);
  const dataDir = path("data");
  const workDir = path("work");
  mkdirSync(workDir);
  const started = new Set<Bun.Subprocess>();

  function start(args: string[], { cwd = workDir, env = {}, descriptors }: ProcessOptions) {
    const limited = ["sh", "-c", `ulimit -n ${descriptors}; exec "$0" "$@"`];
    const child = Bun.spawn([...(descriptors === undefined ? [] : limited), ...command, ...args], {
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
      timeout: LIFETIME_MS,
      killSignal: "SIGKILL",
    });
    started.add(child);
    void child.exited.then(() => started.delete(child));
    return child;
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
    output,
    async serve({ args = [], ...options } = {}) {
      const child = start(["serve", ...args], options);
      const stderr = gather(child.stderr);
      const ready = await stderr.until(/is ready\. Open (http:\/\/\S+:(\d+))/);
      const [, url = "", port = ""] = ready;
      return {
        pid: child.pid,
        url,
        port: Number(port),
        fetch(target, { key, headers, ...init } = {}) {
          const sent = new Headers(headers);
          if (key !== undefined) sent.set("authorization", `Bearer ${key}`);
          return fetch(url + target, { redirect: "manual", ...init, headers: sent });
        },
        stderr: stderr.text,
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
    },
    async createKey(scopes, ...more) {
      const flags = scopes.flatMap((scope) => ["--scope", scope]);
      const json = await output("key", "create", "--name", "test", ...flags, ...more, "--json");
      return JSON.parse(json) as { id: string; value: string };
    },
    async createPage(slug, components) {
      const file = path(`${slug}.json`);
      // JSON is YAML.
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

/** All that a stream has to say, once it ends. */
export function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text();
}

interface Gathered {
  text(): string;
  /** Resolves at the first match, rejects when the stream ends without one. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Reads a stream to its end, keeps its text, and tells who waits for something in it. */
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
 * Waits until the probe holds, for at most `limitMs`, and answers whether it did. For what no event
 * tells of: a server hears of another process's commit by looking.
 */
export async function holdsWithin(
  limitMs: number,
  probe: () => Promise<boolean>,
): Promise<boolean> {
  const until = performance.now() + limitMs;
  while (!(await probe())) {
    if (performance.now() >= until) return false;
    await Bun.sleep(20);
  }
  return true;
}
