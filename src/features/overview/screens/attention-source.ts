import type { ComponentChildren } from "preact";
import type { Role } from "../../../base/actor";
import type { Tone } from "../../../base/status";
import type { Reader } from "../../../db/statements";
import type { CauseRow } from "../../components/cause-store";
import type { listFailingWithoutIncident } from "../../incidents/outage-store";
import type { OpenIncident } from "../../incidents/store";
import type {
  listOpenIncidentsOfMonitors,
  listTroubledMonitors,
} from "../../monitors/overview-store";
import type { CurrentState, ShownComponent } from "./current-state";

/** Kinds of objects, each with its own list in the dashboard. */
export type AttentionKind = "monitor" | "component" | "incident" | "draft" | "webhook" | "key";

/** Object that needs attention. */
export interface AttentionEntry {
  kind: AttentionKind;
  tone: Tone;
  /** Time since which it needs attention, in unix ms. */
  since: number;
  /** Reads what the row shows. Called only for entries that are shown. */
  read(): AttentionRow;
}

/** Content of a row. */
export interface AttentionRow {
  name: string;
  /** Path of the object; undefined if it has no screen. */
  href?: string | undefined;
  /** State in words, with the time since which it lasts. */
  state: ComponentChildren;
  /** Kind of the object, reason, and related objects with links. */
  note: ComponentChildren;
  /** The next action, if the role may perform it. */
  action?: { href: string; label: string } | undefined;
}

export type TroubledMonitor = ReturnType<typeof listTroubledMonitors>[number];
export type MonitorIncident = ReturnType<typeof listOpenIncidentsOfMonitors>[number];

type EndedIncident = ReturnType<typeof listFailingWithoutIncident>[number];

/** Data that all kinds of entries are made from. */
export interface AttentionSource {
  reader: Reader;
  role: Role;
  /** Unix ms. */
  now: number;
  /** Components that are not operational. */
  components: readonly ShownComponent[];
  /** Open causes of the components that are not operational, by component id. */
  causes: ReadonlyMap<string, readonly CauseRow[]>;
  pageNames: CurrentState["pageNames"];
  monitors: readonly TroubledMonitor[];
  /** Open incidents by id, drafts included. */
  incidents: ReadonlyMap<string, OpenIncident>;
  incidentsOfMonitors: readonly MonitorIncident[];
  /** Numbers of monitors of open incidents by incident id. */
  outageCounts: CurrentState["outageCounts"];
  /** Resolved or deleted incidents by the id of a monitor that still fails. */
  without: ReadonlyMap<string, EndedIncident>;
  /** Longest time in the last 24 hours in which the server was offline. */
  offline: { startedAt: number; endedAt: number } | undefined;
  /** Ids of objects that an entry names already. Later entries leave them out. */
  named: Set<string>;
}
