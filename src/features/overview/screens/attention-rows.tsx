import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../../base/actor";
import {
  IMPACT_TONES,
  MONITOR_TONES,
  type MonitorState,
  STATUS_TONES,
  type Tone,
  worstTone,
} from "../../../base/status";
import { plural } from "../../../base/text";
import { EXPIRES_SOON_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { INCIDENT_WORDS } from "../../../public/state";
import { monitorWord, STATUS_WORDS } from "../../../ui/blocks";
import {
  ANALYTICS_PATH,
  componentPath,
  incidentPath,
  keyPath,
  monitorPath,
  MONITORS_PATH,
  reportPath,
  webhookPath,
  withQuery,
} from "../../../ui/frame/paths";
import { Day, relativeTime } from "../../../ui/times";
import type { CauseRow } from "../../components/cause-store";
import type { listFailingWithoutIncident } from "../../incidents/outage-store";
import { presetOf } from "../../incidents/screens/list";
import type { OpenIncident } from "../../incidents/store";
import { KeyExpiry } from "../../keys/screens/detail";
import type {
  listOpenIncidentsOfMonitors,
  listTroubledMonitors,
} from "../../monitors/overview-store";
import { getMonitorRecord, type MonitorRecord } from "../../monitors/records";
import {
  Acknowledged,
  AcknowledgeLink,
  isUnacknowledged,
  latencyInWords,
  targetOf,
  UnreachableThrough,
} from "../../monitors/screens/words";
import { findMonitor } from "../../monitors/store";
import { listExpiringKeyRows } from "../../users/store";
import { lastFailure } from "../../webhooks/health";
import { describeFailure } from "../../webhooks/screens/delivery";
import { type DeliveryTrouble, readDeliveryTroubles } from "../../webhooks/screens/read";
import type { CurrentState, ShownComponent } from "./current-state";
import { Elapsed, elapsed, Links } from "./parts";

/* Rows of “Needs attention”: an entry is cheap to make, and its row is read only if it is shown. */

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

type TroubledMonitor = ReturnType<typeof listTroubledMonitors>[number];
type MonitorIncident = ReturnType<typeof listOpenIncidentsOfMonitors>[number];

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

/**
 * Entries of components that are not operational, except those under maintenance and those that
 * the entry of a monitor names. Several components of one incident share an entry, and have none if all outages of
 * the incident have ended.
 */
export function componentRows(source: AttentionSource): AttentionEntry[] {
  const { components, named, now } = source;
  const troubled = components.filter(
    ({ id, status }) => status !== "under_maintenance" && !named.has(id),
  );
  if (troubled.length === 0) return [];
  const sinceOf = (component: ShownComponent) => {
    const starts = causesOf(source, component).map(({ startedAt }) => startedAt);
    return starts.length === 0 ? component.updatedAt : Math.min(...starts);
  };
  const byIncident = Map.groupBy(troubled, (component) => incidentOf(source, component)?.id);
  return Array.from(byIncident, ([incidentId, group]): AttentionEntry[] => {
    const incident = incidentId === undefined ? undefined : source.incidents.get(incidentId);
    // The entry of the incident offers to resolve it.
    if (incident && source.outageCounts.get(incident.id)?.open === 0) return [];
    if (incident) named.add(incident.id);
    if (incident && group.length > 1) {
      const since = Math.min(...group.map(sinceOf));
      const tone = worstTone(group.map(({ status }) => STATUS_TONES[status]));
      return [
        {
          kind: "component",
          tone,
          since,
          read: () => sharedRow(source, incident, group, since),
        },
      ];
    }
    return group.map((component) => ({
      kind: "component",
      tone: STATUS_TONES[component.status],
      since: sinceOf(component),
      read: () => componentRow(source, component, incident, sinceOf(component)),
    }));
  }).flat();

  function sharedRow(
    { role }: AttentionSource,
    incident: OpenIncident,
    group: readonly ShownComponent[],
    since: number,
  ): AttentionRow {
    return {
      name: incident.name,
      href: incidentPath(incident.id),
      state: (
        <>
          {group.length} components for <Elapsed since={since} now={now} />
        </>
      ),
      note: (
        <>
          Incident · <Links items={group.map(componentLink)} />
          <LastUpdate at={incident.updateAt} now={now} />.
        </>
      ),
      action: roleAllows(role, "editor") ? updateOf(incident) : undefined,
    };
  }
}

/** Time since an incident's newest update, as the end of a clause. */
function LastUpdate({ at, now }: { at: number | null; now: number }) {
  if (at === null) return null;
  return (
    <>
      , last update <Elapsed since={at} now={now} /> ago
    </>
  );
}

/** Returns the open causes that give a component its status. */
function causesOf({ causes }: AttentionSource, { id, status }: ShownComponent): CauseRow[] {
  return (causes.get(id) ?? []).filter((cause) => cause.status === status);
}

function componentRow(
  source: AttentionSource,
  component: ShownComponent,
  incident: OpenIncident | undefined,
  since: number,
): AttentionRow {
  const { role, now, pageNames } = source;
  const { id, name, status, pageId } = component;
  const path = componentPath(id);
  const pageName = pageNames?.get(pageId);
  const action = incident ? updateOf(incident) : { href: path, label: "Set status" };
  return {
    name,
    href: path,
    state: (
      <>
        {STATUS_WORDS[status]} for <Elapsed since={since} now={now} />
      </>
    ),
    note: (
      <>
        Component{pageName === undefined ? "" : ` of ${pageName}`} ·{" "}
        <Reason source={source} component={component} incident={incident} />
      </>
    ),
    action: roleAllows(role, "editor") ? action : undefined,
  };
}

interface ReasonProps {
  source: AttentionSource;
  component: ShownComponent;
  incident: OpenIncident | undefined;
}

/** Reason of a component's status, as a sentence. */
function Reason({ source, component, incident }: ReasonProps) {
  const { reader, now } = source;
  if (incident) {
    return (
      <>
        Reported in <a href={incidentPath(incident.id)}>{incident.name}</a>
        <LastUpdate at={incident.updateAt} now={now} />.
      </>
    );
  }
  const [cause] = causesOf(source, component);
  if (cause?.source === "monitor") {
    const monitor = findMonitor(reader, { id: cause.sourceId });
    return (
      <>
        Set by the monitor{" "}
        {monitor ? <a href={monitorPath(monitor.id)}>{monitor.name}</a> : "that was deleted"}, which
        has no newer result.
      </>
    );
  }
  if (cause?.source === "api") return <>Set by the API. No open incident reports this.</>;
  if (cause?.source === "import") return <>Imported. No open incident reports this.</>;
  return <>Set by hand. No open incident reports this.</>;
}

/** Finds the open incident that gives a component its status. */
function incidentOf(source: AttentionSource, component: ShownComponent): OpenIncident | undefined {
  const cause = causesOf(source, component).find((each) => each.source === "incident");
  return cause && source.incidents.get(cause.sourceId);
}

/** Returns the action for a published incident. */
function updateOf({ id }: Pick<OpenIncident, "id">): AttentionRow["action"] {
  return { href: incidentPath(id), label: "Post update" };
}

/**
 * Returns the monitors of an incident of which all outages have ended, the last one to recover first; undefined while
 * an outage lasts, and for an incident without outages.
 */
function findRecovered(
  { incidentsOfMonitors, outageCounts }: AttentionSource,
  id: string,
): readonly MonitorIncident[] | undefined {
  if (outageCounts.get(id)?.open !== 0) return undefined;
  return incidentsOfMonitors
    .filter(({ incidentId, monitorState }) => incidentId === id && isUp(monitorState))
    .toSorted((a, b) => b.monitorSince - a.monitorSince);
}

const isUp = (state: MonitorState) => state === "up" || state === "degraded";

/**
 * Entries of published open incidents that no other row names. If all outages of an incident have ended, the entry
 * offers to resolve it.
 */
export function incidentRows(source: AttentionSource): AttentionEntry[] {
  const { incidents, named, now, role, pageNames } = source;
  const canWrite = roleAllows(role, "editor");
  return [...incidents.values()].flatMap((incident): AttentionEntry[] => {
    const { id, name, status, startedAt, impact, pageId, updateAt } = incident;
    if (incident.isDraft || named.has(id)) return [];
    const recovered = findRecovered(source, id);
    const pageName = pageNames?.get(pageId);
    return [
      {
        kind: "incident",
        tone: IMPACT_TONES[impact],
        since: startedAt,
        read: () => ({
          name,
          href: incidentPath(id),
          state: (
            <>
              {INCIDENT_WORDS[status]} for <Elapsed since={startedAt} now={now} />
            </>
          ),
          note: (
            <>
              Incident{pageName === undefined ? "" : ` of ${pageName}`} ·{" "}
              {recovered ? <Recovered monitors={recovered} now={now} /> : "Open"}
              <LastUpdate at={updateAt} now={now} />.
            </>
          ),
          action: !canWrite
            ? undefined
            : recovered
              ? { href: withQuery(incidentPath(id), { status: "resolved" }), label: "Resolve" }
              : updateOf(incident),
        }),
      },
    ];
  });
}

function Recovered({ monitors, now }: { monitors: readonly MonitorIncident[]; now: number }) {
  const [last] = monitors;
  if (!last) return <>All outages have ended</>;
  return (
    <>
      <Links
        items={monitors.map(({ monitorId, monitorName }) => ({
          href: monitorPath(monitorId),
          name: monitorName,
        }))}
      />{" "}
      {monitors.length === 1 ? "has" : "have"} been up for{" "}
      <Elapsed since={last.monitorSince} now={now} />
    </>
  );
}

/** Entries of drafts that no other row names. */
export function draftRows(source: AttentionSource): AttentionEntry[] {
  const { incidents, named, now, pageNames, role } = source;
  return [...incidents.values()].flatMap((incident: OpenIncident): AttentionEntry[] => {
    const { id, name, createdAt, pageId } = incident;
    if (!incident.isDraft || named.has(id)) return [];
    const recovered = findRecovered(source, id);
    const pageName = pageNames?.get(pageId);
    return [
      {
        kind: "draft",
        tone: "none",
        since: createdAt,
        read: () => ({
          name,
          href: incidentPath(id),
          state: (
            <>
              Draft for <Elapsed since={createdAt} now={now} />
            </>
          ),
          note: (
            <>
              Incident{pageName === undefined ? "" : ` of ${pageName}`} · Private until published.
              {recovered ? (
                <>
                  {" "}
                  <Recovered monitors={recovered} now={now} />.
                </>
              ) : null}
            </>
          ),
          action: roleAllows(role, "editor")
            ? { href: incidentPath(id), label: "Review draft" }
            : undefined,
        }),
      },
    ];
  });
}

const TROUBLED: ReadonlySet<MonitorState> = new Set(["down", "degraded", "unreachable"]);

const isTroubled = ({ state }: TroubledMonitor) => TROUBLED.has(state);

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
  const seen = group.filter(({ monitor }) => monitor.isAcknowledged === 1).length;
  const touched = new Map(
    oldest.flatMap((trouble) => trouble.touched.map((component) => [component.id, component])),
  );
  return {
    name,
    href,
    state: (
      <>
        {plural(group.length, "monitor")} down for <Elapsed since={since} now={now} />
        {seen === 0 ? null : `, ${seen === group.length ? "all" : seen} acknowledged`}
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
        {monitorWord(state, record.row.type)} for <Elapsed since={since} now={now} />
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
        <Seen record={record} canAcknowledge={canReport} now={now} />
      </>
    ),
    action: canReport ? action : undefined,
  };
}

/** Sentence about the acknowledgement of an outage, or the link to acknowledge it. */
function Seen(props: { record: MonitorRecord; canAcknowledge: boolean; now: number }) {
  const { record, canAcknowledge, now } = props;
  const { acknowledgement } = record.state;
  if (acknowledgement) {
    return (
      <>
        {" "}
        It is <Acknowledged acknowledgement={acknowledgement} now={now} />.
      </>
    );
  }
  if (!canAcknowledge || !isUnacknowledged(record.state)) return null;
  return (
    <>
      {" "}
      <AcknowledgeLink id={record.row.id} />
    </>
  );
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
            <Day at={toIso(at)} />.
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

/** Maximum number of expiring keys that are read and counted. */
const KEYS_READ = 100;

/**
 * Entries of webhooks that receive no events. Roles that may not open webhooks get one entry
 * without names.
 */
export function webhookRows(source: AttentionSource): AttentionEntry[] {
  const { reader, role, now } = source;
  const troubles = readDeliveryTroubles(reader, now);
  const toneOf = ({ disabledReason }: DeliveryTrouble) =>
    disabledReason === undefined ? "partial" : "major";
  if (roleAllows(role, "admin")) {
    return troubles.map((trouble) => ({
      kind: "webhook",
      tone: toneOf(trouble),
      since: trouble.since,
      read: () => webhookRow(source, trouble),
    }));
  }
  const [first] = troubles;
  if (!first) return [];
  return [
    {
      kind: "webhook",
      tone: troubles.some((trouble) => toneOf(trouble) === "major") ? "major" : "partial",
      since: Math.min(...troubles.map(({ since }) => since)),
      read: () => ({
        name: "Notifications",
        state: `Events do not reach ${plural(troubles.length, "webhook")}`,
        note: "Some programs or channels do not receive notifications. Ask an admin to check the webhooks.",
      }),
    },
  ];
}

function webhookRow(
  { reader, now }: AttentionSource,
  { id, name, since, disabledReason, waiting }: DeliveryTrouble,
): AttentionRow {
  const failure = lastFailure(reader, id);
  return {
    name,
    href: webhookPath(id),
    state: (
      <>
        {disabledReason === undefined ? "Failing" : "Disabled"} for{" "}
        <Elapsed since={since} now={now} />
      </>
    ),
    note:
      disabledReason === undefined ? (
        <>
          Webhook · {plural(waiting?.count ?? 0, "pending event")}
          {waiting ? (
            <>
              , the oldest queued <Elapsed since={waiting.oldestAt} now={now} /> ago
            </>
          ) : null}
          .{failure ? ` Last attempt: ${describeFailure(failure).replace(/\.$/, "")}.` : ""}
        </>
      ) : (
        <>Webhook · {disabledReason} No events are sent until you enable the webhook.</>
      ),
    action: { href: webhookPath(id), label: waiting ? "See deliveries" : "Open webhook" },
  };
}

/** Entries of API keys that expire soon, for roles that may open them. */
export function keyRows({ reader, role, now }: AttentionSource): AttentionEntry[] {
  if (!roleAllows(role, "admin")) return [];
  const soon = { now, until: now + EXPIRES_SOON_MS, limit: KEYS_READ };
  return listExpiringKeyRows(reader, soon).map(({ id, name, expiresAt }): AttentionEntry => ({
    kind: "key",
    tone: "degraded",
    since: expiresAt - EXPIRES_SOON_MS,
    read: () => ({
      name,
      href: keyPath(id),
      state: `Expires ${relativeTime(expiresAt, now)}`,
      note: (
        <>
          API key · valid until <KeyExpiry at={toIso(expiresAt)} />. Programs that use it are
          rejected afterwards.
        </>
      ),
      action: { href: keyPath(id), label: "Open key" },
    }),
  }));
}
