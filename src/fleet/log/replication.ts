import type { Subprocess } from "bun";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Clock, Timer } from "../../base/clock";
import type { Log } from "../../base/log";
import { environmentWithoutSettings } from "../../base/own-program";
import { redactText } from "../../base/redaction";
import type { StoreAddress, StoreCredentials } from "../../base/store-address";
import { OperatorError } from "../../db/errors";
import { isPrefix } from "../leader";
import { socketPath } from "../node";

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

/** Litestream's program, and the store that it writes to and reads from. */
export interface LitestreamSetup {
  /** Path of the program, or its name on PATH. */
  program: string;
  store: StoreAddress;
  credentials: StoreCredentials | undefined;
  /** Path of a file with authorities that are trusted in addition. */
  caFile?: string | undefined;
}

/** First version that is tested, and the first that is not. */
const FIRST_VERSION = [0, 5, 18] as const;
const NEXT_VERSION = [0, 6, 0] as const;

const VERSION = /\bv?(\d+)\.(\d+)\.(\d+)/;

/** Time in ms for printing the version. */
const VERSION_MAX_MS = 10_000;

/** Throws an OperatorError unless the program is a tested version of Litestream. */
export async function requireLitestream(program: string): Promise<void> {
  let output = "";
  try {
    const child = Bun.spawn([program, "version"], {
      env: environmentOf(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: VERSION_MAX_MS,
    });
    output = (await new Response(child.stdout).text()).trim().slice(0, 100);
  } catch (error) {
    throw new OperatorError(
      `Litestream cannot be started as ${program}. Install version ${FIRST_VERSION.join(".")}, or name its path with --litestream.`,
      error,
    );
  }
  const version = VERSION.exec(output)?.slice(1).map(Number);
  const isTested =
    version && compare(version, FIRST_VERSION) >= 0 && compare(version, NEXT_VERSION) < 0;
  if (isTested) return;
  throw new OperatorError(
    `${program} is Litestream ${output || "of an unknown version"}. Allclear needs ${FIRST_VERSION.join(".")} or a later 0.5.`,
  );
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, number] of a.entries()) {
    const difference = number - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Returns the environment of Litestream: that of this process without its settings and without settings of Amazon's
 * tools, such as AWS_CA_BUNDLE, with which Litestream does not start.
 */
export function environmentOf({
  credentials,
  caFile,
}: Partial<Pick<LitestreamSetup, "credentials" | "caFile">> = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(environmentWithoutSettings())) {
    const isOfLitestream = /^(?:AWS|LITESTREAM)_|^LOG_LEVEL$/.test(name);
    if (value !== undefined && !isOfLitestream) environment[name] = value;
  }
  if (credentials) {
    environment["LITESTREAM_ACCESS_KEY_ID"] = credentials.keyId;
    environment["LITESTREAM_SECRET_ACCESS_KEY"] = credentials.secret;
  }
  // Authorities in the directories of the system stay trusted.
  if (caFile !== undefined) environment["SSL_CERT_FILE"] ??= resolve(caFile);
  return environment;
}

/** Returns the settings of a log in the store, for Litestream's configuration. */
export function replicaSettings(store: StoreAddress, prefix: string): Record<string, unknown> {
  if (store.kind === "folder") return { type: "file", path: `${store.path}/${prefix}` };
  const { bucket, region, endpoint, path } = store;
  const server = endpoint === undefined ? {} : { endpoint, "force-path-style": true };
  return { type: "s3", bucket, region, ...server, path: [path, prefix].filter(Boolean).join("/") };
}

/** Returns the beginning of the keys of a level of a log in the store, without the path of the store's address. */
export function levelPrefix(store: StoreAddress, prefix: string, level: number): string {
  const folder = store.kind === "folder" ? `ltx/${level}` : level.toString(16).padStart(4, "0");
  return `${prefix}/${folder}/`;
}

/** Control of a running Litestream. */
interface LitestreamSocket {
  readonly path: string;
  /** Uploads all that is committed. Resolves to the number of the last transaction. Rejects after `limitMs`. */
  sync(limitMs: number): Promise<number>;
  /** Ends a Litestream that outlived the process which started it. */
  endOther(): Promise<void>;
}

/** Time in ms for an answer that needs no upload. */
const ANSWER_MS = 2_000;
/** Time in ms that a process may take to end before it is killed, and after which it is not waited for. */
const END_MS = 5_000;
const GIVE_UP_MS = 7_000;
const LOOK_MS = 50;

/** Creates the client of the socket at a path, which need not exist yet. */
function createSocket(path: string, database: string): LitestreamSocket {
  async function call(method: string, route: string, limitMs: number, body?: object) {
    const response = await fetch(`http://litestream${route}`, {
      unix: path,
      method,
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(limitMs),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`Litestream answered ${response.status}: ${answer["error"]}`);
    return answer;
  }

  return {
    path,
    async sync(limitMs) {
      const timeout = Math.ceil(limitMs / 1_000);
      const { txid, replicated_txid: replicated } = await call("POST", "/sync", limitMs, {
        path: database,
        wait: true,
        timeout,
      });
      if (typeof txid !== "number" || typeof replicated !== "number" || replicated < txid) {
        throw new Error("Litestream has not uploaded all transactions");
      }
      return txid;
    },
    async endOther() {
      const pid = await call("GET", "/info", ANSWER_MS).then(
        ({ pid: answered }) => answered,
        () => undefined,
      );
      if (typeof pid !== "number" || pid <= 1) return;
      // A second SIGTERM would interrupt the upload of the rest.
      kill(pid, "SIGTERM");
      // A process that has ended seems alive for as long as its parent, which can be any, does not ask for its exit code.
      for (let waitedMs = 0; isAlive(pid) && waitedMs < GIVE_UP_MS; waitedMs += LOOK_MS) {
        if (waitedMs === END_MS) kill(pid, "SIGKILL");
        await Bun.sleep(LOOK_MS);
      }
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** Time that a child gets to end by itself, in ms. */
const CHILD_STOP_MS = 2_000;
/** Longest line of a child's output that is read. */
const LINE_MAX = 2_000;

/** A running program that this process supervises. */
export interface ChildProcess {
  readonly pid: number;
  /** Resolves to a description of the end, such as "exit code 1". */
  readonly ended: Promise<string>;
  /** Asks the child to end, and kills it after two seconds or at once. Resolves when it has ended. */
  stop(how?: "gently" | "at once"): Promise<void>;
}

interface ChildOptions {
  /** File with the number of the process, by which `endLeftover` finds it after a crash. */
  pidFile?: string;
  /** Called with each line of both outputs. */
  onLine(line: string): void;
}

/** Starts a program with no input and the environment of Litestream without credentials. Throws if it cannot be started. */
export function startChild(command: readonly string[], options: ChildOptions): ChildProcess {
  const env = environmentOf();
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe", env });
  if (options.pidFile !== undefined) writeFileSync(options.pidFile, `${child.pid}\n`);
  const outputs = [child.stdout, child.stderr].map((output) => readLines(output, options.onLine));
  const ended = (async () => {
    await child.exited;
    await Promise.all(outputs);
    if (options.pidFile !== undefined) rmSync(options.pidFile, { force: true });
    return child.signalCode === null ? `exit code ${child.exitCode}` : String(child.signalCode);
  })();
  return {
    pid: child.pid,
    ended,
    async stop(how = "gently") {
      child.kill(how === "gently" ? "SIGTERM" : "SIGKILL");
      const timer = setTimeout(() => child.kill("SIGKILL"), CHILD_STOP_MS);
      await child.exited;
      clearTimeout(timer);
      await ended;
    },
  };
}

/** Reads the lines of an output until it ends. Errors end it too. */
async function readLines(
  output: ReadableStream<Uint8Array>,
  onLine: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const piece of output) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = (lines.pop() ?? "").slice(0, LINE_MAX);
      for (const line of lines) if (line !== "") onLine(line.slice(0, LINE_MAX));
    }
  } catch {
    // The process has ended.
  }
  if (rest !== "") onLine(rest);
}

/**
 * Kills a child of an earlier run, which outlives a crash of the server, if the process of the file still runs a
 * program with this argument.
 */
export async function endLeftover(pidFile: string, argument: string): Promise<void> {
  const pid = Number(readText(pidFile));
  if (Number.isInteger(pid) && pid > 1) {
    while (commandOf(pid).includes(argument)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        break;
      }
      await Bun.sleep(10);
    }
  }
  rmSync(pidFile, { force: true });
}

/** Returns the command line of a process; empty if there is none. */
export function commandOf(pid: number): string {
  if (process.platform === "linux") return readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
  const { stdout } = Bun.spawnSync(["ps", "-o", "args=", "-p", String(pid)]);
  return stdout.toString();
}

function readText(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
