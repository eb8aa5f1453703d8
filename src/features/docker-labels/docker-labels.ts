/*
 * Monitors that labels of containers declare. `startDockerLabels` reads the containers of the Docker hosts every 15 seconds,
 * and applies what their labels declare as a configuration file is applied, each monitor in a transaction of its own, so
 * that a wrong label stops no other. A host that does not answer changes nothing.
 */
import type { Actor } from "../../base/actor";
import type { Timer } from "../../base/clock";
import { conflict, Problem } from "../../base/errors";
import { sha256Hex } from "../../base/hash";
import { runInSlices } from "../../base/in-slices";
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { readBody } from "../../egress/body";
import type { Egress } from "../../egress/egress";
import { Fault } from "../../egress/model";
import { ApplyFileError, type ApplyOutcome, ApplyRun } from "../apply/run";
import {
  applyMonitorOfLabels,
  type ComponentRefs,
  type FileMonitor,
  parentsFirst,
  readComponentRefs,
} from "../monitors/file";
import { deleteMonitor, pauseMonitor } from "../monitors/monitors";
import { getMonitorRecord } from "../monitors/records";
import { findMonitorByRef } from "../monitors/store";
import {
  type Container,
  type Declaration,
  type Declarations,
  declarationsIn,
  groupsIn,
  type LabelProblem,
  type ListedContainers,
  problemOf,
  readContainers,
  readDeclaration,
} from "./rules";
import { findDockerMonitor, listDockerMonitors, saveDockerMonitor, setRemoved } from "./store";

/** Maximum number of monitors that labels have declared, with those whose containers were removed. */
const MONITORS_MAX = 200;

/** Time between two reads of the containers, and after the start, which should not compete with the first requests. */
const POLL_MS = 15 * SECOND_MS;
const FIRST_READ_MS = 2 * SECOND_MS;

/** Limits of an answer of a Docker host: time, and bytes. A container takes about 3 kB. */
const ANSWER_MS = 10 * SECOND_MS;
const ANSWER_MAX_BYTES = 4 * 1024 * 1024;

/** Time after the removal of a container in which it may be made again, before its monitor is deleted. */
const PRUNE_AFTER_MS = 10 * MINUTE_MS;

/** Time for which a host must list no container at all until its containers count as removed. */
const EMPTY_MS = 10 * MINUTE_MS;

/**
 * Changes that labels make without a pause, enough to create, pause and resume all monitors, and the time after which
 * they may make one more. Labels that change all the time would fill the audit log otherwise.
 */
const CHANGES_MAX = 3 * MONITORS_MAX;
const CHANGE_EVERY_MS = 15 * SECOND_MS;
const WAITS = `Labels have changed monitors ${CHANGES_MAX} times in a short time. This change waits.`;

/** Maximum number of problems that a report lists. */
const PROBLEMS_MAX = 50;

const ACTOR: Actor = { kind: "system", id: null, label: "Docker labels" };

/** Outcome of the last read. */
export interface LabelReport {
  /** Hosts that could not be read, with a sentence about each. Their monitors stay as they are. */
  silent: { host: string; detail: string }[];
  /** Labels that are not applied. */
  problems: LabelProblem[];
  /** Number of further problems. */
  more: number;
  /** Time of the read, in unix ms; undefined before the first. */
  readAt: number | undefined;
}

export interface DockerLabels extends Timer {
  report(): LabelReport;
}

const NOTHING_READ: LabelReport = { silent: [], problems: [], more: 0, readAt: undefined };

/** Starts to read the labels of all Docker hosts, on the primary alone. */
export function startDockerLabels(ctx: Ctx, egress: Egress): DockerLabels {
  const { clock, config, log, signals } = ctx;
  const stopped = new AbortController();
  /** Containers by host, as last read. */
  const known = new Map<string, readonly Container[]>();
  /** Times at which hosts began to list no container at all, in unix ms. */
  const emptySince = new Map<string, number>();
  const changes = createAllowance(ctx);
  let report = NOTHING_READ;
  let timer = clock.after(FIRST_READ_MS, () => void run());
  /** Digest of the containers whose labels were applied; undefined if they must be applied again. */
  let applied: string | undefined;
  /** Time at which a monitor is to be deleted, in unix ms. */
  let pruneAt = Number.POSITIVE_INFINITY;
  const subscriptions = [
    // Somebody may have edited or deleted a monitor of a label.
    signals.monitorsChanged.on(() => (applied = undefined)),
    // A component that a label names may exist now.
    signals.pageChanged.on(() => {
      if (report.problems.length > 0) applied = undefined;
    }),
  ];

  async function run(): Promise<void> {
    try {
      if (ctx.isPrimary()) await readAll();
      else forget();
    } catch (error) {
      applied = undefined;
      if (!stopped.signal.aborted) {
        log.warn({ err: error }, "labels of containers could not be applied; trying again");
      }
    }
    if (!stopped.signal.aborted) timer = clock.after(POLL_MS, () => void run());
  }

  /** Forgets what was read: another node is the primary, and changes the monitors. */
  function forget(): void {
    known.clear();
    emptySince.clear();
    applied = undefined;
    report = NOTHING_READ;
  }

  /** Returns true for a list that may be that of a failing proxy, or of a daemon that has lost its directory. */
  function isDoubtful(host: string, { total }: ListedContainers): boolean {
    if (total > 0) {
      emptySince.delete(host);
      return false;
    }
    const now = clock.now();
    const since = emptySince.get(host) ?? now;
    emptySince.set(host, since);
    return (
      now - since < EMPTY_MS &&
      listDockerMonitors(ctx.db, {}).some(
        ({ source }) => source.host === host && source.removedAt === null,
      )
    );
  }

  async function readAll(): Promise<void> {
    const hosts = [...config.dockerHosts.keys()];
    const lists = await Promise.all(
      hosts.map((host) => listContainers(ctx, egress, host, stopped)),
    );
    if (stopped.signal.aborted) return;
    const silent: LabelReport["silent"] = [];
    const answered = new Set<string>();
    for (const [index, host] of hosts.entries()) {
      const list = lists[index];
      if (list === undefined) continue;
      if (typeof list === "string") {
        emptySince.delete(host);
        silent.push({ host, detail: list });
      } else if (isDoubtful(host, list)) silent.push({ host, detail: LISTS_NOTHING });
      else {
        known.set(host, list.containers);
        answered.add(host);
      }
    }
    const containers = [...known.values()].flat();
    const digest = sha256Hex(
      JSON.stringify([
        [...answered].sort(),
        [...emptySince.keys()].sort(),
        containers.map((each) => ({ ...each, labels: [...each.labels].sort() })),
      ]),
    );
    if (digest === applied && clock.now() < pruneAt) {
      report = noted({ ...report, silent, readAt: clock.now() });
      return;
    }
    // Before the work, since the signals of its own changes and of others may arrive meanwhile.
    applied = digest;
    const problems = await applyAll(containers, answered);
    const listed = inTurns(problems).slice(0, PROBLEMS_MAX);
    const more = problems.length - listed.length;
    report = noted({ silent, problems: listed, more, readAt: clock.now() });
  }

  /** Applies all that containers declare, and handles the monitors that no container declares any more. */
  async function applyAll(
    containers: readonly Container[],
    answered: ReadonlySet<string>,
  ): Promise<LabelProblem[]> {
    const { byRef, problems } = declarationsIn(containers);
    const stored = new Set(listDockerMonitors(ctx.db, {}).map(({ ref }) => ref));
    const groups = groupsIn(containers);
    const entries = await runInSlices(readInOrder(byRef, stored, groups, problems));
    const components = readComponentRefs(ctx.db);
    let room = MONITORS_MAX - stored.size;
    for (const entry of parentsFirst(entries)) {
      if (stopped.signal.aborted) break;
      const { container, prefix, item, ref } = entry;
      const { host, name } = container;
      const isNew = !stored.has(ref);
      if (isNew && room <= 0) {
        problems.push(problemOf(container, `${prefix} ${IS_ONE_MORE}`));
        continue;
      }
      try {
        const made = await ctx.db.write((tx) => {
          const outcome = applyOne(ctx, tx, entry, item, components);
          if (outcome.length > 0 && changes.left() < 1) {
            applied = undefined;
            throw conflict(WAITS);
          }
          return outcome;
        });
        changes.take(made.length);
        // Only a monitor that was made takes room, so that wrong labels of one container do not keep others out.
        if (isNew) room -= 1;
        for (const { kind, label: monitor, fields } of made) {
          const names = fields.map(({ field }) => field);
          log.info({ host, container: name, monitor, kind, fields: names }, "applied labels");
        }
      } catch (error) {
        for (const sentence of sentencesOf(error)) {
          problems.push(problemOf(container, `${prefix}: ${sentence}`));
        }
      }
    }
    await handleRemoved(byRef, answered, problems);
    return problems;
  }

  /** Pauses the monitors whose containers were removed, and deletes them later if the operator wants that. */
  async function handleRemoved(
    byRef: Declarations["byRef"],
    answered: ReadonlySet<string>,
    problems: LabelProblem[],
  ): Promise<void> {
    const prunes = config.dockerPrune === "on";
    pruneAt = Number.POSITIVE_INFINITY;
    for (const { source, ref, paused } of listDockerMonitors(ctx.db, {})) {
      const { monitorId, host, removedAt } = source;
      // Somebody has resumed it, and who pauses it afterwards does so for longer.
      if (source.isPausedByRemoval && !paused) {
        await ctx.db.write((tx) => setRemoved(tx, { ...source, isPausedByRemoval: false }));
      }
      if (byRef.has(ref) || !answered.has(host) || stopped.signal.aborted) continue;
      const now = clock.now();
      // A host without any container may have lost them, and their monitors should then have their history.
      const isPruned = prunes && !emptySince.has(host);
      const endsAt = (removedAt ?? now) + PRUNE_AFTER_MS;
      if (removedAt === null || (isPruned && now >= endsAt)) {
        if (changes.left() < 1) {
          applied = undefined;
          problems.push({ host, container: source.container, detail: `${ref}: ${WAITS}` });
          continue;
        }
        changes.take(1);
        if (removedAt !== null) {
          await ctx.db.write((tx) => deleteMonitor(ctx, tx, monitorId, ACTOR));
          continue;
        }
        await ctx.db.write((tx) => pauseRemoved(ctx, tx, monitorId));
        log.info({ host, container: source.container, monitor: ref }, "a container was removed");
      }
      if (isPruned) pruneAt = Math.min(pruneAt, endsAt);
    }
  }

  /** Logs what the last report did not say. */
  function noted(next: LabelReport): LabelReport {
    const before = new Set(
      [...report.silent, ...report.problems].map((each) => JSON.stringify(each)),
    );
    for (const each of [...next.silent, ...next.problems]) {
      if (!before.has(JSON.stringify(each))) log.warn(each, "labels of containers are not applied");
    }
    return next;
  }

  return {
    report: () => report,
    cancel() {
      stopped.abort();
      timer.cancel();
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}

/** Reads the containers of a host. Returns a sentence if it cannot be read. */
async function listContainers(
  { clock }: Ctx,
  egress: Egress,
  host: string,
  stopped: AbortController,
): Promise<ListedContainers | string> {
  const limit = new AbortController();
  const timer = clock.after(ANSWER_MS, () => limit.abort());
  try {
    const signal = AbortSignal.any([limit.signal, stopped.signal]);
    const maxBodyBytes = ANSWER_MAX_BYTES;
    const answer = await egress.askDocker({ host, container: null, maxBodyBytes, signal });
    if (answer instanceof Fault) return answer.message;
    if (answer.status !== 200) return `Docker answered with status ${answer.status}.`;
    const body = await readBody(answer, ANSWER_MAX_BYTES);
    if (body instanceof Fault) return body.message;
    if (body.isTruncated) return "The list of containers is longer than 4 MiB, or was cut off.";
    return readContainers(host, new TextDecoder().decode(body.bytes));
  } finally {
    timer.cancel();
  }
}

const LISTS_NOTHING =
  "Docker lists no container at all. If that lasts for ten minutes, the monitors are paused.";

const IS_ONE_MORE = `declares a monitor more than the ${MONITORS_MAX} of labels. Delete those whose containers were removed.`;

/** Returns the first problem of each container, then the second ones, so that no container hides the others. */
function inTurns(problems: readonly LabelProblem[]): LabelProblem[] {
  const counts = new Map<string, number>();
  const turns = problems.map((problem) => {
    const container = `${problem.host} ${problem.container}`;
    const turn = counts.get(container) ?? 0;
    counts.set(container, turn + 1);
    return { problem, turn };
  });
  return turns.sort((a, b) => a.turn - b.turn).map(({ problem }) => problem);
}

/** Counts the changes of labels: see `CHANGES_MAX`. */
function createAllowance({ clock }: Ctx) {
  let spent = 0;
  let countedAt = clock.monotonic();
  return {
    /** Returns the number of changes that may be made. */
    left(): number {
      const now = clock.monotonic();
      spent = Math.max(0, spent - (now - countedAt) / CHANGE_EVERY_MS);
      countedAt = now;
      return CHANGES_MAX - spent;
    },
    take(count: number): void {
      spent += count;
    },
  };
}

/** Reads the declarations of stored monitors, and then those of new ones, oldest container first. */
function* readInOrder(
  byRef: Declarations["byRef"],
  stored: ReadonlySet<string>,
  groups: ReadonlyMap<string, string>,
  problems: LabelProblem[],
): Generator<number, (Declaration & { item: FileMonitor })[]> {
  const all = [...byRef.values()];
  // A container that is not running makes no monitor. One that has stopped keeps its own.
  const fresh = all
    .filter(({ container, ref }) => container.isRunning && !stored.has(ref))
    .sort((a, b) => a.container.createdAt - b.container.createdAt);
  const entries: (Declaration & { item: FileMonitor })[] = [];
  for (const declaration of [...all.filter(({ ref }) => stored.has(ref)), ...fresh]) {
    const read = readDeclaration(declaration, groups);
    if ("monitor" in read) entries.push({ ...declaration, item: read.monitor });
    else problems.push(...read.problems);
    yield 1;
  }
  return entries;
}

/** Creates or changes the monitor of a declaration. Throws as `applyMonitorOfLabels` does. */
function applyOne(
  ctx: Ctx,
  tx: Tx,
  { container: { host, name: container }, ref }: Declaration,
  monitor: FileMonitor,
  components: ComponentRefs,
): ApplyOutcome["changes"] {
  const row = findMonitorByRef(tx, { ref });
  if (row && row.managedBy !== "docker") {
    throw conflict(`Another monitor has the ref ${ref}. Give one of them another name.`);
  }
  const source = row && findDockerMonitor(tx, { monitorId: row.id });
  // Only the first time: afterwards people pause and resume it.
  const paused = row ? row.paused && source?.isPausedByRemoval !== true : monitor.paused === true;
  const options = { prune: false, actor: ACTOR, passwords: new Map() };
  const run = new ApplyRun(ctx, tx, () => 1, options);
  const stored = row && getMonitorRecord(tx, row.id);
  const { id } = applyMonitorOfLabels(run, { ...monitor, paused }, stored, components);
  const isNoted =
    source?.host === host && source.container === container && source.removedAt === null;
  const noted = { monitorId: id, host, container, removedAt: null, isPausedByRemoval: false };
  if (!isNoted) saveDockerMonitor(tx, noted);
  return run.outcome.changes;
}

function pauseRemoved(ctx: Ctx, tx: Tx, monitorId: string): void {
  const { paused } = getMonitorRecord(tx, monitorId).row;
  pauseMonitor(ctx, tx, monitorId, ACTOR);
  setRemoved(tx, { monitorId, removedAt: ctx.clock.now(), isPausedByRemoval: !paused });
}

/** Returns sentences about a monitor that cannot be applied. Throws any other error, and that of a full database. */
function sentencesOf(error: unknown): string[] {
  if (error instanceof ApplyFileError) return error.problems.map(({ detail }) => `${detail}.`);
  if (error instanceof Problem && error.code !== "unavailable") return [error.message];
  throw error;
}
