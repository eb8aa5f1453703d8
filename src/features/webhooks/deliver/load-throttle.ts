import { readFileSync } from "node:fs";
import type { Clock } from "../../../kernel/clock";
import { SECOND_MS } from "../../../kernel/time";

/** Limit of the rate at which deliveries start. */
export interface LoadThrottle {
  /** Takes leave to begin one; false if that has to wait. */
  take(): boolean;
  /** After how many ms the next ones go, once `take` has said no. */
  waitMs(): number;
}

/** Deliveries per second: while the server is busy, at the start, and at most. */
const SLOWEST = 250;
const FIRST = 1_500;
const FASTEST = 5_000;
/** So many at once, whatever the pace: what a change queues goes out at once. */
const BURST = 256;
/**
 * Once none may go, the next wait until so many can go together: each wake-up takes from the rest of the
 * server as much time as several deliveries, and their results share a commit. At the slowest pace that is
 * a wait of a quarter of a second.
 */
const TOGETHER = 64;
/** Above this part of a core the server is busy, with deliveries or whatever else. */
const BUSY = 0.8;
/** With fewer requests a second than this there is nobody who would notice. */
const FEW_REQUESTS = 500;
const LOOK_EVERY_MS = 50;
/** Time after the last delivery at which the measured load is discarded. */
const FORGET_AFTER_MS = 2 * SECOND_MS;
const FASTER_BY = 100;
const SLOWER_BY = 0.8;

/** Other work of the server, as counters since any time. */
export interface Work {
  /** Requests that have come in. */
  requests(): number;
  /** For how many ms this thread has had something to do. */
  busyMs(): number;
}

/**
 * Lets deliveries have what of the processor no request wants: thousands a second where few come in, and
 * some hundreds while requests take all of a core. So a backlog drains beside requests that hardly
 * notice.
 */
export function createLoadThrottle(
  clock: Clock,
  { requests, busyMs = threadBusyMs }: Partial<Work> = {},
): LoadThrottle {
  const seen = () => ({ at: clock.monotonic(), requests: requests?.() ?? 0, busyMs: busyMs() });
  let perSecond = FIRST;
  let leave = BURST;
  let isGathering = false;
  let at = clock.monotonic();
  let looked = seen();

  function pass(): void {
    const now = clock.monotonic();
    const passedMs = now - at;
    if (passedMs <= 0) return;
    if (passedMs > FORGET_AFTER_MS) {
      perSecond = FIRST;
      looked = seen();
    }
    leave = Math.min(BURST, leave + (passedMs * perSecond) / SECOND_MS);
    at = now;
    if (now - looked.at >= LOOK_EVERY_MS) look();
  }

  function look(): void {
    const before = looked;
    looked = seen();
    const passedMs = looked.at - before.at;
    const load = (looked.busyMs - before.busyMs) / passedMs;
    const requested = ((looked.requests - before.requests) * SECOND_MS) / passedMs;
    perSecond =
      load > BUSY && requested > FEW_REQUESTS
        ? Math.max(SLOWEST, perSecond * SLOWER_BY)
        : Math.min(FASTEST, perSecond + FASTER_BY);
  }

  return {
    take() {
      pass();
      if (leave < (isGathering ? TOGETHER : 1)) {
        isGathering = true;
        return false;
      }
      isGathering = false;
      leave -= 1;
      return true;
    },
    waitMs: () => Math.max(1, ((TOGETHER - leave) * SECOND_MS) / perSecond),
  };
}

const NANOSECONDS_PER_MS = 1e6;
const MICROSECONDS_PER_MS = 1e3;

/**
 * For how many ms, since any moment, this thread has had something to do: on a processor or, where Linux
 * tells that too, waiting for one that others have. On a machine whose processors are taken, or in a
 * container with a part of one, only both together say that it is busy.
 */
function threadBusyMs(): number {
  return linuxBusyMs() ?? processorMs();
}

function linuxBusyMs(): number | undefined {
  try {
    // Of the process's first thread, which is the one that serves.
    const [running, waiting] = readFileSync("/proc/self/schedstat", "latin1")
      .split(" ")
      .map(Number);
    const sum = (running ?? 0) + (waiting ?? 0);
    return sum > 0 ? sum / NANOSECONDS_PER_MS : undefined;
  } catch {
    return undefined;
  }
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / MICROSECONDS_PER_MS;
}
