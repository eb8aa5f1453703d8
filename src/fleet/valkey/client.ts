import { RedisClient } from "bun";
import type { Clock, Timer } from "../../base/clock";
import { trustedAuthorities } from "../../base/config/network";
import type { Config } from "../../base/config/options";
import type { Log } from "../../base/log";
import { createSignal, type Signal } from "../../base/signal";
import { SECOND_MS } from "../../base/time";

/**
 * Longest wait for an answer, in ms. Timers end late: of 60 first requests to a frozen server, the median waited
 * 16.3 ms and the longest 18.3 ms. The target is 20 ms. The client itself waits for a frozen server for ever.
 */
export const CALL_MS = 16;
/** Longest wait for calls that no limit waits for, in ms. */
export const BACKGROUND_MS = 250;
/** Longest wait for a connection, with its certificates and sign-in, in ms. */
const CONNECT_MS = SECOND_MS;
/** Pause before the server is tried again, doubled up to the maximum while it fails. */
const AGAIN_MS = SECOND_MS;
const AGAIN_MAX_MS = 10 * SECOND_MS;

/** Parts in which a wait is measured. What is sent leaves this process, and answers are read, between two of them. */
const WAIT_PARTS = 4;
/** Delay of a timer that counts as waited, in ms. In longer ones this process was busy. */
const TIMER_DELAY_MS = 1;
const LATE = "no answer in time";

/** The server did not answer in time, refused the call, or is not reachable. */
class ValkeyUnavailable extends Error {}

/** A Valkey or Redis server, of which each call has a deadline. */
export interface Valkey {
  /** Host and port, for messages. */
  readonly name: string;
  /**
   * Sends a command. Rejects with ValkeyUnavailable after `limitMs` (by default `BACKGROUND_MS`), or at once while the
   * server does not answer. A failure makes it unavailable until it has answered again.
   */
  send(command: string, args: readonly string[], limitMs?: number): Promise<unknown>;
  /** Runs a script, and loads it if the server does not know it. */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    limitMs?: number,
  ): Promise<unknown>;
  isAvailable(): boolean;
  /** Emitted when the server begins or ceases to answer. */
  changed: Signal<boolean>;
  /** Opens a connection of its own, such as for a subscription. Rejects if that takes more than a second. */
  connect(): Promise<RedisClient>;
  stop(): void;
}

interface ValkeyDependencies {
  config: Pick<Config, "caFile" | "valkey" | "valkeyCa">;
  clock: Clock;
  log: Log;
}

/** Connects to the server of the configuration. Resolves also if it does not answer: it is then tried again. */
export async function openValkey({ config, clock, log }: ValkeyDependencies): Promise<Valkey> {
  const { valkey: address, valkeyCa } = config;
  const ca = valkeyCa ? [valkeyCa.pem] : config.caFile && trustedAuthorities([config.caFile.pem]);
  if (!address) throw new Error("--valkey is not set");
  const { name, isTls } = address;
  const changed = createSignal<boolean>();
  let client: RedisClient | undefined;
  let again: Timer | undefined;
  let pauseMs = AGAIN_MS;
  let answersSince = Number.NEGATIVE_INFINITY;
  let isStopped = false;
  let hasFailed = false;

  async function connect(): Promise<RedisClient> {
    const created = new RedisClient(address?.url, {
      enableOfflineQueue: false,
      // This module connects again by itself, and without a limit.
      autoReconnect: false,
      connectionTimeout: CONNECT_MS,
      ...(isTls && { tls: { rejectUnauthorized: true, ...(ca && { ca }) } }),
    });
    try {
      await within(created.connect(), CONNECT_MS);
      await within(created.send("PING", []), CONNECT_MS);
      return created;
    } catch (error) {
      created.close();
      throw error;
    }
  }

  /** Rejects if nothing has arrived in time. Time in which this process did not run does not count. */
  async function within<T>(answer: Promise<T>, limitMs: number): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    let leftMs = limitMs;
    let timer: Timer | undefined;
    function wait(): void {
      const partMs = Math.min(leftMs, limitMs / WAIT_PARTS);
      const from = clock.monotonic();
      timer = clock.after(partMs, () => {
        leftMs -= Math.min(clock.monotonic() - from, partMs + TIMER_DELAY_MS);
        if (leftMs >= TIMER_DELAY_MS) wait();
        else void afterInput().then(() => reject(new ValkeyUnavailable(LATE)));
      });
    }
    wait();
    try {
      return await Promise.race([answer, late]);
    } finally {
      timer?.cancel();
    }
  }

  async function begin(): Promise<void> {
    try {
      const connected = await connect();
      if (isStopped) return connected.close();
      client = connected;
      connected.onclose = () => fail(connected, "the connection was closed");
      answersSince = clock.monotonic();
      if (hasFailed) log.info({ valkey: name }, "Valkey answers again");
      hasFailed = false;
      changed.emit(true);
    } catch (error) {
      if (!isStopped) retry(reasonOf(error));
    }
  }

  function retry(reason: string): void {
    if (!hasFailed) {
      const hasAnswered = answersSince !== Number.NEGATIVE_INFINITY;
      const cause = hasAnswered ? "" : isTls ? TLS_HINT : PASSWORD_HINT;
      const text = `Valkey does not answer; limits are this node's own until it does${cause}`;
      log.warn({ valkey: name, reason }, text);
    }
    hasFailed = true;
    again = clock.after(pauseMs, () => void begin());
    pauseMs = Math.min(AGAIN_MAX_MS, pauseMs * 2);
  }

  function fail(failed: RedisClient, reason: string): void {
    if (failed !== client || isStopped) return;
    // A server that is reachable and refuses all calls is not tried every second.
    if (clock.monotonic() - answersSince >= AGAIN_MAX_MS) pauseMs = AGAIN_MS;
    retry(reason);
    client = undefined;
    failed.onclose = null;
    failed.close();
    changed.emit(false);
  }

  async function call<T>(use: (client: RedisClient) => Promise<T>, limitMs: number): Promise<T> {
    const used = client;
    if (!used) throw new ValkeyUnavailable(`Valkey at ${name} does not answer.`);
    try {
      return await within(use(used), limitMs);
    } catch (error) {
      fail(used, reasonOf(error));
      throw new ValkeyUnavailable(`Valkey at ${name} does not answer.`, { cause: error });
    }
  }

  await begin();
  return {
    name,
    changed,
    connect,
    isAvailable: () => client !== undefined,
    send: (command, args, limitMs = BACKGROUND_MS) =>
      call((used) => used.send(command, [...args]), limitMs),
    run: (script, keys, args, limitMs = BACKGROUND_MS) =>
      call(async (used) => {
        const rest = [String(keys.length), ...keys, ...args];
        try {
          return await (used.send("EVALSHA", [script.sha1, ...rest]) as Promise<unknown>);
        } catch (error) {
          if (!String((error as Error).message).startsWith("NOSCRIPT")) throw error;
          // The server was started again. This loads the script too.
          return used.send("EVAL", [script.source, ...rest]) as Promise<unknown>;
        }
      }, limitMs),
    stop() {
      isStopped = true;
      again?.cancel();
      if (client) client.onclose = null;
      client?.close();
      client = undefined;
    },
  };
}

/** Resolves when answers that have arrived already are read: one turn of the event loop may begin after its input. */
async function afterInput(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** The client says no more than "Connection closed" about a certificate that it does not trust. */
const TLS_HINT =
  ". With valkeys:// the likely cause is a certificate that is not trusted: see --valkey-ca";

/** The client says no more about a password that is wrong either. */
const PASSWORD_HINT = ". If it runs at this address, the likely cause is its password";

/** Returns the reason without what the client adds, which could repeat the address. */
function reasonOf(error: unknown): string {
  if (error instanceof ValkeyUnavailable) return error.message;
  const { code, message = "" } = error as { code?: string; message?: string };
  if (code === "ERR_REDIS_SERVER_ERROR") return message.split(" ", 1)[0] ?? "refused";
  return code === "ERR_REDIS_CONNECTION_CLOSED" ? "the connection was closed" : (code ?? "failed");
}

/** A program in Lua that the server runs as one step. */
interface Script {
  source: string;
  /** Name by which a server that knows the program runs it. */
  sha1: string;
}

export function script(source: string): Script {
  return { source, sha1: new Bun.CryptoHasher("sha1").update(source).digest("hex") };
}

/** Messages of other nodes. One that is sent while the connection is lost does not arrive. */
interface Messages {
  /** True while messages arrive. */
  isListening(): boolean;
  stop(): void;
}

/** Listens to channels on a connection of its own, and connects again when it is lost. */
export function listenToMessages(
  valkey: Pick<Valkey, "connect" | "changed" | "isAvailable">,
  clock: Clock,
  handlers: Readonly<Record<string, (message: string) => void>>,
): Messages {
  let client: RedisClient | undefined;
  let isConnecting = false;
  let isStopped = false;
  let again: Timer | undefined;

  async function connect(): Promise<void> {
    if (client || isConnecting || isStopped || !valkey.isAvailable()) return;
    isConnecting = true;
    try {
      const connected = await valkey.connect();
      connected.onclose = () => lose(connected);
      for (const [channel, handle] of Object.entries(handlers)) {
        await connected.subscribe(channel, handle);
      }
      if (isStopped) connected.close();
      else client = connected;
    } catch {
      retry();
    } finally {
      isConnecting = false;
    }
  }

  function lose(lost: RedisClient): void {
    if (lost !== client) return;
    client = undefined;
    lost.onclose = null;
    lost.close();
    retry();
  }

  function retry(): void {
    again?.cancel();
    if (!isStopped) again = clock.after(AGAIN_MS, () => void connect());
  }

  const forget = valkey.changed.on((isAvailable) => {
    if (isAvailable) void connect();
    // A frozen server keeps the connection, and sends nothing.
    else if (client) lose(client);
  });
  void connect();
  return {
    isListening: () => client !== undefined,
    stop() {
      isStopped = true;
      forget();
      again?.cancel();
      const open = client;
      client = undefined;
      open?.close();
    },
  };
}
