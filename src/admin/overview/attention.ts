import type { Reader } from "../../db/statements";
import { EXPIRES_SOON_MS } from "../../base/secrets";
import type { Role } from "../../base/actor";
import { TONES } from "../../base/status";
import { listOpenCausesOf } from "../../features/components/cause-store";
import { listFailingWithoutIncident } from "../../features/incidents/outage-store";
import {
  findLongestGap,
  listOpenIncidentsOfMonitors,
  listTroubledMonitors,
} from "../../features/monitors/trouble-store";
import { SERVER_OFFLINE } from "../../features/monitors/engine/liveness";
import { DAY_MS } from "../../base/time";
import { componentRows } from "./attention-components";
import { draftRows, incidentRows } from "./attention-incidents";
import { certificateRows, monitorRows, offlineRows } from "./attention-monitors";
import { keyRows, webhookRows } from "./attention-settings";
import {
  type AttentionEntry,
  type AttentionKind,
  type AttentionRow,
  type AttentionSource,
} from "./attention-source";
import type { CurrentState } from "./current-state";

/** Maximum number of rows; further entries are counted. */
const ROWS_MAX = 25;

/** Row that is shown. */
export type ShownRow = AttentionRow & Pick<AttentionEntry, "tone" | "kind">;

/** Everything that needs attention. */
export interface Attention {
  /** Number of entries, shown or not. */
  count: number;
  /** Worst first, then newest: 25 at most. */
  rows: readonly ShownRow[];
  /** Number of entries that are not shown, by kind. */
  hidden: ReadonlyMap<AttentionKind, number>;
}

/** Reads everything that needs attention in the installation. */
export function readAttention(
  reader: Reader,
  { pageNames, components, openIncidents: open, outageCounts }: CurrentState,
  { role, now }: { role: Role; now: number },
): Attention {
  const troubled = components.filter(({ status }) => status !== "operational");
  const ids = troubled.map(({ id }) => id);
  const oldest = open.reduce((first, { id }) => (id < first ? id : first), open[0]?.id ?? "");
  const source: AttentionSource = {
    reader,
    role,
    now,
    components: troubled,
    causes: Map.groupBy(listOpenCausesOf(reader, ids), ({ componentId }) => componentId),
    pageNames,
    monitors: listTroubledMonitors(reader, { certificateUntil: now + EXPIRES_SOON_MS }),
    incidents: new Map(open.map((incident) => [incident.id, incident])),
    incidentsOfMonitors:
      open.length === 0 ? [] : listOpenIncidentsOfMonitors(reader, { from: oldest }),
    outageCounts,
    // A monitor of several pages can have several such incidents.
    without: new Map(listFailingWithoutIncident(reader, {}).map((row) => [row.monitorId, row])),
    offline: findLongestGap(reader, { since: now - DAY_MS, message: SERVER_OFFLINE }),
    named: new Set(),
  };
  // The order matters: each function adds objects to `named`, which the next ones leave out.
  const entries = [
    ...monitorRows(source),
    ...componentRows(source),
    ...incidentRows(source),
    ...draftRows(source),
    ...certificateRows(source),
    ...webhookRows(source),
    ...keyRows(source),
    ...offlineRows(source),
  ].sort((a, b) => TONES.indexOf(b.tone) - TONES.indexOf(a.tone) || b.since - a.since);
  const hidden = new Map<AttentionKind, number>();
  for (const { kind } of entries.slice(ROWS_MAX)) hidden.set(kind, (hidden.get(kind) ?? 0) + 1);
  return {
    count: entries.length,
    rows: entries
      .slice(0, ROWS_MAX)
      .map((entry) => ({ kind: entry.kind, tone: entry.tone, ...entry.read() })),
    hidden,
  };
}
