import { setImmediate } from "node:timers/promises";
import { type Timer, within } from "../base/clock";
import { Problem } from "../base/errors";
import { WHOLE_TURN } from "../base/in-slices";
import { DAY_MS, MINUTE_MS, SECOND_MS, toIso } from "../base/time";
import type { Ctx } from "../context";
import type { Alarms } from "../features/alarms/alarms";
import type { MirrorState } from "../features/alarms/fleet";
import type { ReadRecords } from "../features/incidents/records";
import type { MetricFamily } from "../features/metrics/metrics";
import { findDefaultPage, listAllPages } from "../features/pages/store";
import type { Snapshots } from "../features/status/snapshots";
import { IMMUTABLE } from "../http/cdn";
import { type ObjectStore, ObjectStoreError } from "../object-store/object-store";
import { PUBLIC_ASSETS, ROOT_FILE_CACHE, ROOT_FILES } from "../public/files";
import { createAssets } from "../ui/assets";
import { createPageDocuments, fixed, type MirrorDocument } from "./documents";
import { createMirrorFiles, type MirrorFiles, type Position, SHARED } from "./files";

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
   * Resolves once the mirror has no file of a page that was deleted or made private, or the removal has failed, or after
   * ten seconds. Undefined while no file is being removed.
   */
  left(): Promise<void> | undefined;
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
    left: () => removal && waitFor(removal),
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

interface UpdateDependencies {
  ctx: Ctx;
  snapshots: Snapshots;
  readIncidents: ReadRecords;
}

/** Brings the files of a mirror up to date. */
interface Updates {
  /** Returns the paths of files whose page is deleted, private, or has another slug by now. */
  listGone(): string[];
  /**
   * Writes the changed documents of these pages, by id, or of all, and removes those that they no longer have.
   * Resolves to false if `isCancelled` ended it, or if a page changed meanwhile in a way that needs a new update.
   */
  write(pageIds: ReadonlySet<string> | "all", isCancelled: () => boolean): Promise<boolean>;
}

export function createUpdates(deps: UpdateDependencies, files: MirrorFiles): Updates {
  const { snapshots } = deps;
  const { clock, db } = deps.ctx;
  const documentsOf = createPageDocuments(deps);
  let rootOwner: string | undefined;

  /** Returns the slugs of public pages by id. */
  function readSlugs(): Map<string, string> {
    const pages = listAllPages(db, {}).filter(({ visibility }) => visibility === "public");
    return new Map(pages.map(({ id, slug }) => [id, slug]));
  }

  /** Returns the id of the default page, unless it is private. */
  function readDefault(): string | undefined {
    const page = findDefaultPage(db, {});
    return page?.visibility === "public" ? page.id : undefined;
  }

  /** Writes the documents of one page. Returns their paths, or undefined if the update must end. */
  async function writePage(
    id: string,
    slug: string,
    isCancelled: () => boolean,
  ): Promise<Set<string> | undefined> {
    const paths = new Set<string>();
    let work = 0;
    try {
      await snapshots.prepare(slug, clock.now());
      for (const step of documentsOf(slug, { isDefault: id === readDefault() })) {
        if (typeof step !== "number") {
          paths.add(step.path);
          await files.write(step, id, isCancelled);
          // Pages come after the pictures that they name.
          if (step.cacheControl === IMMUTABLE) await files.flush();
        }
        work += typeof step === "number" ? step : WHOLE_TURN;
        if (work >= WHOLE_TURN) {
          work = 0;
          await setImmediate();
        }
        if (isCancelled()) return undefined;
      }
      return paths;
    } catch (error) {
      // The page or an entry was deleted or made private since the last step.
      if (error instanceof Problem && error.code === "not_found") return undefined;
      throw error;
    }
  }

  return {
    listGone() {
      const slugs = readSlugs();
      const current = new Set(slugs.values());
      const hasDefault = readDefault() !== undefined;
      return Array.from(files.byPath)
        .filter(([path, { owner }]) => {
          const slug = slugInPath(path);
          if (owner === SHARED) return false;
          if (owner === undefined) {
            return slug === undefined ? !hasDefault : !current.has(slug);
          }
          return slug === undefined ? !slugs.has(owner) : slugs.get(owner) !== slug;
        })
        .map(([path]) => path);
    },

    async write(pageIds, isCancelled) {
      const current = new Set<string>();
      // The first update is one of all pages.
      for (const document of pageIds === "all" ? await makeSharedDocuments() : []) {
        current.add(document.path);
        await files.write(document, SHARED, isCancelled);
      }
      await files.flush();
      const slugs = readSlugs();
      const owner = readDefault();
      const chosen = pageIds === "all" ? new Set(slugs.keys()) : new Set(pageIds);
      if (owner !== rootOwner) {
        for (const id of [owner, rootOwner]) if (id !== undefined) chosen.add(id);
      }
      /** Pages that cannot be made, by id. */
      const failures = new Map<string, unknown>();
      for (const id of chosen) {
        const slug = slugs.get(id);
        if (slug === undefined) continue;
        try {
          const paths = await writePage(id, slug, isCancelled);
          if (!paths) return false;
          for (const path of paths) current.add(path);
        } catch (error) {
          // A page that cannot be made does not keep the others from being written.
          if (error instanceof ObjectStoreError) throw error;
          failures.set(id, error);
        }
      }
      await files.flush();
      const failedSlugs = new Set(Array.from(failures.keys(), (id) => slugs.get(id)));
      const stale = Array.from(files.byPath)
        .filter(([path, { owner: id = "" }]) => {
          if (current.has(path) || failures.has(id)) return false;
          if (id !== "") return pageIds === "all" || chosen.has(id);
          // A page that cannot be made may need files of an earlier process at the root, such as its script.
          const slug = slugInPath(path);
          const isNeeded = slug === undefined ? failures.size > 0 : failedSlugs.has(slug);
          return pageIds === "all" && !isNeeded;
        })
        .map(([path]) => path);
      await files.remove(stale);
      for (const error of failures.values()) throw error;
      rootOwner = owner;
      return true;
    },
  };
}

/** Returns the slug in the path of a document; undefined for documents at the root. */
function slugInPath(path: string): string | undefined {
  return /^status\/([^/]+)\//.exec(path)?.[1];
}

/** Returns the files that the copies of all pages name. */
async function makeSharedDocuments(): Promise<MirrorDocument[]> {
  const assets = createAssets(PUBLIC_ASSETS);
  const documents = ROOT_FILES.map(({ path, mediaType, read }) =>
    fixed(path.slice(1), read(), mediaType, ROOT_FILE_CACHE),
  );
  for (const { name, mediaType } of PUBLIC_ASSETS) {
    const path = await assets.pathOf(name);
    const asset = await assets.find(path.slice(path.lastIndexOf("/") + 1));
    if (!asset) throw new Error(`there is no asset ${name}`);
    documents.push(fixed(path.slice(1), asset.bytes, mediaType, IMMUTABLE));
  }
  return documents;
}
