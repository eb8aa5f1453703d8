import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port";
import { type ServerProcess, startServer } from "../servers/server-process";
import { litestreamPath } from "./litestream";
import type { S3Server } from "./s3";

/** Secret that all nodes of the tests share. */
export const FLEET_SECRET = "a fleet secret of the tests, 40 characters";

const SUPPORT = join(import.meta.dir, "..");

interface NodeOptions {
  store: S3Server;
  /** Path in the store, equal for all nodes of a fleet. */
  path: string;
  /** Port of a link to the store; the store's own if omitted. */
  storePort?: number;
  /** Path of the executable; the sources are run if omitted. */
  executable?: string;
  /** Arguments after `serve`, such as `--replica`. */
  args?: readonly string[];
  env?: Record<string, string | undefined>;
  /** Error of the wall clock, in ms. */
  clockOffsetMs?: number;
}

/** A node of a fleet in a process of its own. Its folder is its data directory. */
export interface FleetNode extends ServerProcess {
  url: string;
  /** Address for other nodes. */
  privateUrl: string;
  /** Sends a request to the public listener. Throws after ten seconds. */
  call(path: string, options?: CallOptions): Promise<Response>;
  /** Runs another command with the node's settings to its end, such as `promote`. */
  run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

interface CallOptions {
  method?: string;
  /** Value of an API key. */
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

const CALL_MAX_MS = 10_000;

/** Starts a node and waits until its public port accepts connections. */
export async function startNode({
  store,
  path,
  storePort = store.port,
  executable,
  args = [],
  env = {},
  clockOffsetMs,
}: NodeOptions): Promise<FleetNode> {
  const privatePort = await freePort();
  const privateUrl = `http://127.0.0.1:${privatePort}`;
  const sources =
    clockOffsetMs === undefined
      ? [join(SUPPORT, "../../src/main.ts")]
      : [join(SUPPORT, "processes/allclear-at.ts"), String(clockOffsetMs)];
  const program = executable === undefined ? [process.execPath, ...sources] : [executable];
  const settings: Record<string, string | undefined> = {
    ALLCLEAR_FLEET_STORE: store.urlOf(path, storePort),
    ALLCLEAR_FLEET_STORE_KEY_ID: store.credentials.keyId,
    ALLCLEAR_FLEET_STORE_SECRET: store.credentials.secret,
    ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
    ALLCLEAR_LITESTREAM: await litestreamPath(),
    ...env,
  };
  const server = await startServer({
    env: settings,
    command({ folder, port }) {
      Object.assign(settings, {
        ALLCLEAR_DATA_DIR: folder,
        ALLCLEAR_LISTEN: `127.0.0.1:${port}`,
        ALLCLEAR_FLEET_LISTEN: `127.0.0.1:${privatePort}`,
        ALLCLEAR_FLEET_ADDRESS: privateUrl,
      });
      return [...program, "serve", ...args];
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  const end = server[Symbol.asyncDispose].bind(server);
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      await end();
      endLeftovers(server.folder);
    },
    url,
    privateUrl,
    call(target: string, { method = "GET", key, body, headers = {} }: CallOptions = {}) {
      return fetch(url + target, {
        method,
        redirect: "manual",
        signal: AbortSignal.timeout(CALL_MAX_MS),
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    },
    async run(...command: string[]) {
      const child = Bun.spawn([...program, ...command], {
        env: { ...process.env, ...settings },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      return { code: await child.exited, stdout, stderr };
    },
  });
}

/** Ends the processes of a killed node, which name its folder in their arguments. */
function endLeftovers(folder: string): void {
  const entries = existsSync("/proc") ? readdirSync("/proc") : [];
  for (const pid of entries.map(Number).filter(Number.isInteger)) {
    try {
      if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`${folder}/`)) {
        process.kill(pid, "SIGKILL");
      }
    } catch {
      // It has ended meanwhile.
    }
  }
}
