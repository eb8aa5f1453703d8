import { type ComponentStatus, isPassive } from "../../../base/status";
import { SECOND_MS } from "../../../base/time";
import { matchesMonitor } from "../../../base/webhook";
import type { Reader } from "../../../db/statements";
import { listOpenCausesOfSource } from "../../components/cause-store";
import { findComponent } from "../../components/store";
import { findSourceOf } from "../../../imports/store";
import { type DockerMonitorRow, findDockerMonitor } from "../../docker-labels/store";
import { listIncidentsOfOutage } from "../../incidents/outage-store";
import { receivesKind } from "../../webhooks/monitors";
import { findPausedUntil } from "../../webhooks/records";
import { findLocation } from "../../locations/store";
import { listAllWebhooks, type WebhookRow } from "../../webhooks/store";
import { listShownAlerts, type OpenAlertRow } from "../alerts/alert-store";
import { type AgentContact, type ContactSource, readContact } from "../agent-contact";
import { listNewestSpans } from "../spans-store";
import { listDependents } from "../dependency-store";
import { pageIdOf } from "../engine/transitions";
import { type LatencyFigures, latencyOfEach } from "../latency";
import {
  listChecksAt,
  listStatesAtLocations,
  type LocatedCheck,
  type MonitorLocation,
  type StateAtLocation,
} from "../monitor-locations";
import { listIncidentsOfMonitor, WORST_FIRST } from "../overview-store";
import { graceSecondsOf, occurrencesOf } from "../probes/push";
import { getMonitorRecord, type MonitorRecord } from "../records";
import {
  type StateSpan,
  type StateTimes,
  timesByInterval,
  timesByState,
  type Trouble,
  troublesOf,
} from "../uptime";
import { listRuns, listSignals, type SignalRow } from "../job-store";
import { type MonitorToken, tokensOf } from "../tokens";
import { ALERTS_SHOWN } from "./alerts";
import type { Range } from "./range";

const CHECKS_SHOWN = 15;
const SIGNALS_SHOWN = 15;
const TROUBLES_SHOWN = 20;
const INCIDENTS_READ = 50;
/**
 * Maximum number of changes of state that are read, newest first: 10,000 take 7 ms. A monitor that
 * changes at each check may have 500,000 in a month.
 */
const SPANS_MAX = 10_000;

/** Component whose status a monitor sets. */
interface MonitoredComponent {
  id: string;
  name: string;
  /** Current status of the component. */
  status: ComponentStatus;
  /** Status that the monitor gives the component now. */
  ownStatus: ComponentStatus | undefined;
}

type OwnIncident = ReturnType<typeof listIncidentsOfMonitor>[number];

/** Outage, slow or unreachable time with the incident that the monitor had open. */
export interface ListedTrouble extends Trouble {
  incident: OwnIncident | undefined;
}

/** Signals and open runs of the job of a push monitor. */
export interface JobView {
  /** Last signals, newest first. */
  signals: readonly SignalRow[];
  /** Open runs, newest first; late after the grace period. */
  runs: readonly { rid: string; startedAt: number; isLate: boolean }[];
  /** Time of the schedule after the last report, or after the creation, in unix ms; undefined without one. */
  dueAt: number | undefined;
}

/** One monitor with the related data that its screen shows. */
export interface MonitorView {
  record: MonitorRecord;
  range: Range;
  components: readonly MonitoredComponent[];
  /** Timeline within the range, oldest first. */
  spans: readonly StateSpan[];
  /** Start of the timeline if there are too many changes to read them all. */
  cutAt: number | undefined;
  /** Time in each state within the range, and within each of its steps. */
  times: StateTimes;
  stepTimes: readonly StateTimes[];
  /** Listed outages, slow and unreachable times within the range, newest first; `troubleCount` counts all. */
  troubles: readonly ListedTrouble[];
  troubleCount: number;
  outageCount: number;
  /** Figures for each step of the range. `total` covers the whole range. */
  latency: readonly LatencyFigures[];
  total: LatencyFigures;
  /** Last results, newest first: of one location, or of all. */
  checks: readonly LocatedCheck[];
  /** Location whose results and figures are shown; undefined for all. */
  location: MonitorLocation | undefined;
  /** Evaluation at each location; none if only the server checks it. */
  atLocations: readonly LocationView[];
  /** Undefined for types other than push. */
  job: JobView | undefined;
  /** Open alerts; undefined for types other than alert. */
  alerts: readonly OpenAlertRow[] | undefined;
  /** Tokens with which others report; undefined for types that do not wait for reports. */
  tokens: readonly MonitorToken[] | undefined;
  /** Incidents to which outages of the monitor belong, newest first. */
  incidents: readonly OwnIncident[];
  /** Incidents of the present outage; resolved and deleted ones if that happened by hand. */
  present: ReturnType<typeof listIncidentsOfOutage>;
  /** Monitors that depend on this one, the worst state first. */
  dependents: ReturnType<typeof listDependents>;
  /** Webhooks that get messages about this monitor. */
  webhooks: readonly (WebhookRow & { pausedUntil: number | null })[];
  /** Source from which the monitor was imported; undefined for others. */
  origin: ReturnType<typeof findSourceOf>;
  /** Container whose labels declare the monitor; undefined for others. */
  container: DockerMonitorRow | undefined;
}

/** Evaluation of a monitor at one location, with the contact of its agent. */
export interface LocationView extends StateAtLocation {
  /** Undefined for the server. */
  agent: AgentContact | undefined;
}

/** Reads a monitor for its screen. Throws `not_found`. */
export function readMonitorView(
  reader: Reader,
  id: string,
  range: Range,
  now: number,
  agents: ContactSource,
): MonitorView {
  const record = getMonitorRecord(reader, id);
  const { num } = record.row;
  const location = record.locations.find(({ ref }) => ref === range.location);
  const read = listNewestSpans(reader, {
    monitorNum: num,
    ...range.span,
    limit: SPANS_MAX + 1,
  }).toReversed();
  const isCut = read.length > SPANS_MAX;
  const spans = isCut ? read.slice(1) : read;
  const troubles = troublesOf(spans, range.span, now).toReversed();
  const incidents = listIncidentsOfMonitor(reader, { monitorId: id, limit: INCIDENTS_READ });
  const { each, total } = latencyOfEach(reader, [num], range.steps, location?.id);
  return {
    record,
    range,
    components: readMonitoredComponents(reader, record),
    spans,
    cutAt: isCut ? spans[0]?.startedAt : undefined,
    times: timesByState(spans, range.span),
    stepTimes: timesByInterval(spans, range.steps),
    troubles: troubles.slice(0, TROUBLES_SHOWN).map((trouble) => ({
      ...trouble,
      incident: incidents.find((incident) => isDuring(incident, trouble)),
    })),
    troubleCount: troubles.length,
    outageCount: troubles.filter(({ state }) => state === "down").length,
    latency: each[0] ?? [],
    total,
    checks: listChecksAt(reader, record, { location, limit: CHECKS_SHOWN }),
    location,
    atLocations: listStatesAtLocations(reader, record).map((each) => {
      const row = findLocation(reader, { id: each.location.id });
      return { ...each, agent: row && readContact(row, agents) };
    }),
    job: record.row.type === "push" ? readJob(reader, record, now) : undefined,
    alerts:
      record.row.type === "alert"
        ? listShownAlerts(reader, { monitorNum: num, limit: ALERTS_SHOWN + 1 })
        : undefined,
    tokens: isPassive(record.row.type) ? tokensOf(reader, id) : undefined,
    incidents,
    present: listIncidentsOfOutage(reader, { monitorId: id }),
    dependents: listDependents(reader, { parentId: id }).sort(
      (a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state),
    ),
    webhooks: listNotified(reader, record).map((row) => ({
      ...row,
      pausedUntil: findPausedUntil(reader, row, now),
    })),
    origin: record.row.managedBy === "import" ? findSourceOf(reader, { id }) : undefined,
    container: findContainerOf(reader, record),
  };
}

/** Returns the container whose labels declare a monitor; undefined for monitors of others. */
export function findContainerOf(
  reader: Reader,
  { row: { id, managedBy } }: MonitorRecord,
): DockerMonitorRow | undefined {
  return managedBy === "docker" ? findDockerMonitor(reader, { monitorId: id }) : undefined;
}

function readJob(reader: Reader, { row, state }: MonitorRecord, now: number): JobView {
  const { num, config, createdAt } = row;
  const graceMs = graceSecondsOf(config) * SECOND_MS;
  return {
    signals: listSignals(reader, { monitorNum: num, limit: SIGNALS_SHOWN }),
    runs: listRuns(reader, { monitorNum: num }).map(({ rid, startedAt }) => ({
      rid,
      startedAt,
      isLate: startedAt + graceMs <= now,
    })),
    dueAt: occurrencesOf(config)?.next(state.heartbeatAt ?? createdAt),
  };
}

/** Returns true if an incident was open during an outage. Slow times open none. */
function isDuring({ startedAt, resolvedAt }: OwnIncident, trouble: Trouble): boolean {
  return (
    trouble.state === "down" &&
    startedAt <= (trouble.endedAt ?? Number.POSITIVE_INFINITY) &&
    (resolvedAt ?? Number.POSITIVE_INFINITY) > trouble.startedAt
  );
}

/** Lists the webhooks that get messages about a monitor, or about the incidents that it opens, oldest first. */
export function listNotified(reader: Reader, record: MonitorRecord): WebhookRow[] {
  return listAllWebhooks(reader, {}).filter((webhook) => notifies(webhook, record));
}

function notifies(webhook: WebhookRow, record: MonitorRecord): boolean {
  const { pageId, monitors } = webhook;
  const { row, components } = record;
  const isOfPage = pageId === null || pageIdOf(record) === pageId;
  if (isOfPage && receivesKind(webhook, "monitor") && matchesMonitor(monitors, row.id)) return true;
  const opensIncidents =
    row.openIncident !== "never" &&
    components.some((component) => pageId === null || component.pageId === pageId);
  return opensIncidents && receivesKind(webhook, "incident");
}

function readMonitoredComponents(
  reader: Reader,
  { row, components }: MonitorRecord,
): MonitoredComponent[] {
  const statuses = new Map(
    listOpenCausesOfSource(reader, { source: "monitor", sourceId: row.id }).map((cause) => [
      cause.componentId,
      cause.status,
    ]),
  );
  return components.flatMap(({ id, name }) => {
    const component = findComponent(reader, { id });
    return component ? [{ id, name, status: component.status, ownStatus: statuses.get(id) }] : [];
  });
}
