import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { Actor } from "../../base/actor";
import { audit } from "../../events/audit";
import { plural } from "../../base/text";
import { findSetting, putSetting } from "../settings/store";

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
