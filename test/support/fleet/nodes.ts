import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../binary";
import { freePort } from "../free-port";
import { type ServerProcess, startServer } from "../servers/server-process";
import { litestreamPath } from "./litestream";
import type { Machine, Network } from "./network";
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
  /** Machine of a network in which the store is published; the test's own if omitted. */
  place?: { network: Network; machine: Machine };
  /** Arguments after `serve`, such as `--replica`. */
  args?: readonly string[];
  env?: Record<string, string | undefined>;
  /** Error of the wall clock, in ms. The node then runs from the sources, which are slow to start. */
  clockOffsetMs?: number;
}

/** A node of a fleet in a process of its own. Its folder is its data directory. */
export interface FleetNode extends ServerProcess {
  url: string;
  /** Address for other nodes. */
  privateUrl: string;
  /** Sends a request to the public listener. Throws after ten seconds. */
  call(path: string, options?: CallOptions): Promise<Response>;
  /** Sets the error of the wall clock of a node that was started with one, in ms. */
  setClock(offsetMs: number): void;
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
  storePort,
  place,
  args = [],
  env = {},
  clockOffsetMs,
}: NodeOptions): Promise<FleetNode> {
  const privatePort = await freePort();
  const privateAddress = `${place?.machine.address ?? "127.0.0.1"}:${privatePort}`;
  const privateUrl = `http://${privateAddress}`;
  const commandOf = place?.machine.commandOf ?? ((words: readonly string[]) => [...words]);
  let program = clockOffsetMs === undefined ? [await executable()] : [];
  let clockFile = "";
  const settings: Record<string, string | undefined> = {
    ALLCLEAR_FLEET_STORE: store.urlOf(path, { host: place?.network.address, port: storePort }),
    ALLCLEAR_FLEET_STORE_KEY_ID: store.credentials.keyId,
    ALLCLEAR_FLEET_STORE_SECRET: store.credentials.secret,
    ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
    ALLCLEAR_LITESTREAM: await litestreamPath(),
    ...env,
  };
  const server = await startServer({
    env: settings,
    command({ folder, port }) {
      clockFile = join(folder, "clock-offset");
      if (clockOffsetMs !== undefined) {
        writeFileSync(clockFile, String(clockOffsetMs));
        program = [process.execPath, join(SUPPORT, "processes/allclear-at.ts"), clockFile];
      }
      Object.assign(settings, {
        ALLCLEAR_DATA_DIR: folder,
        ALLCLEAR_LISTEN: `127.0.0.1:${port}`,
        ALLCLEAR_FLEET_LISTEN: privateAddress,
        ALLCLEAR_FLEET_ADDRESS: privateUrl,
      });
      return commandOf([...program, "serve", ...args]);
    },
    // The port of another machine cannot be tried.
    ...(place && { ready: /"listening( as a replica)?"/ }),
  });
  const unix = await place?.machine.open(server.port);
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
        ...(unix !== undefined && { unix }),
        signal: AbortSignal.timeout(CALL_MAX_MS),
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    },
    setClock(offsetMs: number) {
      writeFileSync(clockFile, String(offsetMs));
      process.kill(server.pid(), "SIGUSR2");
    },
    async run(...command: string[]) {
      const child = Bun.spawn(commandOf([...program, ...command]), {
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
