/*
 * Monitors that labels of containers declare. `startDockerLabels` reads the containers of the Docker hosts every 15 seconds,
 * and applies what their labels declare as a configuration file is applied, each monitor in a transaction of its own, so
 * that a wrong label stops no other. A host that does not answer changes nothing.
 */
import type { Actor } from "../../base/actor";
import type { Timer } from "../../base/clock";
import { conflict, Problem } from "../../base/errors";
import { sha256Hex } from "../../base/hash";
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

/** Starts to read the labels of all Docker hosts, on the primary alone. */
export function startDockerLabels(ctx: Ctx, egress: Egress): DockerLabels {
  const { clock, config, log, signals } = ctx;
  const stopped = new AbortController();
  /** Containers by host, as last read. */
  const known = new Map<string, readonly Container[]>();
  let report: LabelReport = { silent: [], problems: [], more: 0, readAt: undefined };
  let timer = clock.after(FIRST_READ_MS, () => void run());
  /** Digest of the containers whose labels were applied; undefined if they must be applied again. */
  let applied: string | undefined;
  /** Time at which a monitor is to be deleted, in unix ms. */
  let pruneAt = Number.POSITIVE_INFINITY;
  const forgotten = [
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
    } catch (error) {
      applied = undefined;
      if (!stopped.signal.aborted) {
        log.warn({ err: error }, "labels of containers could not be applied; trying again");
      }
    }
    if (!stopped.signal.aborted) timer = clock.after(POLL_MS, () => void run());
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
      if (typeof list === "string") silent.push({ host, detail: list });
      else if (list) {
        known.set(host, list);
        answered.add(host);
      }
    }
    const containers = [...known.values()].flat();
    const digest = sha256Hex(
      JSON.stringify([
        [...answered].sort(),
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
    const listed = problems.slice(0, PROBLEMS_MAX);
    const more = problems.length - listed.length;
    report = noted({ silent, problems: listed, more, readAt: clock.now() });
  }

  /** Applies all that containers declare, and handles the monitors that no container declares any more. */
  async function applyAll(
    containers: readonly Container[],
    answered: ReadonlySet<string>,
  ): Promise<LabelProblem[]> {
    const { byRef, problems } = declarationsIn(containers);
    const { chosen, tooMany } = withinLimit(ctx, byRef);
    problems.push(...tooMany);
    const groups = groupsIn(containers);
    const entries = chosen.flatMap((declaration) => {
      const read = readDeclaration(declaration, groups);
      if ("monitor" in read) return [{ ...declaration, item: read.monitor }];
      problems.push(...read.problems);
      return [];
    });
    const components = readComponentRefs(ctx.db);
    for (const entry of parentsFirst(entries)) {
      if (stopped.signal.aborted) break;
      const { container, prefix, item } = entry;
      const { host, name } = container;
      try {
        const changes = await ctx.db.write((tx) => applyOne(ctx, tx, entry, item, components));
        for (const { kind, label: monitor, fields } of changes) {
          const names = fields.map(({ field }) => field);
          log.info({ host, container: name, monitor, kind, fields: names }, "applied labels");
        }
      } catch (error) {
        for (const sentence of sentencesOf(error)) {
          problems.push(problemOf(container, `${prefix}: ${sentence}`));
        }
      }
    }
    await handleRemoved(byRef, answered);
    return problems;
  }

  /** Pauses the monitors whose containers were removed, and deletes them later if the operator wants that. */
  async function handleRemoved(
    byRef: Declarations["byRef"],
    answered: ReadonlySet<string>,
  ): Promise<void> {
    const prunes = config.dockerPrune === "on";
    pruneAt = Number.POSITIVE_INFINITY;
    for (const { source, ref } of listDockerMonitors(ctx.db, {})) {
      const { monitorId, host, removedAt } = source;
      if (byRef.has(ref) || !answered.has(host) || stopped.signal.aborted) continue;
      const now = clock.now();
      const endsAt = (removedAt ?? now) + PRUNE_AFTER_MS;
      if (removedAt === null) {
        await ctx.db.write((tx) => pauseRemoved(ctx, tx, monitorId));
        log.info({ host, container: source.container, monitor: ref }, "a container was removed");
      } else if (prunes && now >= endsAt) {
        await ctx.db.write((tx) => deleteMonitor(ctx, tx, monitorId, ACTOR));
        continue;
      }
      if (prunes) pruneAt = Math.min(pruneAt, endsAt);
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
      for (const forget of forgotten) forget();
    },
  };
}

/** Reads the containers of a host. Returns a sentence if it cannot be read. */
async function listContainers(
  { clock }: Ctx,
  egress: Egress,
  host: string,
  stopped: AbortController,
): Promise<Container[] | string> {
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

/** Returns the declarations of stored monitors, and of as many new ones as there is room for, oldest container first. */
function withinLimit(
  { db }: Ctx,
  byRef: Declarations["byRef"],
): { chosen: Declaration[]; tooMany: LabelProblem[] } {
  const stored = new Set(listDockerMonitors(db, {}).map(({ ref }) => ref));
  const [old, others] = [true, false].map((isStored) =>
    [...byRef.values()].filter(({ ref }) => stored.has(ref) === isStored),
  ) as [Declaration[], Declaration[]];
  // A container that is not running makes no monitor. One that has stopped keeps its own.
  const fresh = others
    .filter(({ container }) => container.isRunning)
    .sort((a, b) => a.container.createdAt - b.container.createdAt);
  const room = Math.max(0, MONITORS_MAX - stored.size);
  return {
    chosen: [...old, ...fresh.slice(0, room)],
    tooMany: fresh
      .slice(room)
      .map(({ container, prefix }) =>
        problemOf(
          container,
          `${prefix} declares a monitor more than the ${MONITORS_MAX} of labels. Delete those whose containers were removed.`,
        ),
      ),
  };
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
  if (!isNoted) saveDockerMonitor(tx, { monitorId: id, host, container });
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
