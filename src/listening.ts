/*
 * The port of the server: `listen` opens it, `guardDescriptors` closes connections before file descriptors run out.
 */
import type { Clock } from "./base/clock";
import type { Config } from "./base/config/options";
import type { ListenAddress } from "./base/config/parse";
import { descriptorLimit, openDescriptors } from "./base/descriptors";
import type { Log } from "./base/log";
import { OperatorError } from "./db/errors";
import { RUNTIME_BODY_MAX_BYTES } from "./http/body";

/** Milliseconds that requests in progress may take when the server stops. */
const DRAIN_MS = 10_000;
/**
 * Seconds without traffic after which a connection is closed. A requested check may take 70 seconds
 * before the response starts.
 */
const IDLE_TIMEOUT_SECONDS = 75;

/** Time allowed for closing all connections before the port is opened again. */
const CLOSE_MS = 2_000;

type Socket = Bun.Server<undefined>;
type Answer = (
  request: Request,
  peer: (request: Request) => string,
) => Response | Promise<Response>;

export interface Listener {
  port: number;
  /** False between `close` and `reopen`. */
  readonly isOpen: boolean;
  closeIdleConnections(): void;
  /** Keeps the connection of a request open without traffic, until the returned function is called. */
  holdOpen(request: Request): () => void;
  /** Closes the port and all connections. Resolves after `CLOSE_MS` at the latest. */
  close(): Promise<void>;
  /** Opens the port again, unless the server stops. Throws an OperatorError if that fails. */
  reopen(): void;
  /** Lets requests in progress end, for `DRAIN_MS` at most. Resolves to true if some were broken off. */
  stop(): Promise<boolean>;
}

/** Listens on an address. `option` names the option of the address in errors. */
export function listen(
  config: Pick<Config, "listen">,
  answer: Answer,
  option = "--listen",
): Listener {
  const open = (port: number) => openSocket({ ...config.listen, port }, answer, option);
  let socket: Socket | undefined = open(config.listen.port);
  const port = socket.port ?? config.listen.port;
  let isStopped = false;
  return {
    port,
    get isOpen() {
      return socket !== undefined;
    },
    closeIdleConnections: () => socket?.closeIdleConnections(),
    holdOpen(request) {
      const holding = socket;
      holding?.timeout(request, 0);
      return () => holding?.timeout(request, IDLE_TIMEOUT_SECONDS);
    },
    async close() {
      const closing = socket;
      socket = undefined;
      if (closing) await within(CLOSE_MS, closing.stop(true));
    },
    reopen() {
      if (!isStopped) socket ??= open(port);
    },
    async stop() {
      isStopped = true;
      return socket !== undefined && drain(socket);
    },
  };
}

function openSocket({ host, port }: ListenAddress, answer: Answer, option: string): Socket {
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
        `${host}:${port} is in use by another program. Choose another address with ${option}.`,
      );
    }
    throw new OperatorError(`Cannot listen on ${host}:${port}: ${(error as Error).message}`, error);
  }
}

async function drain(socket: Socket): Promise<boolean> {
  if (await within(DRAIN_MS, socket.stop())) return false;
  await socket.stop(true);
  return true;
}

/** Waits for a promise, for a limited time. Resolves to true if it was settled by then. */
async function within(limitMs: number, ended: Promise<void>): Promise<boolean> {
  const { promise: overdue, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), limitMs);
  try {
    return await Promise.race([ended.then(() => true), overdue]);
  } finally {
    clearTimeout(timer);
  }
}

const CHECK_INTERVAL_MS = 500;
/** Descriptors kept free for outgoing connections and files; half of the limit where that is fewer. */
const RESERVED_DESCRIPTORS = 600;
/** With fewer than this free, or a tenth of the limit, connections that are not idle are closed too. */
const CRITICAL_DESCRIPTORS = 64;
/** Time allowed for the closing of idle connections to free descriptors. */
const GRACE_MS = 500;
/** Time without a shortage after which it is over, in ms. A single check may see one that has passed. */
const RECOVERY_MS = 2_000;
/** Time after reopening within which another shortage doubles the pause before the next one. */
const RECENT_MS = 10_000;
const PAUSE_MAX_MS = 8_000;

interface DescriptorGuard {
  /** Last moment, on the monotonic clock, at which clients may not have reached this server. */
  lastUnreachableAt(): number;
  stop(): void;
}

/** Descriptors of this process; the system's own numbers unless a test gives others. */
interface DescriptorCount {
  limit: number;
  open(limit: number): number;
}

/**
 * Keeps file descriptors free. The runtime accepts connections until none is left, and then uses a whole
 * core trying. So idle connections are closed in time; where clients hold connections open without
 * finishing a request, all are closed, and the port stays closed for longer each time.
 */
export function guardDescriptors(
  listener: Pick<Listener, "isOpen" | "closeIdleConnections" | "close" | "reopen">,
  { clock, log }: { clock: Clock; log: Log },
  { limit, open }: DescriptorCount = {
    limit: descriptorLimit() ?? Number.POSITIVE_INFINITY,
    open: openDescriptors,
  },
): DescriptorGuard {
  const lowThreshold = limit - Math.min(RESERVED_DESCRIPTORS, Math.floor(limit / 2));
  const criticalThreshold = limit - Math.min(CRITICAL_DESCRIPTORS, Math.floor(limit / 10));
  let criticalSince: number | undefined;
  let unreachableAt = Number.NEGATIVE_INFINITY;
  let reopenedAt = Number.NEGATIVE_INFINITY;
  let pauseMs = 0;
  let isReopening = false;

  const timer = clock.every(CHECK_INTERVAL_MS, () => {
    const now = clock.monotonic();
    const count = open(limit);
    if (count >= lowThreshold) {
      log.warn({ limit }, "few file descriptors are left: closing idle connections");
      listener.closeIdleConnections();
    }
    if (count >= criticalThreshold || !listener.isOpen) {
      unreachableAt = now;
      criticalSince ??= now;
      if (now - criticalSince >= GRACE_MS && !isReopening) void reopen();
    } else if (now - unreachableAt >= RECOVERY_MS) criticalSince = undefined;
  });

  /** Closes all connections, and opens the port again after a pause. */
  async function reopen(): Promise<void> {
    isReopening = true;
    try {
      log.warn({ limit }, "hardly any file descriptor is left: closing all connections");
      await listener.close();
      const isRecent = clock.monotonic() - reopenedAt < RECENT_MS;
      pauseMs = isRecent ? Math.min(PAUSE_MAX_MS, Math.max(CHECK_INTERVAL_MS, 2 * pauseMs)) : 0;
      if (pauseMs > 0) await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
      reopenedAt = clock.monotonic();
      listener.reopen();
      criticalSince = undefined;
    } catch (error) {
      log.error({ err: error }, "cannot listen; trying again");
    } finally {
      unreachableAt = clock.monotonic();
      isReopening = false;
    }
  }

  return { lastUnreachableAt: () => unreachableAt, stop: () => timer.cancel() };
}
