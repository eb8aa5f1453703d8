import { Type } from "@sinclair/typebox";
import type { Clock, Timer } from "../../base/clock";
import { Nullable } from "../../base/schema";
import { plural } from "../../base/text";
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import { schemaErrors } from "../../base/validation";
import type { Alarms } from "../../features/alarms/alarms";
import type { FleetNode, SetAside } from "../../features/alarms/fleet";
import type { MetricFamily } from "../../features/metrics/metrics";
import { fleetFamily, roleFamily } from "../health-routes";
import { createRunWatch, type Primaryship } from "./primaryship";

/** Longest time between two reports of a replica, and the interval of the checks and of the order of all of them. */
export const REPORT_MS = 5 * SECOND_MS;
/** Silence from which a replica is forgotten. */
const FORGET_MS = 15 * MINUTE_MS;
/** Limit of nodes, which a fleet never reaches. */
const NODES_MAX = 200;

/** Nodes of a fleet as the primary knows them. */
interface NodeRegistry {
  /** Handles the report of a replica, `POST /fleet/v1/nodes`. Answers with a ReportAnswer. */
  take(request: Request): Promise<Response>;
  /** Lists the primary, then the replicas by name. */
  list(): FleetNode[];
  /** Lists the databases of earlier terms whose missing events were not dismissed. */
  orphans(): SetAside[];
  /** Resolves once all replicas that are not gone have applied a transaction. */
  whenApplied(txid: number): Promise<void>;
  stop(): void;
}

/**
 * Creates the registry of the primary, and raises alarms about replicas that are behind or silent, different versions
 * and wrong clocks. A replica that is silent for 15 minutes is forgotten.
 */
export function createNodeRegistry(
  {
    clock,
    alarms,
    readUndismissed,
  }: {
    clock: Clock;
    alarms: Pick<Alarms, "raise" | "clear">;
    /** Returns a function that is true for a database with events that were not dismissed. */
    readUndismissed: () => (setAside: SetAside) => boolean;
  },
  own: () => NodeReport,
): NodeRegistry {
  const replicas = new Map<string, KnownNode>();
  const isCopiedRun = createRunWatch(clock);
  let candidates: readonly string[] = [];
  const waiting = new Map<() => void, number>();
  const startedAt = clock.now();
  const timer: Timer = clock.every(REPORT_MS, check);

  function hasApplied(txid: number): boolean {
    const since = clock.now() - GONE_MS;
    return [...replicas.values()].every(
      ({ seenAt, txid: applied }) => seenAt < since || Number.parseInt(applied ?? "0", 16) >= txid,
    );
  }

  /** Ends the waits for transactions that all replicas have. */
  function endWaits(): void {
    for (const [resolve, txid] of waiting) {
      if (!hasApplied(txid)) continue;
      waiting.delete(resolve);
      resolve();
    }
  }

  function check(): void {
    endWaits();
    const now = clock.now();
    for (const [name, { seenAt }] of replicas) {
      if (now - seenAt > FORGET_MS) replicas.delete(name);
    }
    const known = [...replicas.values()];
    candidates = orderCandidates(known.filter(({ seenAt }) => now - seenAt <= GONE_MS));
    alarmOf(
      "replica_lag",
      known.flatMap((node) => lagOf(node, now)),
    );
    const self = own();
    alarmOf(
      "version_mismatch",
      known.flatMap((node) => mismatchOf(node, self)),
    );
    alarmOf("clock_skew", [self, ...known].flatMap(skewOf));
    alarmOf("orphans", orphans().map(describeOrphans));
  }

  function orphans(): SetAside[] {
    const all = [own(), ...replicas.values()].flatMap(({ node, setAside }) =>
      setAside.map((one) => ({ node, ...one })),
    );
    return all.length === 0 ? [] : all.filter(readUndismissed());
  }

  function alarmOf(kind: Parameters<Alarms["raise"]>[0], problems: readonly string[]): void {
    if (problems.length > 0) alarms.raise(kind, problems.join(" "));
    // A fleet that has just got this primary does not know its replicas yet.
    else if (clock.now() - startedAt >= GONE_MS) alarms.clear(kind);
  }

  return {
    async take(request) {
      const report = (await request.json().catch(() => undefined)) as NodeReport;
      if (schemaErrors(Report, report).length > 0) {
        return Response.json({ detail: "The report is not valid." }, { status: 422 });
      }
      const id = idOf(report.node);
      const isCopy = id === idOf(own().node) || isCopiedRun(id, report.run ?? "");
      if (isCopy) return Response.json({ detail: describeCopy(id) }, { status: 409 });
      if (replicas.has(report.node) || replicas.size < NODES_MAX) {
        const seenAt = clock.now();
        const emptySince =
          report.txid === null ? (replicas.get(report.node)?.emptySince ?? seenAt) : undefined;
        replicas.set(report.node, { ...report, seenAt, emptySince });
      }
      endWaits();
      const answer: ReportAnswer = { candidates };
      return Response.json(answer);
    },
    list() {
      const now = clock.now();
      const sorted = [...replicas.values()].sort((a, b) => (a.node < b.node ? -1 : 1));
      return [
        present({ ...own(), seenAt: now, emptySince: undefined }, "primary"),
        ...sorted.map((node) => present(node, "replica")),
      ];
    },
    orphans,
    whenApplied(txid) {
      if (hasApplied(txid)) return Promise.resolve();
      return new Promise((resolve) => waiting.set(resolve, txid));
    },
    stop() {
      timer.cancel();
      for (const resolve of waiting.keys()) resolve();
    },
  };
}

/** Returns the identity in the name of a node. A copied data directory can be on a machine of another name. */
function idOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

function describeCopy(id: string): string {
  return `Another node has the identity ${id}: the data directory was copied. Start this replica with an empty data directory.`;
}

/** Returns the names of the eligible replicas, the newest copy first, equal ones by name. */
function orderCandidates(replicas: readonly NodeReport[]): string[] {
  const txidOf = ({ txid }: NodeReport) => Number.parseInt(txid ?? "0", 16);
  return replicas
    .filter(({ isEligible }) => isEligible)
    .sort((a, b) => txidOf(b) - txidOf(a) || (a.node < b.node ? -1 : 1))
    .map(({ node }) => node);
}

function present(known: KnownNode, role: FleetNode["role"]): FleetNode {
  const { node, isEligible, version, txid, lagSeconds, seenAt } = known;
  return {
    name: node,
    role,
    isEligible,
    isSelf: role === "primary",
    version,
    txid: txid ?? undefined,
    lagSeconds: lagSeconds ?? undefined,
    seenAt,
  };
}

/** Limit of databases of earlier terms that a node reports. */
export const SET_ASIDE_MAX = 10;

/** Schema of `NodeReport`. Later versions may add fields. */
const Report = Type.Object({
  node: Type.String({ minLength: 1, maxLength: 100 }),
  isEligible: Type.Boolean(),
  run: Type.Optional(Type.String({ maxLength: 100 })),
  version: Type.String({ maxLength: 50 }),
  schema: Nullable(Type.Integer()),
  txid: Nullable(Type.String({ maxLength: 16 })),
  lagSeconds: Nullable(Type.Number()),
  clockSkewMs: Nullable(Type.Number()),
  setAside: Type.Array(
    Type.Object({ file: Type.String({ maxLength: 1_000 }), events: Type.Integer() }),
    { maxItems: SET_ASIDE_MAX },
  ),
});

/** State of a node as it reports it to the primary. */
export interface NodeReport {
  /** Name of the node. */
  node: string;
  /** True if it may be promoted. */
  isEligible: boolean;
  /** Id of its process; replicas of an earlier version do not send it. */
  run?: string;
  version: string;
  /** Schema version of its database; null before it was read. */
  schema: number | null;
  /** Newest transaction, in hexadecimal digits. */
  txid: string | null;
  /** Time that it is behind the primary; null on the primary, and before it is known. */
  lagSeconds: number | null;
  /** Store's clock minus that of the node; null if it is not known. */
  clockSkewMs: number | null;
  /** Databases of earlier terms, with the number of events that the present history lacks. */
  setAside: readonly { file: string; events: number }[];
}

/** Answer to a report. */
export interface ReportAnswer {
  /**
   * Names of the replicas that may become the primary, the newest copy first. All replicas get the same order until the
   * next check, since each would otherwise compare its own present copy with earlier ones.
   */
  candidates: readonly string[];
}

/** A replica as its reports describe it. */
interface KnownNode extends NodeReport {
  /** Time of its last report, in unix ms. */
  seenAt: number;
  /** Time of its first report without data, in unix ms; undefined with data. */
  emptySince: number | undefined;
}

/** Silence from which a replica counts as gone, in ms. */
const GONE_MS = 30 * SECOND_MS;
/** Lag from which a replica is behind. */
const BEHIND_SECONDS = 10;
/** Difference to the store's clock from which a clock is wrong, in ms. */
const SKEW_MS = 2 * SECOND_MS;

/** Says if a replica is silent, without data or behind at `now`, in unix ms. */
function lagOf({ node, lagSeconds, seenAt, emptySince }: KnownNode, now: number): string[] {
  const silentMs = now - seenAt;
  if (silentMs > GONE_MS) {
    return [`${node} has been silent for ${plural(Math.floor(silentMs / SECOND_MS), "second")}.`];
  }
  const emptyMs = now - (emptySince ?? now);
  if (emptyMs > GONE_MS) {
    return [`${node} has had no data for ${plural(Math.floor(emptyMs / SECOND_MS), "second")}.`];
  }
  if (lagSeconds === null || lagSeconds <= BEHIND_SECONDS) return [];
  return [`${node} is ${plural(Math.round(lagSeconds), "second")} behind.`];
}

/** Says if a replica differs in schema or version from the primary. */
function mismatchOf({ node, version, schema }: KnownNode, own: NodeReport): string[] {
  const schemas = [schema, own.schema];
  if (schema !== own.schema && !schemas.includes(null)) {
    return [`${node} has schema version ${schema}, the primary ${own.schema}.`];
  }
  return version === own.version
    ? []
    : [`${node} has version ${version}, the primary ${own.version}.`];
}

/** Says if the clock of a node is wrong. */
function skewOf({ node, clockSkewMs }: NodeReport): string[] {
  if (clockSkewMs === null || Math.abs(clockSkewMs) <= SKEW_MS) return [];
  const seconds = Math.abs(clockSkewMs / SECOND_MS).toFixed(1);
  return [`The clock of ${node} is ${seconds} s ${clockSkewMs > 0 ? "behind" : "ahead"}.`];
}

/** Says which events of an earlier term a node keeps. */
function describeOrphans({ node, file, events }: SetAside): string {
  return `${node} keeps ${plural(events, "event")} of an earlier term in ${file}: see allclear fleet orphans, then dismiss them in Settings → Fleet or remove the file.`;
}

/** Returns the metrics of a primary. */
export function primaryMetrics(primaryship: Primaryship): MetricFamily[] {
  return [
    roleFamily("primary", primaryship.isHeld),
    fleetFamily("gauge", "term", "Term of the primary.", () => primaryship.record()?.term ?? 0),
    fleetFamily(
      "gauge",
      "txid",
      "Last transaction of the log that is in the store.",
      () => primaryship.figures().txid,
    ),
    fleetFamily(
      "gauge",
      "lease_seconds_left",
      "Seconds until the primary stops unless its lease is renewed. Infinite with manual failover.",
      () => primaryship.leftMs() / 1_000,
    ),
    fleetFamily(
      "counter",
      "ack_local_total",
      "Writes that were acknowledged before their upload, because the store did not answer.",
      () => primaryship.figures().localWrites,
    ),
  ];
}
