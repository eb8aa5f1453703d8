import {
  MONITOR_TONES,
  type MonitorState,
  STATUS_TONES,
  type Tone,
  worstTone,
} from "../../base/status";
import { roleAllows } from "../../base/actor";
import { EXPIRES_SOON_MS } from "../../base/secrets";
import { getMonitorRecord, type MonitorRecord } from "../../features/monitors/records";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { Day, relativeTime } from "../../ui/times";
import { STATUS_WORDS } from "../../ui/blocks";
import { presetOf, reportPath } from "../../features/incidents/screens/paths";
import { UnreachableThrough } from "../monitors/state";
import { latencyInWords, targetOf } from "../monitors/words";
import {
  ANALYTICS_PATH,
  componentPath,
  incidentPath,
  monitorPath,
  MONITORS_PATH,
} from "../../ui/frame/paths";
import {
  type AttentionEntry,
  type AttentionRow,
  type AttentionSource,
  type MonitorIncident,
  type TroubledMonitor,
} from "./attention-source";
import type { ShownComponent } from "./current-state";
import { Elapsed, elapsed, LastUpdate, Links } from "./parts";

const STATE_WORDS: Readonly<Partial<Record<MonitorState, string>>> = {
  down: "Down",
  degraded: "Slow",
  unreachable: "Unreachable",
};

const isTroubled = ({ state }: TroubledMonitor) => STATE_WORDS[state] !== undefined;

/** A troubled monitor with its effect. */
interface Trouble {
  monitor: TroubledMonitor;
  /** Components of which it decides the status. */
  touched: readonly ShownComponent[];
  /** Open incident of its outage. */
  incident: MonitorIncident | undefined;
}

/**
 * Entries of monitors that are down, slow, or unreachable with an effect on components. Those that are down and share
 * an incident share an entry. Each names the components and open incidents of its monitors, which then have no entries
 * of their own.
 */
export function monitorRows(source: AttentionSource): AttentionEntry[] {
  const { components, incidentsOfMonitors, named } = source;
  const failing = incidentsOfMonitors.filter(({ isFailing }) => isFailing === 1);
  const incidents = Map.groupBy(failing, ({ monitorId }) => monitorId);
  const marked = new Map<string, ShownComponent[]>();
  for (const component of components) {
    for (const { source: kind, sourceId, status } of source.causes.get(component.id) ?? []) {
      if (kind !== "monitor" || status !== component.status) continue;
      const own = marked.get(sourceId) ?? [];
      own.push(component);
      marked.set(sourceId, own);
    }
  }
  const troubles = source.monitors.filter(isTroubled).flatMap((monitor): Trouble[] => {
    const own = incidents.get(monitor.id) ?? [];
    const touched = marked.get(monitor.id) ?? [];
    // The monitor through which it is unreachable has an entry.
    if (monitor.state === "unreachable" && touched.length === 0) return [];
    for (const { id } of touched) named.add(id);
    for (const { incidentId } of own) named.add(incidentId);
    return [{ monitor, touched, incident: monitor.state === "down" ? own[0] : undefined }];
  });
  const groups = Map.groupBy(troubles, ({ incident }) => incident?.incidentId);
  return Array.from(groups, ([incidentId, group]): AttentionEntry[] => {
    const [first] = group;
    if (incidentId !== undefined && first?.incident && group.length > 1) {
      const { incident } = first;
      return [
        {
          kind: incident.isDraft ? "draft" : "incident",
          tone: toneOf(group),
          since: Math.min(...group.map(({ monitor }) => monitor.since)),
          read: () => sharedRow(source, incident, group),
        },
      ];
    }
    return group.map((trouble) => ({
      kind: "monitor",
      tone: toneOf([trouble]),
      since: trouble.monitor.since,
      read: () => monitorRow(source, trouble.monitor, incidents.get(trouble.monitor.id)?.[0]),
    }));
  }).flat();
}

function toneOf(troubles: readonly Trouble[]): Tone {
  return worstTone(
    troubles.flatMap(({ monitor, touched }) => [
      MONITOR_TONES[monitor.state],
      ...touched.map(({ status }) => STATUS_TONES[status]),
    ]),
  );
}

/** Row of several monitors that are down in one incident. */
function sharedRow(
  { incidents, now, role }: AttentionSource,
  { incidentId: id, incidentName: name, isDraft }: MonitorIncident,
  group: readonly Trouble[],
): AttentionRow {
  const href = incidentPath(id);
  const oldest = group.toSorted((a, b) => a.monitor.since - b.monitor.since);
  const since = Math.min(...group.map(({ monitor }) => monitor.since));
  const touched = new Map(
    oldest.flatMap((trouble) => trouble.touched.map((component) => [component.id, component])),
  );
  return {
    name,
    href,
    state: (
      <>
        {plural(group.length, "monitor")} down for <Elapsed since={since} now={now} />
      </>
    ),
    note: (
      <>
        {isDraft ? "Draft" : "Incident"} ·{" "}
        <Links
          items={oldest.map(({ monitor }) => ({
            href: monitorPath(monitor.id),
            name: monitor.name,
          }))}
        />
        {isDraft ? null : <LastUpdate at={incidents.get(id)?.updateAt ?? null} now={now} />}.
        {touched.size === 0 ? null : (
          <>
            {" "}
            They mark <Links items={[...touched.values()].map(componentLink)} />.
          </>
        )}
      </>
    ),
    action: roleAllows(role, "editor")
      ? { href, label: isDraft ? "Review draft" : "Post update" }
      : undefined,
  };
}

function componentLink({ id, name, status }: Pick<ShownComponent, "id" | "name" | "status">) {
  return { href: componentPath(id), name: `${name} (${STATUS_WORDS[status].toLowerCase()})` };
}

function monitorRow(
  { reader, role, now, incidents, without }: AttentionSource,
  { id, name, state, since }: TroubledMonitor,
  own: MonitorIncident | undefined,
): AttentionRow {
  const record = getMonitorRecord(reader, id);
  const canReport = roleAllows(role, "editor");
  const incident = own && incidents.get(own.incidentId);
  const ended = own ? undefined : without.get(id);
  const action = !own
    ? { href: reportPath(presetOf(record)), label: "Report incident" }
    : own.isDraft
      ? { href: incidentPath(own.incidentId), label: "Review draft" }
      : { href: incidentPath(own.incidentId), label: "Post update" };
  return {
    name,
    href: monitorPath(id),
    state: (
      <>
        {STATE_WORDS[state]} for <Elapsed since={since} now={now} />
      </>
    ),
    note: (
      <>
        Monitor · <UnreachableThrough record={record} />
        {reasonOf(record)} <SetComponents record={record} />
        {own ? (
          <>
            {" "}
            {own.isDraft ? "Draft: " : "Reported in "}
            <a href={incidentPath(own.incidentId)}>{own.incidentName}</a>
            {incident && !own.isDraft ? <LastUpdate at={incident.updateAt} now={now} /> : null}.
          </>
        ) : null}
        {ended ? (
          <>
            {" "}
            {ended.isDeleted === 1 ? (
              ended.incidentName
            ) : (
              <a href={incidentPath(ended.incidentId)}>{ended.incidentName}</a>
            )}{" "}
            was {ended.isDeleted === 1 ? "deleted" : "resolved"} while it was down.
          </>
        ) : null}
      </>
    ),
    action: canReport ? action : undefined,
  };
}

/** Maximum number of characters shown of a message. */
const MESSAGE_SHOWN = 120;

/** Returns the target of a monitor and its last result, as a sentence. */
function reasonOf({ row, state, lastCheck }: MonitorRecord): string {
  const target = targetOf(row);
  if (state.state === "degraded" && lastCheck && lastCheck.latencyMs !== null) {
    return `${target} responds in ${latencyInWords(lastCheck.latencyMs)}.`;
  }
  if (!lastCheck?.message) return `${target}.`;
  const message = [...lastCheck.message].slice(0, MESSAGE_SHOWN).join("");
  return `${target}: ${/[.!?]$/.test(message) ? message : `${message}.`}`;
}

/** Sentence about the components whose status a monitor sets. */
function SetComponents({ record: { components } }: { record: MonitorRecord }) {
  if (components.length === 0) {
    return <>It marks no component: the public page does not show this.</>;
  }
  return (
    <>
      It marks <Links items={components.map(componentLink)} />.
    </>
  );
}

/** Entries of certificates that expire soon, except those of monitors with an entry of their own. */
export function certificateRows({ monitors, reader, now }: AttentionSource): AttentionEntry[] {
  return monitors.flatMap((monitor) => {
    const { id, name, certificateExpiresAt: at } = monitor;
    if (at === null || isTroubled(monitor) || at >= now + EXPIRES_SOON_MS) return [];
    const isOver = at <= now;
    return {
      kind: "monitor",
      tone: isOver ? "partial" : "degraded",
      since: at - EXPIRES_SOON_MS,
      read: () => ({
        name,
        href: monitorPath(id),
        state: isOver
          ? `Certificate expired ${relativeTime(at, now)}`
          : `Certificate expires ${relativeTime(at, now)}`,
        note: (
          <>
            Monitor · {targetOf(getMonitorRecord(reader, id).row)}, valid until{" "}
            <Day at={toIso(at)} />
          </>
        ),
        action: { href: monitorPath(id), label: "Open monitor" },
      }),
    };
  });
}

/** Entry of the longest time in which the server did not run. */
export function offlineRows({ offline, now }: AttentionSource): AttentionEntry[] {
  if (!offline) return [];
  const { startedAt, endedAt } = offline;
  return [
    {
      kind: "monitor",
      tone: "degraded",
      since: endedAt,
      read: () => ({
        name: "Allclear",
        href: MONITORS_PATH,
        state: `Offline for ${elapsed(startedAt, endedAt)}`,
        note: (
          <>
            Server · no monitor ran until <Elapsed since={endedAt} now={now} /> ago. That time is
            shown as no data and is not part of the uptime.
          </>
        ),
        action: { href: ANALYTICS_PATH, label: "See uptime" },
      }),
    },
  ];
}
