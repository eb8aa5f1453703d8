import type { Config } from "./config";
import { OperatorError } from "./db";
import { RUNTIME_BODY_MAX_BYTES } from "./http";
import type { Clock, Timer } from "./kernel/clock";
import { descriptorLimit, lowestFreeDescriptor } from "./kernel/descriptors";
import type { Log } from "./kernel/log";
import { MINUTE_MS } from "./kernel/time";

/** Milliseconds that requests in progress may take to end when the server stops. */
export const DRAIN_MS = 10_000;
/** A check that is asked for may take its whole timeout, a minute at most, before anything is answered. */
const IDLE_TIMEOUT_SECONDS = 75;

const LOOK_MS = 500;
/** Descriptors kept free for outgoing connections and files, at most; half of them all where those are few. */
const RESERVE = 600;
/** With fewer than this free, or a tenth of them all, connections that are not idle are closed too. */
const LAST_RESERVE = 64;
/** Milliseconds allowed for the closing of idle connections to free descriptors. */
const PATIENCE_MS = 500;
/** Milliseconds within which a second shortage makes listening pause, longer each time. */
const RECENT_MS = 10_000;
const PAUSE_MAX_MS = 8_000;
const WARN_EVERY_MS = MINUTE_MS;

type Socket = Bun.Server<undefined>;
type Answer = (
  request: Request,
  peer: (request: Request) => string,
) => Response | Promise<Response>;

export interface Listener {
  port: number;
  /** Lets requests under way end, for `DRAIN_MS` at most. */
  stop(): Promise<void>;
}

/**
 * Listens, and keeps file descriptors free. The runtime accepts connections until none is left, and then
 * uses a whole core trying. So idle connections are closed in time; where clients hold connections open
 * without finishing a request, all are closed.
 */
export function listen(
  config: Config,
  { clock, log }: { clock: Clock; log: Log },
  answer: Answer,
): Listener {
  const limit = descriptorLimit() ?? Number.POSITIVE_INFINITY;
  const shortFrom = limit - Math.min(RESERVE, Math.floor(limit / 2));
  const outFrom = limit - Math.min(LAST_RESERVE, Math.floor(limit / 10));
  let socket: Socket | undefined = open(config, config.listen.port, answer);
  const port = socket.port ?? config.listen.port;
  let warnedAt = Number.NEGATIVE_INFINITY;
  let outSince: number | undefined;
  let isReopening = false;
  let reopenedAt = Number.NEGATIVE_INFINITY;
  let pauseMs = 0;

  const timer: Timer = clock.every(LOOK_MS, () => {
    const lowest = lowestFreeDescriptor() ?? Number.POSITIVE_INFINITY;
    if (lowest < shortFrom && socket) {
      outSince = undefined;
      return;
    }
    warn("few file descriptors are left: closing idle connections");
    socket?.closeIdleConnections();
    if (lowest < outFrom && socket) return;
    outSince ??= clock.monotonic();
    if (clock.monotonic() - outSince >= PATIENCE_MS && !isReopening) void reopen();
  });

  function warn(message: string): void {
    if (clock.monotonic() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = clock.monotonic();
    log.warn({ limit }, message);
  }

  async function reopen(): Promise<void> {
    isReopening = true;
    try {
      warn("no file descriptor is left: closing all connections");
      const closing = socket;
      socket = undefined;
      await closing?.stop(true);
      const isRecent = clock.monotonic() - reopenedAt < RECENT_MS;
      pauseMs = isRecent ? Math.min(PAUSE_MAX_MS, Math.max(LOOK_MS, 2 * pauseMs)) : 0;
      if (pauseMs > 0) await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
      reopenedAt = clock.monotonic();
      if (!isStopped) socket = open(config, port, answer);
      outSince = undefined;
    } catch (error) {
      log.error({ err: error }, "cannot listen; trying again");
    } finally {
      isReopening = false;
    }
  }

  let isStopped = false;
  return {
    port,
    async stop() {
      isStopped = true;
      timer.cancel();
      if (socket) await drain(socket);
    },
  };
}

function open(config: Config, port: number, answer: Answer): Socket {
  const { host } = config.listen;
  try {
    const socket: Socket = Bun.serve({
      hostname: host,
      port,
      fetch: (request) => answer(request, peer),
      // Bun would let a second server share the port without a word.
      reusePort: false,
      maxRequestBodySize: RUNTIME_BODY_MAX_BYTES,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      development: false,
    });
    const peer = (request: Request) => socket.requestIP(request)?.address ?? "";
    return socket;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new OperatorError(
        `${host}:${port} is in use by another program. Choose another address with --listen.`,
      );
    }
    throw new OperatorError(`Cannot listen on ${host}:${port}: ${(error as Error).message}`, error);
  }
}

async function drain(socket: Socket): Promise<void> {
  const { promise: overdue, resolve } = Promise.withResolvers<"overdue">();
  const timer = setTimeout(() => resolve("overdue"), DRAIN_MS);
  const outcome = await Promise.race([socket.stop(), overdue]);
  clearTimeout(timer);
  if (outcome === "overdue") await socket.stop(true);
}
