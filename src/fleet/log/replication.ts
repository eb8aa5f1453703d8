import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { redactText } from "../../base/secrets";
import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { isPrefix } from "../leader/record";
import { environmentOf, type LitestreamSetup, replicaSettings } from "./litestream";
import { createSocket } from "./litestream-socket";
import { socketPath } from "../socket-path";

/** Pause before Litestream is started again, doubled after each start that did not last. */
const RESTART_MS = 500;
const RESTART_MAX_MS = 10_000;
/** Time after which a start has lasted. */
const LASTED_MS = 30_000;
/** Time that Litestream may take to upload the rest when it is stopped. */
const STOP_MS = 15_000;

/** The process that uploads the log of the database. */
export interface Replication {
  /** Beginning of the keys to which it uploads. */
  readonly prefix: string;
  /** Number of times it was started again. */
  readonly restarts: number;
  /** Last transaction that is known to be uploaded; 0 before the first. */
  readonly lastTxid: number;
  /** Uploads all that is committed. Resolves to the number of the last transaction. Rejects after `limitMs`. */
  sync(limitMs: number): Promise<number>;
  /** Folder of the log's newest files on this machine. */
  localFiles(): string;
  /** Uploads to another prefix from here on, which begins with a snapshot. */
  moveTo(prefix: string): Promise<void>;
  /** Uploads the rest and ends the process. */
  stop(): Promise<void>;
}

interface ReplicationDependencies {
  clock: Clock;
  log: Log;
  litestream: LitestreamSetup;
  /** Path of the database. */
  database: string;
  /** Folder for configuration, socket and local state. */
  folder: string;
}

/** Ends a Litestream that outlived the process which started it, such as one that was killed. */
export function endLeftoverReplication({
  database,
  folder,
}: Pick<ReplicationDependencies, "database" | "folder">): Promise<void> {
  return createSocket(socketPath(folder, "litestream.sock"), database).endOther();
}

/** Starts Litestream for a database, and again whenever it ends. */
export async function startReplication(
  { clock, log, litestream, database, folder }: ReplicationDependencies,
  firstPrefix: string,
): Promise<Replication> {
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  const socket = createSocket(socketPath(folder, "litestream.sock"), database);
  let prefix = firstPrefix;
  let child: Subprocess | undefined;
  let restart: Timer | undefined;
  let restarts = 0;
  let lastTxid = 0;
  let pauseMs = RESTART_MS;
  let isStopped = false;

  function start(): void {
    const config = join(folder, "litestream.yml");
    writeFileSync(config, configuration(), { mode: 0o640 });
    const startedAt = clock.monotonic();
    const started = Bun.spawn(
      [litestream.program, "replicate", "-no-expand-env", "-config", config],
      {
        env: environmentOf(litestream),
        stdin: "ignore",
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    child = started;
    void passOn(started.stderr, log);
    void started.exited.then((code) => {
      if (child !== started) return;
      child = undefined;
      if (isStopped) return;
      if (clock.monotonic() - startedAt >= LASTED_MS) pauseMs = RESTART_MS;
      log.error({ code, again_in_ms: pauseMs }, "Litestream ended; starting it again");
      startLater();
    });
  }

  function startLater(): void {
    restart = clock.after(pauseMs, () => {
      restarts += 1;
      startOrRetry();
    });
    pauseMs = Math.min(RESTART_MAX_MS, pauseMs * 2);
  }

  /** Starts it, and later if that fails now, such as on a full disk. */
  function startOrRetry(): void {
    try {
      start();
    } catch (error) {
      log.error({ err: error }, "Litestream cannot be started; trying again");
      startLater();
    }
  }

  function configuration(): string {
    // JSON is YAML.
    return JSON.stringify({
      logging: { level: "warn", type: "json", stderr: true },
      socket: { enabled: true, path: socket.path, permissions: 0o600 },
      snapshot: { interval: "24h", retention: "720h" },
      // A hole in the log is filled from the files of this machine.
      "l0-retention": "24h",
      "l0-retention-check-interval": "5m",
      "shutdown-sync-timeout": "10s",
      dbs: [
        {
          path: database,
          "meta-path": localState(),
          "monitor-interval": "500ms",
          replica: { ...replicaSettings(litestream.store, prefix), "sync-interval": "500ms" },
        },
      ],
    });
  }

  const localState = () => join(folder, prefix);

  async function end(): Promise<void> {
    restart?.cancel();
    const ending = child;
    child = undefined;
    if (!ending) return;
    ending.kill("SIGTERM");
    const overdue = clock.after(STOP_MS, () => ending.kill("SIGKILL"));
    await ending.exited;
    overdue.cancel();
  }

  await socket.endOther();
  removeOtherState(folder, firstPrefix);
  start();
  return {
    get prefix() {
      return prefix;
    },
    get restarts() {
      return restarts;
    },
    get lastTxid() {
      return lastTxid;
    },
    async sync(limitMs) {
      lastTxid = await socket.sync(limitMs);
      return lastTxid;
    },
    localFiles: () => join(localState(), "ltx", "0"),
    async moveTo(next) {
      const before = localState();
      await end();
      prefix = next;
      if (!isStopped) startOrRetry();
      // A start after a crash must find that this log was begun, since the files of the one before are removed.
      mkdirSync(localState(), { recursive: true, mode: 0o750 });
      rmSync(before, { recursive: true, force: true });
    },
    async stop() {
      isStopped = true;
      await end();
    },
  };
}

/** Removes Litestream's state of earlier logs, which can be as large as a day's changes. */
function removeOtherState(folder: string, prefix: string): void {
  for (const name of readdirSync(folder)) {
    if (!isPrefix(name) || name === prefix) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Passes the lines of Litestream's log on. */
async function passOn(lines: ReadableStream<Uint8Array>, log: Log): Promise<void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const piece of lines) {
    const parts = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = (parts.pop() ?? "").slice(0, 10_000);
    for (const line of parts) logLine(line, log);
  }
}

function logLine(line: string, log: Log): void {
  if (line.trim() === "") return;
  let parsed: { level?: unknown; msg?: unknown; error?: unknown } = {};
  try {
    parsed = JSON.parse(line) as typeof parsed;
  } catch {
    parsed = { level: "WARN", msg: line };
  }
  const { level, msg, error } = parsed;
  const facts = error === undefined ? {} : { reason: redactText(String(error)) };
  const text = `litestream: ${redactText(String(msg))}`;
  if (level === "ERROR") log.error(facts, text);
  else log.warn(facts, text);
}
