import type { SetAside } from "../../features/alarms/fleet";
import { plural } from "../../base/text";
import { SECOND_MS } from "../../base/time";
import type { KnownNode, NodeReport } from "./node-report";

/** Silence from which a replica counts as gone, in ms. */
export const GONE_MS = 30 * SECOND_MS;
/** Lag from which a replica is behind. */
const BEHIND_SECONDS = 10;
/** Difference to the store's clock from which a clock is wrong, in ms. */
const SKEW_MS = 2 * SECOND_MS;

/** Says if a replica is silent, without data or behind at `now`, in unix ms. */
export function lagOf({ node, lagSeconds, seenAt, emptySince }: KnownNode, now: number): string[] {
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
export function mismatchOf({ node, version, schema }: KnownNode, own: NodeReport): string[] {
  const schemas = [schema, own.schema];
  if (schema !== own.schema && !schemas.includes(null)) {
    return [`${node} has schema version ${schema}, the primary ${own.schema}.`];
  }
  return version === own.version
    ? []
    : [`${node} has version ${version}, the primary ${own.version}.`];
}

/** Says if the clock of a node is wrong. */
export function skewOf({ node, clockSkewMs }: NodeReport): string[] {
  if (clockSkewMs === null || Math.abs(clockSkewMs) <= SKEW_MS) return [];
  const seconds = Math.abs(clockSkewMs / SECOND_MS).toFixed(1);
  return [`The clock of ${node} is ${seconds} s ${clockSkewMs > 0 ? "behind" : "ahead"}.`];
}

/** Says which events of an earlier term a node keeps. */
export function describeOrphans({ node, file, events }: SetAside): string {
  return `${node} keeps ${plural(events, "event")} of an earlier term in ${file}: see allclear fleet orphans, then dismiss them in Settings → Fleet or remove the file.`;
}
