import { schemaErrors } from "../../base/validation";
import type { Alarms } from "../../features/alarms/alarms";
import type { FleetNode, SetAside } from "../../features/alarms/fleet";
import type { Clock, Timer } from "../../base/clock";
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import { describeOrphans, GONE_MS, lagOf, mismatchOf, skewOf } from "./node-problems";
import { type KnownNode, type NodeReport, Report, type ReportAnswer } from "./node-report";
import { createRunWatch } from "./run-watch";

/** Longest time between two reports of a replica, and the interval of the checks and of the order of all of them. */
export const REPORT_MS = 5 * SECOND_MS;
/** Silence from which a replica is forgotten. */
const FORGET_MS = 15 * MINUTE_MS;
/** Limit of nodes, which a fleet never reaches. */
const NODES_MAX = 200;

/** Nodes of a fleet as the primary knows them. */
export interface NodeRegistry {
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
