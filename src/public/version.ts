import type { Snapshot } from "../features/status/snapshots";
import { sha256Hex } from "../base/hash";
import { MINUTE_MS } from "../base/time";

/** Time after which an unchanged page has another version, since response times change with time. */
const VERSION_MS = 5 * MINUTE_MS;
/** Decimals of an uptime share that pages show: a hundredth of a per cent. */
const UPTIME_DECIMALS = 4;
const VERSION_LENGTH = 16;

const versions = new WeakMap<Snapshot, string>();

/**
 * Returns the version of a page: a hash that changes with its content, at midnight in UTC, and every five
 * minutes, and if the data is old (`shownAsOf`). It is computed once per snapshot. Snapshots with the same content have the same version. `now`
 * is in unix ms.
 */
export function versionOf(snapshot: Snapshot, now: number, shownAsOf?: number): string {
  let version = versions.get(snapshot);
  if (version === undefined) {
    const facts = [
      shownBy(snapshot),
      Math.floor((snapshot.sharedAt ?? now) / VERSION_MS),
      shownAsOf,
    ];
    version = sha256Hex(JSON.stringify(facts)).slice(0, VERSION_LENGTH);
    versions.set(snapshot, version);
  }
  return version;
}

/** Returns the facts of a document that pages show, with the version of each text instead of its updates. */
function shownBy({ document, openIncidentCount }: Snapshot) {
  const components = document.components.map((component) => ({
    ...component,
    uptime_90d: component.uptime_90d?.toFixed(UPTIME_DECIMALS),
  }));
  const incidents = document.incidents.map(withoutUpdates);
  const maintenance = document.maintenance.map(withoutUpdates);
  return { ...document, components, incidents, maintenance, openIncidentCount };
}

/** Returns an object without its updates. Every change of an update raises the version of its object. */
function withoutUpdates(entry: { updates: unknown }): unknown {
  const { updates: _, ...facts } = entry;
  return facts;
}
