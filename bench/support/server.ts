import { readFileSync } from "node:fs";
import type { Workspace } from "./workspace";

const START_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 15_000;

/** A server that runs in a process of its own. */
export interface Server {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** Further arguments of Allclear. */
  args?: readonly string[];
  env?: Record<string, string>;
  /** The one core that it may use; else it may use all. */
  core?: number;
}

/** Starts Allclear on a data directory and a free port of the loopback. */
export function startAllclear(
  workspace: Workspace,
  dataDir: string,
  { args = [], ...options }: ServerOptions = {},
): Promise<Server> {
  return startServer(
    workspace,
    [workspace.allclear, "serve", "--data-dir", dataDir, "--listen", "127.0.0.1:0", ...args],
    { ...options, env: { ALLCLEAR_LOG_LEVEL: "warn", ...options.env } },
  );
}

/** Starts a program that says `Open http://…` on standard error once it listens. */
export async function startServer(
  workspace: Workspace,
  command: readonly string[],
  { env = {}, core }: ServerOptions = {},
): Promise<Server> {
  const words = workspace.path("stderr");
  const pinned = core === undefined ? [] : ["taskset", "-c", String(core)];
  const child = Bun.spawn([...pinned, ...command], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(words),
  });
  const url = await untilOpen(words, child);
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await child.exited;
      clearTimeout(timer);
    },
  };
}

async function untilOpen(words: string, child: Bun.Subprocess): Promise<string> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const url = /Open (http:\/\/[^\s/]+)/.exec(readFileSync(words, "utf8"))?.[1];
    if (url !== undefined) return url;
    await Bun.sleep(5);
  }
  child.kill("SIGKILL");
  throw new Error(`a server did not start; it said:\n${readFileSync(words, "utf8")}`);
}
