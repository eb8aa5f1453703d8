import type { Actor } from "../../base/actor";
import { plural } from "../../base/text";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { findSetting, putSetting } from "../settings/store";
import type { Alarms } from "./alarms";

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

/** Database of an earlier term that a node keeps. */
export interface SetAside {
  /** Name of the node, which ends with its id. */
  node: string;
  /** Path on that node. */
  file: string;
  /** Events of it that the present history lacks. */
  events: number;
}

const SETTING = "fleet_dismissed_orphans";
/** Dismissed databases that are remembered, far more than a fleet keeps. */
const REMEMBERED_MAX = 200;

/** Number of dismissed events of each database. */
type Dismissed = Readonly<Record<string, number>>;

/** Returns the text that identifies a database among those of all nodes, whatever the host is called. */
export function setAsideId({ node, file }: Pick<SetAside, "node" | "file">): string {
  return `${node.slice(node.lastIndexOf("/") + 1)} ${file}`;
}

function readAll(reader: Reader): Dismissed {
  return (findSetting(reader, { name: SETTING })?.value ?? {}) as Dismissed;
}

/** Returns a function that is true for a database with events that were not dismissed. */
export function readUndismissed(reader: Reader): (setAside: SetAside) => boolean {
  const dismissed = readAll(reader);
  return (setAside) => setAside.events > (dismissed[setAsideId(setAside)] ?? 0);
}

/**
 * Stores that the events of a database were dismissed. All nodes read it in the database that they share. Returns
 * false, and writes nothing, if they were dismissed before.
 */
export function dismissOrphans(ctx: Ctx, tx: Tx, setAside: SetAside, actor: Actor): boolean {
  const { node, file, events } = setAside;
  if (!readUndismissed(tx)(setAside)) return false;
  const id = setAsideId(setAside);
  const { [id]: _, ...others } = readAll(tx);
  const kept = [...Object.entries(others), [id, events] as const].slice(-REMEMBERED_MAX);
  putSetting(tx, { name: SETTING, value: Object.fromEntries(kept), now: ctx.clock.now() });
  const summary = `Dismissed ${plural(events, "event")} of an earlier primary in ${file} of ${node}`;
  audit(ctx, tx, actor, "fleet.orphans_dismissed", "fleet_orphans", summary);
  return true;
}
