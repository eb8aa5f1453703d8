import type { Role } from "../../../base/actor";
import { sum } from "../../../base/numbers";
import { DAY_MS, EXPIRES_SOON_MS } from "../../../base/time";
import { TONES, worstTone } from "../../../base/status";
import { plural } from "../../../base/text";
import type { Reader } from "../../../db/statements";
import { Shape } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import {
  COMPONENTS_PATH,
  INCIDENTS_PATH,
  KEYS_PATH,
  MONITORS_PATH,
  WEBHOOKS_PATH,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { listOpenCausesOf } from "../../components/cause-store";
import { listFailingWithoutIncident } from "../../incidents/outage-store";
import { SERVER_OFFLINE } from "../../monitors/engine/stalls";
import { findLongestGap } from "../../monitors/spans-store";
import { listOpenIncidentsOfMonitors, listTroubledMonitors } from "../../monitors/overview-store";
import {
  type AttentionEntry,
  type AttentionKind,
  type AttentionRow,
  type AttentionSource,
  certificateRows,
  componentRows,
  draftRows,
  incidentRows,
  keyRows,
  monitorRows,
  offlineRows,
  webhookRows,
} from "./attention-rows";
import type { CurrentState } from "./current-state";

/** Maximum number of rows; further entries are counted. */
const ROWS_MAX = 25;

/** Row that is shown. */
type ShownRow = AttentionRow & Pick<AttentionEntry, "tone" | "kind">;

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

/** List that shows all objects of a kind, and the noun for counting them, by kind. */
const LISTS: Readonly<Record<AttentionKind, { href: string; noun: string }>> = {
  monitor: { href: MONITORS_PATH, noun: "monitor" },
  component: { href: COMPONENTS_PATH, noun: "component" },
  incident: { href: `${INCIDENTS_PATH}?show=open`, noun: "incident" },
  draft: { href: `${INCIDENTS_PATH}?show=drafts`, noun: "draft" },
  webhook: { href: WEBHOOKS_PATH, noun: "webhook" },
  key: { href: `${KEYS_PATH}?show=expiring`, noun: "API key" },
};

/** List of everything that needs attention, in the colour of the worst row. */
export function AttentionList({ attention }: { attention: Attention }) {
  const { count, rows } = attention;
  return (
    <section
      class={`card attention t-${worstTone(rows.map(({ tone }) => tone))}`}
      id="attention"
      aria-labelledby="attention-title"
    >
      <div class="card-head">
        <h2 id="attention-title">
          <Icon name="triangle-alert" />
          Needs attention <span class="count">{count.toLocaleString("en")}</span>
        </h2>
        <span class="muted">Worst first</span>
      </div>
      <ul class="rows">
        {rows.map((row) => (
          <AttentionItem key={`${row.kind} ${row.href} ${row.name}`} row={row} />
        ))}
        <More attention={attention} />
      </ul>
    </section>
  );
}

function AttentionItem({ row: { tone, name, href, state, note, action } }: { row: ShownRow }) {
  return (
    <li class="row">
      <Shape tone={tone} />
      <div>
        <p class="row-title">
          {href === undefined ? (
            <bdi>{name}</bdi>
          ) : (
            <a dir="auto" href={href}>
              {name}
            </a>
          )}{" "}
          <span class={`state t-${tone}`}>
            <span>{state}</span>
          </span>
        </p>
        <p class="row-note">{note}</p>
      </div>
      {action ? (
        <div class="row-side">
          <ButtonLink href={action.href}>
            {action.label}
            <span class="visually-hidden">: {name}</span>
          </ButtonLink>
        </div>
      ) : null}
    </li>
  );
}

function More({ attention: { hidden } }: { attention: Attention }) {
  if (hidden.size === 0) return null;
  const total = sum([...hidden.values()]);
  return (
    <li class="row-more">
      and {total.toLocaleString("en")} more:{" "}
      {Array.from(hidden, ([kind, count], index) => (
        <span key={kind}>
          {index > 0 ? ", " : ""}
          <a href={LISTS[kind].href}>{plural(count, LISTS[kind].noun)}</a>
        </span>
      ))}
    </li>
  );
}

/** Line shown instead of the list if nothing needs attention. */
export function Calm() {
  return (
    <section class="card calm" id="attention" aria-label="Needs attention">
      <Icon name="check" />
      <p>Nothing needs attention. What goes down, fails or expires soon appears here first.</p>
    </section>
  );
}
