/* Health checks of a node of a fleet, and the facts about it that metrics and answers share. */
import { Type } from "@sinclair/typebox";
import { type Problem, unavailable } from "../base/errors";
import { Nullable, OneOf } from "../base/schema";
import { toIso } from "../base/time";
import type { Ctx } from "../context";
import { formatTxid } from "../db/followed-database";
import type { MetricFamily } from "../features/metrics/metrics";
import { sendUntagged } from "../http/answers";
import { type Readiness, requireReady } from "../http/health";
import { operation } from "../http/operation";
import type { PlainRoute } from "../http/route-table";

const RETRY_AFTER_SECONDS = 5;
const KEYS_RETRY_SECONDS = 2;

/** State of a node of a fleet. */
export interface NodeState {
  role: "primary" | "replica";
  /** Undefined before it is known. */
  term: number | undefined;
  /** Newest transaction that this node has; undefined before it is known. */
  txid: number | undefined;
  /** Last moment, in unix ms, at which nothing newer was known. */
  asOf: number | undefined;
  /** Schema version of the database; undefined before it was read. */
  schema: number | undefined;
  /** Reason for which reads by keys are refused; undefined if they are answered. */
  apiProblem: string | undefined;
}

const Node = Type.Object(
  {
    status: OneOf(["ok"]),
    role: OneOf(["primary", "replica"]),
    term: Nullable(Type.Integer({ description: "Number of the primary's term." })),
    txid: Nullable(
      Type.String({ description: "Newest transaction of this node, in 16 hexadecimal digits." }),
    ),
    as_of: Nullable(Type.String({ description: "Time at which that was the newest one." })),
    lag_seconds: Nullable(Type.Number({ description: "Seconds since `as_of`." })),
    schema: Nullable(Type.Integer({ description: "Schema version of the database." })),
  },
  { title: "Node" },
);

/** Returns the fields that all health checks of a node show. */
export function presentNode({ role, term, txid, asOf, schema }: NodeState, now: number) {
  return {
    role,
    term: term ?? null,
    txid: txid === undefined ? null : formatTxid(txid),
    as_of: asOf === undefined ? null : toIso(asOf),
    lag_seconds: asOf === undefined ? null : Math.max(0, now - asOf) / 1_000,
    schema: schema ?? null,
  };
}

/**
 * Health checks of a node of a fleet: `/readyz/api` for load balancers in front of the API, and `/readyz/primary`.
 * Adds the fields of the node to the other health checks too.
 */
export function nodeHealthRoutes(
  { clock, db }: Ctx,
  readiness: Readiness,
  state: () => NodeState,
): readonly PlainRoute[] {
  const fields = () => presentNode(state(), clock.now());
  // A replica stores nothing, which is no fault of its disk.
  readiness.nodeFields = () => ({
    ...fields(),
    ...(state().role === "replica" && { writable: false, reason: null }),
  });

  function answer(problem: Problem | undefined): Response {
    requireReady(readiness, db);
    if (problem) throw problem;
    return sendUntagged({ status: "ok", ...fields() });
  }

  return [
    {
      path: "/readyz/api",
      handle() {
        const { apiProblem } = state();
        return answer(
          apiProblem === undefined ? undefined : unavailable(apiProblem, KEYS_RETRY_SECONDS),
        );
      },
      hooks: operation({
        id: "getApiReadiness",
        summary: "Check that reads by API keys are answered",
        description:
          "For load balancers in front of the API. 503 on a replica that cannot know at the moment if a key was revoked, and otherwise as `/readyz`.",
        tag: "Health",
        access: { kind: "health" },
        answers: { 200: { description: "Reads by keys are answered.", schema: Node } },
        errors: ["unavailable"],
      }),
    },
    {
      path: "/readyz/primary",
      handle: () => answer(state().role === "replica" ? notPrimary() : undefined),
      hooks: operation({
        id: "getPrimaryReadiness",
        summary: "Check that this node is the primary",
        tag: "Health",
        access: { kind: "health" },
        answers: { 200: { description: "This node is the primary.", schema: Node } },
        errors: ["unavailable"],
      }),
    },
  ];
}

function notPrimary(): Problem {
  const detail = "This node is a replica. It sends changes to the primary.";
  return unavailable(detail, RETRY_AFTER_SECONDS);
}

/** Returns a metric of a fleet with one value; `name` follows `allclear_fleet_`. */
export function fleetFamily(
  type: MetricFamily["type"],
  name: string,
  help: string,
  read: () => number,
): MetricFamily {
  return { name: `allclear_fleet_${name}`, help, type, read: () => [{ value: read() }] };
}

/** Returns the metric of a node's role, which is 1 while the node has it. */
export function roleFamily(role: NodeState["role"], hasRole: () => boolean): MetricFamily {
  return {
    name: "allclear_fleet_role",
    help: "1 for the role of this node.",
    type: "gauge",
    labelNames: ["role"],
    read: () => [{ labels: { role }, value: hasRole() ? 1 : 0 }],
  };
}

export const KEYS_UNKNOWN = "This node cannot know at the moment if keys were revoked. Try again.";

/** Returns the answer to a read by a key that may have been revoked on another node. */
export function keysUnknown(): Problem {
  return unavailable(KEYS_UNKNOWN, KEYS_RETRY_SECONDS);
}
