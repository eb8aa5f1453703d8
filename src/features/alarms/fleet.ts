import type { Alarms } from "./alarms";
import type { SetAside } from "./orphans";

/**
 * Parts for more than one machine that run in this process, for *Settings → Fleet*. A part that is not set up is
 * absent. The functions are called at each request and neither wait nor throw; their texts contain no secrets.
 */
export interface Fleet {
  alarms: Alarms;
  mirror?: () => MirrorState;
  cdn?: () => CdnState;
  /** Primary and replicas; absent on one machine. */
  nodes?: () => FleetState;
}

/** State of the static mirror. */
export interface MirrorState {
  /** Folder or bucket, such as `s3://status/acme`. */
  target: string;
  /** Time of the newest complete copy, in unix ms; undefined before the first. */
  asOf: number | undefined;
  /** Number of files in it. */
  files: number;
  /** Reason as a sentence if the last write failed. */
  error?: string | undefined;
}

/** State of the CDN mode. */
export interface CdnState {
  /** Time for which shared caches keep public answers, in seconds. */
  seconds: number;
  /** Host of the purge address; undefined without one. */
  purgeHost?: string | undefined;
  /** Time of the last accepted purge, in unix ms. */
  purgedAt?: number | undefined;
  /** Reason as a sentence if the last purge failed. */
  error?: string | undefined;
}

/** State of primary and replicas, as this node knows it. */
export interface FleetState {
  /** Term of the primary; undefined before the first. */
  term: number | undefined;
  /** Fleet store, such as `s3://status/fleet`. */
  store: string;
  failover: "manual" | "automatic";
  ack: "replicated" | "local";
  /** Valkey's address and answer; undefined without it. */
  valkey?: { address: string; isAvailable: boolean } | undefined;
  nodes: readonly FleetNode[];
  /** Databases of earlier terms whose events are missing in the present history and were not dismissed. */
  orphans: readonly SetAside[];
}

/** One node of the fleet. */
export interface FleetNode {
  name: string;
  role: "primary" | "replica";
  /** True if it may be promoted. */
  isEligible: boolean;
  /** True for the node that answers. */
  isSelf: boolean;
  version: string;
  /** Newest transaction that it has; undefined if it is not known. */
  txid: string | undefined;
  /** Time that it is behind the primary; undefined if it is not known. */
  lagSeconds: number | undefined;
  /** Time of its last sign of life, in unix ms. */
  seenAt: number;
}
