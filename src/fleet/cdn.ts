/** Parts of the CDN mode that work without requests: purging after changes, and the alarm of untrusted peers. */
import { type Clock, type Timer, within } from "../base/clock";
import type { PurgeHeader } from "../base/config/mirror";
import { MINUTE_MS, SECOND_MS } from "../base/time";
import type { Ctx, Signals } from "../context";
import type { Egress } from "../egress/egress";
import { Fault } from "../egress/model";
import type { Alarms } from "../features/alarms/alarms";
import type { CdnState } from "../features/alarms/fleet";
import { listAllPages } from "../features/pages/store";
import { Backoff } from "../features/sending/loop";
import { TAG_OF_ALL, tagOfPage } from "../http/cdn";
import type { ClientAddresses } from "../http/client-address";

interface RunningCdn {
  state(): CdnState;
  /**
   * Resolves once the answers of pages that were deleted or made private are purged, or after ten seconds. Undefined
   * while no such purge is due.
   */
  left(): Promise<void> | undefined;
  stop(): Promise<void>;
}

interface CdnDependencies extends Pick<PurgerDependencies, "whenApplied"> {
  alarms: Alarms;
  egress: Egress;
  addresses: Pick<ClientAddresses, "newestUntrusted">;
}

/** Starts the CDN mode that `--cdn` sets. Without a purge address nothing is purged. */
export function startCdn(ctx: Ctx, deps: CdnDependencies): RunningCdn {
  const { alarms, egress, addresses, whenApplied } = deps;
  const { cdn: seconds = 0, purgeUrl, purgeHeader } = ctx.config;
  const watch = watchUntrustedPeers(ctx.clock, addresses, alarms);
  const purger =
    purgeUrl === undefined
      ? undefined
      : startPurger(ctx, {
          alarms,
          send: createPurgeRequests(ctx.clock, egress, { url: purgeUrl, header: purgeHeader }),
          ...(whenApplied && { whenApplied }),
        });
  const leaving = purger && watchLeaving(ctx, purger.purged);
  return {
    left: () => leaving?.left(),
    state: () => ({
      seconds,
      ...(purgeUrl !== undefined && { purgeHost: new URL(purgeUrl).host }),
      ...purger?.state(),
    }),
    async stop() {
      watch.cancel();
      leaving?.cancel();
      await purger?.stop();
    },
  };
}

/** Longest time for which an answer of the dashboard waits for a purge. */
const HOLD_MS = 10 * SECOND_MS;

/** Notices pages that are deleted or made private, and waits for their purge. */
function watchLeaving(
  { clock, db, signals }: Ctx,
  purged: Purger["purged"],
): Timer & Pick<RunningCdn, "left"> {
  const readPublicIds = () =>
    new Set(
      listAllPages(db, {}).flatMap(({ id, visibility }) => (visibility === "public" ? [id] : [])),
    );
  let ids = readPublicIds();
  let leaving: Promise<void> | undefined;
  const cancel = signals.addressesChanged.on(() => {
    const before = ids;
    ids = readPublicIds();
    if (before.isSubsetOf(ids)) return;
    // One deadline from the change on: while purges fail, other forms must not wait.
    const done = within(clock, HOLD_MS, purged(), () => {}).finally(() => {
      if (leaving === done) leaving = undefined;
    });
    leaving = done;
  });
  return { left: () => leaving, cancel };
}

/** Time for which changes are gathered, such as those of one command. */
const GATHER_MS = 100;
/** Shortest time between two purges, since CDNs limit them. */
const INTERVAL_MS = SECOND_MS;
/** Longest wait for other nodes. */
const NODES_MS = 3 * SECOND_MS;
/** Time after which a purge is repeated: an answer from before the change may have arrived at the CDN after it. */
const REPEAT_MS = 5 * SECOND_MS;
/** Maximum number of tags in a request. More of them are purged by the tag of all answers. */
const TAGS_MAX = 30;
const RETRY_FIRST_MS = SECOND_MS;
const RETRY_MAX_MS = MINUTE_MS;
const RETRY_AFTER_MAX_MS = 5 * MINUTE_MS;
/** Failures in a row after which an alarm is raised. */
const FAILURES_OF_ALARM = 2;
/** Time that a stop gives to a purge. */
const STOP_MS = 2 * SECOND_MS;

interface PurgerDependencies {
  alarms: Pick<Alarms, "raise" | "clear">;
  send: SendPurge;
  /** Resolves once every node serves what was committed before the call. Waited for at most 3 seconds. */
  whenApplied?: () => Promise<void>;
}

/** Signals after changes of public answers, by this process and others. */
type PublicSignals = {
  [Name in "pageChanged" | "addressesChanged" | "settingsChanged"]: Pick<Signals[Name], "on">;
};

interface Purger {
  state(): Pick<CdnState, "purgedAt" | "error">;
  /** Resolves once the changes up to now are purged. */
  purged(): Promise<void>;
  /** Sends what waits, and gives it 2 seconds. */
  stop(): Promise<void>;
}

/**
 * Purges the CDN after each public change, and once more 5 seconds later. All answers are purged at the start, since
 * an earlier process may have ended before it purged its last change. Tags of failed purges are kept in memory and sent
 * again. `send` is called for one request at a time.
 */
export function startPurger(
  { clock, signals }: { clock: Clock; signals: PublicSignals },
  { alarms, send, whenApplied }: PurgerDependencies,
): Purger {
  /** Tags of changes that are not purged yet, and the time at which they are due, on the monotonic clock. */
  let changed = new Set<string>();
  let changedDueAt = 0;
  /** Tags to purge once more, with the time on the monotonic clock. */
  const repeats = new Map<string, number>();
  const backoff = new Backoff(RETRY_FIRST_MS, RETRY_MAX_MS);
  const aborter = new AbortController();
  let notBefore = clock.monotonic();
  let failures = 0;
  let error: string | undefined;
  let purgedAt: number | undefined;
  let timer: Timer | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  /** Called once the changes that are not purged yet are. */
  let waiting: (() => void)[] = [];

  function add(tag: string): void {
    if (changed.size === 0) changedDueAt = clock.monotonic() + GATHER_MS;
    changed.add(tag);
    schedule();
  }

  /** Sets the timer of the next purge. */
  function schedule(): void {
    timer?.cancel();
    if (isStopped || running) return;
    const dueAt = Math.min(...(changed.size > 0 ? [changedDueAt] : []), ...repeats.values());
    if (dueAt === Number.POSITIVE_INFINITY) return;
    timer = clock.after(Math.max(0, Math.max(dueAt, notBefore) - clock.monotonic()), run);
  }

  function run(): void {
    running = purge().finally(() => {
      running = undefined;
      schedule();
    });
  }

  async function purge(): Promise<void> {
    const fresh = changed;
    const waited = waiting;
    changed = new Set();
    waiting = [];
    if (fresh.size > 0) await nodesHaveApplied();
    const now = clock.monotonic();
    const again = [...repeats].flatMap(([tag, dueAt]) => (dueAt <= now ? [tag] : []));
    for (const tag of again) repeats.delete(tag);
    const tags = tagsOf([...fresh, ...again]);
    // Timers may end a fraction of a millisecond early.
    if (tags.length === 0) return;
    const failure = await send(tags, aborter.signal);
    if (failure) {
      for (const tag of tags) changed.add(tag);
      waiting.push(...waited);
      changedDueAt = clock.monotonic();
      failed(failure.error, failure.retryAfterMs);
      return;
    }
    failures = 0;
    backoff.reset();
    error = undefined;
    purgedAt = clock.now();
    alarms.clear("purge_failing");
    for (const resolve of waited) resolve();
    notBefore = clock.monotonic() + INTERVAL_MS;
    if (fresh.size === 0) return;
    for (const tag of tagsOf([...fresh])) repeats.set(tag, clock.monotonic() + REPEAT_MS);
  }

  function failed(reason: string, retryAfterMs: number): void {
    const now = clock.monotonic();
    const waitMs = Math.min(RETRY_AFTER_MAX_MS, retryAfterMs);
    notBefore = now + Math.max(backoff.nextWaitMs(now), waitMs);
    error = reason;
    failures += 1;
    if (failures >= FAILURES_OF_ALARM) {
      alarms.raise("purge_failing", `${reason} Changes appear late until a purge succeeds.`);
    }
  }

  async function nodesHaveApplied(): Promise<void> {
    if (!whenApplied || isStopped) return;
    await new Promise<void>((resolve) => {
      const limit = clock.after(NODES_MS, () => done());
      const done = () => {
        limit.cancel();
        aborter.signal.removeEventListener("abort", done);
        resolve();
      };
      aborter.signal.addEventListener("abort", done, { once: true });
      whenApplied().then(done, done);
    });
  }

  const removals = [
    signals.pageChanged.on((pageId) => add(tagOfPage(pageId))),
    signals.addressesChanged.on(() => add(TAG_OF_ALL)),
    signals.settingsChanged.on(() => add(TAG_OF_ALL)),
  ];
  add(TAG_OF_ALL);

  return {
    state: () => ({ purgedAt, error }),
    purged: () => new Promise((resolve) => waiting.push(resolve)),
    async stop() {
      for (const remove of removals) remove();
      timer?.cancel();
      const overdue = clock.after(STOP_MS, () => aborter.abort());
      await running;
      isStopped = true;
      timer?.cancel();
      if (changed.size > 0 && failures === 0) await purge();
      overdue.cancel();
    },
  };
}

/** Returns the tags of one request: that of all answers replaces every other. */
function tagsOf(tags: readonly string[]): string[] {
  const distinct = [...new Set(tags)];
  return distinct.length > TAGS_MAX || distinct.includes(TAG_OF_ALL) ? [TAG_OF_ALL] : distinct;
}

/** Limit for resolving, connecting, sending and reading the response together. */
const TIMEOUT_MS = 10 * SECOND_MS;

/** Failure of a purge. */
interface PurgeFailure {
  /** A sentence without the address and the credential. */
  error: string;
  /** Wait in ms that the answer asks for. */
  retryAfterMs: number;
}

/** Sends one purge with tags. Returns undefined if it was accepted. Never throws. */
type SendPurge = (
  tags: readonly string[],
  stopping: AbortSignal,
) => Promise<PurgeFailure | undefined>;

/**
 * Creates the requests to the purge address: tags in `Surrogate-Key` and `Cache-Tag`, and as JSON. Its operator
 * names it, so it may be in a private network, like a monitored service.
 */
export function createPurgeRequests(
  clock: Clock,
  egress: Egress,
  { url, header }: { url: string; header: PurgeHeader | undefined },
): SendPurge {
  return async (tags, stopping) => {
    const deadline = new AbortController();
    const abort = () => deadline.abort();
    const timer = clock.after(TIMEOUT_MS, abort);
    stopping.addEventListener("abort", abort);
    try {
      const answer = await egress.request({
        url: new URL(url),
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "Surrogate-Key": tags.join(" "),
          "Cache-Tag": tags.join(","),
          ...(header && { [header.name]: header.value }),
        },
        body: JSON.stringify({ tags }),
        policy: "monitor",
        proxy: "outbound",
        signal: deadline.signal,
      });
      if (answer instanceof Fault) return { error: answer.message, retryAfterMs: 0 };
      if (answer.status >= 200 && answer.status < 300) return undefined;
      const seconds = Number(answer.headers.get("retry-after"));
      return {
        error: `The purge address answered ${answer.status}.`,
        retryAfterMs: Number.isFinite(seconds) ? seconds * SECOND_MS : 0,
      };
    } finally {
      timer.cancel();
      stopping.removeEventListener("abort", abort);
    }
  };
}

const POLL_MS = 5 * SECOND_MS;
/** Time without such a request after which the alarm ends. */
const QUIET_MS = 10 * MINUTE_MS;

/** Raises an alarm while peers that are not trusted send forwarding headers: `--trusted-proxies` probably lacks a proxy. */
function watchUntrustedPeers(
  clock: Clock,
  addresses: Pick<ClientAddresses, "newestUntrusted">,
  alarms: Alarms,
): Timer {
  return clock.every(POLL_MS, () => {
    const newest = addresses.newestUntrusted();
    if (newest && clock.monotonic() - newest.at < QUIET_MS) {
      alarms.raise(
        "untrusted_proxy",
        `The forwarding header of requests from ${newest.ip} is ignored. If this address is one of the CDN or of a proxy, add its network to ALLCLEAR_TRUSTED_PROXIES: until then, all visitors behind it share one rate limit. If not, let only the CDN reach this server.`,
      );
    } else {
      alarms.clear("untrusted_proxy");
    }
  });
}
