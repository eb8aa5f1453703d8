import { type Timer, within } from "../base/clock";
import { DAY_MS, MINUTE_MS, SECOND_MS, toIso } from "../base/time";
import type { Alarms } from "../features/alarms/alarms";
import type { MirrorState } from "../features/alarms/fleet";
import type { MetricFamily } from "../features/metrics/metrics";
import type { ObjectStore } from "../object-store/object-store";
import { createMirrorFiles, type Position } from "./files";
import { createUpdates, type UpdateDependencies } from "./update";

/** Time for which changes are gathered before they are written. */
const GATHER_MS = SECOND_MS;
/** Time after which the list of files is written again without a change. */
const RENEW_MS = MINUTE_MS;
/** Age of the list from which the mirror is out of date. */
const STALE_MS = 5 * MINUTE_MS;
/** Pauses between attempts to write after failures. */
const RETRY_MS = { first: 5 * SECOND_MS, max: MINUTE_MS };
/** Longest time for which an answer of the dashboard waits for a removal. */
const HOLD_MS = 10 * SECOND_MS;
/** Longest time for which a stop waits for the last update. */
const STOP_MS = 5 * SECOND_MS;

/** Path of a form of the dashboard in a URL. */
const DASHBOARD = /^[a-z]+:\/\/[^/]*\/admin\//;

interface Dependencies extends UpdateDependencies {
  store: ObjectStore;
  alarms: Pick<Alarms, "raise" | "clear" | "list">;
  /** Returns the position of the data in a fleet. */
  position?: () => Position | undefined;
}

export interface RunningMirror {
  metrics: readonly MetricFamily[];
  state(): MirrorState;
  /**
   * Returns the answer to a form of the dashboard once the mirror has no file of a page that was deleted or made
   * private, or the removal has failed, or after ten seconds.
   */
  hold(request: Request, answer: Response | Promise<Response>): Response | Promise<Response>;
  /** Resolves when nothing is being written or removed. */
  settled(): Promise<void>;
  /** Writes what has changed and ends. Takes at most five seconds. */
  stop(): Promise<void>;
}

/**
 * Keeps copies of all public documents in a folder or bucket: one second after a change, and at midnight in UTC. The
 * list of files is written every minute, so that its age shows a server that has ended.
 */
export function startMirror({ store, alarms, position, ...deps }: Dependencies): RunningMirror {
  const { ctx } = deps;
  const { clock, log, signals } = ctx;
  const files = createMirrorFiles(store);
  const updates = createUpdates(deps, files);
  const removalAlarm = createRemovalAlarm(store.name, alarms);
  const startedAt = clock.monotonic();
  /** Time of the newest complete copy: unix ms, and on the monotonic clock. */
  let copied: { asOf: number; at: number } | undefined;
  let error: string | undefined;
  let changed: Set<string> | "all" = "all";
  let failures = 0;
  /** True if files of an ended page must be removed before anything else is written. */
  let isCancelled = false;
  let removal: Promise<void> | undefined;
  let planned: Timer | undefined;
  let isStopped = false;
  /** Tasks, which run one after another. */
  let work = Promise.resolve();

  function enqueue(task: () => Promise<void>): Promise<void> {
    work = work.then(task).catch((failure: unknown) => {
      failures += 1;
      error = failure instanceof Error ? failure.message : String(failure);
      log.warn(
        { err: failure, mirror: store.name },
        "the mirror could not be written; trying again",
      );
      plan(Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** (failures - 1)));
    });
    return work;
  }

  /** Writes what has changed in `delayMs`, or earlier if that was planned before. */
  function plan(delayMs: number): void {
    if (isStopped) return;
    planned ??= clock.after(delayMs, () => {
      planned = undefined;
      void enqueue(update);
    });
  }

  function note(ids: Iterable<string> | "all"): void {
    if (ids === "all") changed = "all";
    else if (changed !== "all") for (const id of ids) changed.add(id);
  }

  function change(ids: Iterable<string> | "all"): void {
    note(ids);
    plan(GATHER_MS);
  }

  async function update(): Promise<void> {
    // Another node may write the mirror by now.
    if (!ctx.isPrimary()) return plan(RETRY_MS.first);
    const asOf = clock.now();
    const at = clock.monotonic();
    const due = changed;
    changed = new Set();
    let isDone = false;
    try {
      // A write that failed for this process may still have arrived.
      await (due === "all" || failures > 0 ? files.compare() : files.open());
      await removeGone();
      isDone = await updates.write(due, () => isCancelled || !ctx.isPrimary());
      if (!isDone) return plan(GATHER_MS);
      await files.writeIndex(asOf, position?.());
      copied = { asOf, at };
      failures = 0;
      error = undefined;
    } finally {
      // Nothing may arrive after a removal that follows.
      await files.flush().catch(() => {});
      if (!isDone) note(due);
    }
  }

  /** Removes the files of pages that are deleted, private, or have another slug. */
  async function removeGone(): Promise<void> {
    isCancelled = false;
    const paths = updates.listGone();
    try {
      await files.remove(paths);
      if (paths.length > 0) await files.writeIndex(copied?.asOf, position?.());
      removalAlarm.clear();
    } catch (failure) {
      removalAlarm.raise(paths);
      throw failure;
    }
  }

  /** Cancels the running update and removes files if a page was deleted, made private or got another slug. */
  function checkPages(): void {
    if (files.isOpen && updates.listGone().length === 0) return;
    isCancelled = true;
    const removing = enqueue(async () => {
      try {
        await files.open();
      } catch (failure) {
        removalAlarm.raiseUnknown();
        throw failure;
      }
      await removeGone();
    }).finally(() => {
      if (removal === removing) removal = undefined;
    });
    removal = removing;
  }

  /** Waits for a removal, and raises the alarm if it leaves files. */
  async function waitFor(removing: Promise<void>): Promise<void> {
    await within(clock, HOLD_MS, removing, () => {});
    const left = updates.listGone();
    if (left.length > 0) removalAlarm.raise(left);
  }

  /** Renews the time of a mirror without waiting changes. */
  async function renew(): Promise<void> {
    const asOf = clock.now();
    const at = clock.monotonic();
    if (changed === "all" || changed.size > 0 || updates.listGone().length > 0) return;
    if (!ctx.isPrimary()) return;
    await files.writeIndex(asOf, position?.());
    copied = { asOf, at };
    error = undefined;
    failures = 0;
  }

  function tick(): void {
    const isNewDay =
      copied && Math.floor(clock.now() / DAY_MS) !== Math.floor(copied.asOf / DAY_MS);
    if (isNewDay) change("all");
    else void enqueue(renew);
    const age = clock.monotonic() - (copied?.at ?? startedAt);
    if (age < STALE_MS) {
      // Before the first copy, nothing is known about the alarm of an earlier process.
      if (copied) alarms.clear("mirror_stale");
    } else {
      alarms.raise("mirror_stale", describeStale(store.name, copied?.asOf, error));
    }
    // Only a list of the files can show that those of an earlier alarm are gone.
    if (removalAlarm.isRaised() && !files.isOpen) removalAlarm.raiseUnknown();
    ticking = planTick();
  }

  /** Plans the next renewal, or the update at midnight in UTC if that comes first. */
  function planTick(): Timer {
    return clock.after(Math.min(RENEW_MS, DAY_MS - (clock.now() % DAY_MS)), tick);
  }

  const listeners = [
    signals.pageChanged.on((id) => change([id])),
    signals.settingsChanged.on(() => change("all")),
    signals.addressesChanged.on(() => {
      checkPages();
      plan(GATHER_MS);
    }),
  ];
  let ticking = planTick();
  plan(0);

  return {
    metrics: [
      {
        type: "gauge",
        name: "allclear_fleet_mirror_age_seconds",
        help: "Time since the mirror was last known to be complete.",
        *read() {
          if (copied) yield { value: (clock.monotonic() - copied.at) / SECOND_MS };
        },
      },
    ],
    state: () => ({ target: store.name, asOf: copied?.asOf, files: files.byPath.size, error }),
    async settled() {
      for (let last: unknown; last !== work;) {
        last = work;
        await work;
      }
    },
    hold(request, answer) {
      const isForm = request.method === "POST" && DASHBOARD.test(request.url);
      if (!isForm) return answer;
      return Promise.resolve(answer).then(async (response) => {
        // The change is done and answered in any case.
        if (removal) await waitFor(removal).catch(() => {});
        return response;
      });
    },
    async stop() {
      isStopped = true;
      for (const end of listeners) end();
      ticking.cancel();
      const isDue = planned !== undefined;
      planned?.cancel();
      if (isDue) void enqueue(update);
      await within(clock, STOP_MS, work, () => {});
    },
  };
}

/** Number of paths that the alarm names. */
const PATHS_NAMED = 8;

/** Alarm about files of deleted and private pages in a mirror. */
interface RemovalAlarm {
  /** Names the files that are left. */
  raise(paths: readonly string[]): void;
  /** Says that the files of the mirror are not known. */
  raiseUnknown(): void;
  /** True if the alarm is raised, such as by an earlier process. */
  isRaised(): boolean;
  clear(): void;
}

/** Creates the alarm of a mirror. */
function createRemovalAlarm(
  mirror: string,
  alarms: Pick<Alarms, "raise" | "clear" | "list">,
): RemovalAlarm {
  const raise = (sentence: string) =>
    alarms.raise("mirror_removal", `${sentence} The removal is tried again.`);
  return {
    raise(paths) {
      const others = paths.length - PATHS_NAMED;
      const named = paths.slice(0, PATHS_NAMED).join(", ");
      raise(
        `The mirror ${mirror} still has ${named}${others > 0 ? ` and ${others} more files` : ""}.`,
      );
    },
    raiseUnknown: () =>
      raise(
        `The files of the mirror ${mirror} cannot be listed. It may still have those of pages that were deleted or made private.`,
      ),
    isRaised: () => alarms.list().some(({ kind }) => kind === "mirror_removal"),
    clear: () => alarms.clear("mirror_removal"),
  };
}

/** Returns the detail of the alarm about a mirror that was last written at `asOf`, in unix ms. */
function describeStale(name: string, asOf: number | undefined, error = ""): string {
  const since =
    asOf === undefined
      ? "was never written"
      : `was last written at ${toIso(asOf).slice(0, 16).replace("T", " ")} UTC`;
  return `The mirror ${name} ${since}. ${error}`.trim();
}
