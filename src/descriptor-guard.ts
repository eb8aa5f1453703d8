import type { Clock } from "./base/clock";
import { descriptorLimit, openDescriptors } from "./base/descriptors";
import type { Log } from "./base/log";
import type { Listener } from "./listening";

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
