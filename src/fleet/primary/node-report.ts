import { Type } from "@sinclair/typebox";
import { Nullable } from "../../base/schema";

/** Limit of databases of earlier terms that a node reports. */
export const SET_ASIDE_MAX = 10;

/** Schema of `NodeReport`. Later versions may add fields. */
export const Report = Type.Object({
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
export interface KnownNode extends NodeReport {
  /** Time of its last report, in unix ms. */
  seenAt: number;
  /** Time of its first report without data, in unix ms; undefined with data. */
  emptySince: number | undefined;
}
