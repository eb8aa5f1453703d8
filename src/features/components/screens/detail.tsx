import { type Role, roleAllows } from "../../../base/actor";
import { percent } from "../../../base/numbers";
import {
  COMPONENT_STATUSES,
  IMPACT_TONES,
  listedTone,
  type MaintenanceStatus,
  MONITOR_TONES,
  STATUS_TONES,
} from "../../../base/status";
import { capitalised, plural } from "../../../base/text";
import { DAY_MS, HOUR_MS, isUtcZone, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { drawDays } from "../../../public/component-list";
import { IMPACT_WORDS, INCIDENT_WORDS, MAINTENANCE_WORDS } from "../../../public/state";
import {
  Chip,
  Columns,
  Facts,
  monitorWord,
  Notice,
  Section,
  Shape,
  STATUS_WORDS,
  StatusLabel,
} from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { DayBars } from "../../../ui/day-charts";
import { DetailCard, DetailRow, HeadFact, HeadFacts, MoreMenu } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import { FormFields } from "../../../ui/forms/fields";
import type { StateOf } from "../../../ui/forms/form";
import {
  componentPath,
  incidentPath,
  maintenancePath,
  monitorPath,
  NEW_MONITOR_PATH,
  pagePath,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { DenseDataTable } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { ManagedByFile } from "../../../ui/screens/form-screen";
import { Sparkline } from "../../../ui/charts";
import { lasting, RelativeTime, shortDay, useZone } from "../../../ui/times";
import { uptimeAnswer } from "../../analytics/analytics";
import { readPeriod } from "../../analytics/period";
import { findSubject } from "../../analytics/subject";
import { listIncidentsOfComponent } from "../../incidents/records";
import { ReportLink } from "../../incidents/screens/list";
import { findMaintenances } from "../../maintenance/records";
import { type LatencyFigures, latencyOfEach } from "../../monitors/latency";
import { type RecentTimes, recentTimesOf } from "../../monitors/overview";
import { WORST_FIRST } from "../../monitors/overview-store";
import { listMonitors, type MonitorRecord } from "../../monitors/records";
import { LastDay } from "../../monitors/screens/list";
import { latencyInWords, latencyOrNone, Since } from "../../monitors/screens/words";
import type { PageRow } from "../../pages/store";
import { type ComponentHistory, readComponentHistories, UPTIME_DAYS } from "../../status/histories";
import { listOpenCausesOfPage } from "../cause-store";
import { uptimeOfDays } from "../rules";
import type { ComponentRow } from "../store";
import type { ComponentChange } from "../wire";
import { COMPONENT_FORM } from "./forms";
import {
  CauseList,
  componentCrumbs,
  ComponentTags,
  effectiveCauses,
  type NamedCause,
  otherCauses,
} from "./view";

/** Id of the form for the settings. */
const SETTINGS_ID = "component-settings";

interface ComponentDetailProps {
  component: ComponentRow;
  page: PageRow;
  view: ComponentView;
  causes: readonly NamedCause[];
  /** Status changes, newest first. */
  changes: readonly ComponentChange[];
  /** Form for the settings, which only admins see. */
  state: StateOf<typeof COMPONENT_FORM>;
  role: Role;
  /** Unix ms. */
  now: number;
}

/** One component: its status with causes, monitors, incidents, history and settings. */
export function ComponentDetail(props: ComponentDetailProps) {
  const { component, page, view, changes, state, role, now } = props;
  const { id, name } = component;
  const isAdmin = roleAllows(role, "admin");
  return (
    <>
      <PageHead
        title={name}
        crumbs={componentCrumbs(page)}
        actions={<ComponentActions component={component} role={role} />}
      >
        <div id="component-state" data-live="">
          <Now {...props} />
        </div>
      </PageHead>
      <div class="slot" id="component-causes" data-live="">
        <Causes component={component} causes={props.causes} />
      </div>
      <Uptime name={name} view={view} />
      <Columns
        aside={
          <>
            <ResponseTime view={view} />
            <StatusChanges changes={changes} now={now} />
            <Details {...props} />
          </>
        }
      >
        <ComponentMonitors componentId={id} view={view} canAdd={isAdmin} now={now} />
        <ComponentEvents view={view} now={now} />
      </Columns>
      {isAdmin ? <Settings component={component} state={state} /> : null}
    </>
  );
}

function ComponentActions({ component, role }: { component: ComponentRow; role: Role }) {
  const { id, pageId } = component;
  if (!roleAllows(role, "editor")) return null;
  const isAdmin = roleAllows(role, "admin");
  return (
    <>
      {isAdmin ? (
        <ButtonLink href={`#${SETTINGS_ID}`}>
          <Icon name="pencil" />
          Edit
        </ButtonLink>
      ) : null}
      <ReportLink page={pageId} components={[id]} />
      <ButtonLink href={`${componentPath(id)}/status`} kind="primary" dialog>
        Set status
      </ButtonLink>
      {isAdmin ? (
        <MoreMenu label="More actions">
          <ButtonLink href={`${componentPath(id)}/delete`} kind="danger" dialog>
            Delete
          </ButtonLink>
        </MoreMenu>
      ) : null}
    </>
  );
}

/** Status of a component since its last change, its page and its group. */
function Now({ component, page, changes, state, now }: ComponentDetailProps) {
  const { status, groupId, createdAt } = component;
  const [last] = changes;
  const group = state.context.groups.find(({ id }) => id === groupId);
  return (
    <HeadFacts>
      <span>
        <StatusLabel status={status} />{" "}
        <Since at={last?.to === status ? Date.parse(last.at) : createdAt} now={now} />
      </span>
      <HeadFact icon="globe">
        <a href={pagePath(page.id)}>{page.name}</a>
        {group ? ` / ${group.name}` : null}
      </HeadFact>
    </HeadFacts>
  );
}

/** Causes of a status that is not operational, with links. */
function Causes({ component, causes }: Pick<ComponentDetailProps, "component" | "causes">) {
  const { status } = component;
  const effective = status === "operational" ? [] : effectiveCauses(component, causes);
  const others = otherCauses(causes, effective);
  if (effective.length + others.length === 0) return null;
  return (
    <Notice tone={STATUS_TONES[status]}>
      <b>{STATUS_WORDS[status]}</b>
      {effective.length === 0 ? null : (
        <>
          {" "}
          <CauseList causes={effective} />
        </>
      )}
      .
      {others.length === 0 ? null : (
        <>
          {" "}
          Also <CauseList causes={others} />.
        </>
      )}
      {effective.length + others.length > 1
        ? " The component is operational again when all of these have ended."
        : null}
    </Notice>
  );
}

function Details({ component, state, role, now }: ComponentDetailProps) {
  const { id, groupId, showcase, showLatency, startDate } = component;
  const shown = [
    ...(showcase ? ["uptime history"] : []),
    ...(showLatency ? ["response times"] : []),
  ];
  return (
    <DetailCard
      title="Details"
      liveId="component-details"
      end={roleAllows(role, "admin") ? <a href={`#${SETTINGS_ID}`}>Edit</a> : undefined}
      isFlush
    >
      <Facts
        items={[
          {
            label: "Group",
            value: state.context.groups.find((group) => group.id === groupId)?.name ?? "None",
          },
          { label: "Shown", value: capitalised(shown.join(", ") || "status only") },
          ...(startDate === null ? [] : [{ label: "Uptime from", value: shortDay(startDate) }]),
          ...(component.uptimeGoal === null
            ? []
            : [{ label: "Uptime goal", value: `${component.uptimeGoal} %` }]),
          ...(component.tags.length === 0
            ? []
            : [{ label: "Tags", value: <ComponentTags tags={component.tags} />, isWide: true }]),
          {
            label: "Added",
            value: <RelativeTime at={toIso(component.createdAt)} now={now} />,
          },
          { label: "Reference", value: <code>{component.ref}</code> },
          { label: "Id", value: <code>{id}</code>, isWide: true },
        ]}
      />
    </DetailCard>
  );
}

/** Form for the settings of a component. The status has its own form. */
function Settings({ component, state }: Pick<ComponentDetailProps, "component" | "state">) {
  return (
    <Section title="Settings" id={SETTINGS_ID}>
      <Form action={componentPath(component.id)} hidden={state.hidden}>
        {component.managedBy === "apply" ? <ManagedByFile what="component" /> : null}
        <FormFields form={COMPONENT_FORM} state={state} />
        <Actions>
          <Button>Save changes</Button>
        </Actions>
      </Form>
    </Section>
  );
}

/** Uptime and last 90 days of a component as bars. */
function Uptime({ name, view }: { name: string; view: ComponentView }) {
  const { history } = view;
  const days = drawDays(history?.days ?? []);
  const zone = useZone();
  return (
    <DetailCard
      title="Uptime"
      liveId="component-uptime"
      end={
        <span class="detail-sums">
          <span>
            24 h <b>{percent(view.dayUptime, 2)}</b>
          </span>
          <span>
            30 days <b>{percent(view.monthUptime, 2)}</b>
          </span>
          <span>
            90 days <b>{percent(history?.uptime ?? null, 2)}</b>
          </span>
        </span>
      }
    >
      <DayBars name={name} days={days} note={isUtcZone(zone) ? "" : "Days of UTC"} />
      <DayKey days={days} />
    </DetailCard>
  );
}

/** Number of days by worst status, except operational days. Renders nothing without other days. */
function DayKey({ days }: { days: ReturnType<typeof drawDays> }) {
  const byStatus = Map.groupBy(days, ({ status }) => status);
  const shown = COMPONENT_STATUSES.filter(
    (status) => status !== "operational" && byStatus.has(status),
  );
  if (shown.length === 0) return null;
  return (
    <ul class="chart-legend day-key">
      {shown.map((status) => (
        <li key={status}>
          <Shape tone={STATUS_TONES[status]} />
          {STATUS_WORDS[status]}, {plural(byStatus.get(status)?.length ?? 0, "day")}
        </li>
      ))}
    </ul>
  );
}

interface ComponentMonitorsProps {
  componentId: string;
  view: ComponentView;
  /** True if the user may create a monitor. */
  canAdd: boolean;
  now: number;
}

/** Monitors that set the status of a component. Without any, it is for people who can create one. */
function ComponentMonitors({ componentId, view, canAdd, now }: ComponentMonitorsProps) {
  const { monitors, recent, hasMoreMonitors } = view;
  if (monitors.length === 0 && !canAdd) return null;
  const add = `${NEW_MONITOR_PATH}?component=${encodeURIComponent(componentId)}`;
  return (
    <DetailCard
      title="Monitors"
      liveId="component-monitors"
      count={
        monitors.length === 0
          ? undefined
          : hasMoreMonitors
            ? `the newest ${monitors.length}`
            : `${monitors.length}`
      }
      end={canAdd ? <a href={add}>Create monitor</a> : undefined}
      isTable
    >
      {monitors.length === 0 ? (
        <p class="muted detail-body">No monitor sets the status of this component.</p>
      ) : (
        <DenseDataTable
          caption="Monitors of this component"
          entries={monitors}
          name={{
            label: "Monitor",
            cell: ({ row, state }) => ({
              shape: (
                <Shape tone={MONITOR_TONES[state.state]} isPaused={state.state === "paused"} />
              ),
              href: monitorPath(row.id),
              name: row.name,
              note: (
                <>
                  {monitorWord(state.state, row.type)} <Since at={state.since} now={now} />
                </>
              ),
            }),
          }}
          columns={[
            {
              label: "Last 24 hours",
              isBars: true,
              cell: ({ row }) => <LastDay monitor={row} recent={recent.get(row.num)} />,
            },
            {
              label: "24 h",
              isNumeric: true,
              isMiddle: true,
              cell: ({ row }) => percent(recent.get(row.num)?.dayUptime ?? null, 2),
            },
            {
              label: "Response",
              isNumeric: true,
              cell: ({ lastCheck }) => latencyOrNone(lastCheck?.latencyMs),
            },
          ]}
        />
      )}
    </DetailCard>
  );
}

/** Median response time of a component's monitors in the last 24 hours. Renders nothing without a response. */
function ResponseTime({ view: { latency } }: { view: ComponentView }) {
  const { total, hours } = latency;
  if (total.p50Ms === null || total.p95Ms === null) return null;
  return (
    <DetailCard title="Response time" liveId="component-latency" count="last 24 hours">
      <p class="detail-figure">
        <b>{latencyInWords(total.p50Ms)}</b>{" "}
        <span class="muted">median, 95 % within {latencyInWords(total.p95Ms)}</span>
      </p>
      <Sparkline
        values={hours}
        label={`Median of the slowest monitor by hour, at most ${latencyInWords(Math.max(...hours))}`}
      />
      <p class="day-bars-foot" aria-hidden="true">
        <span>24 h ago</span>
        <span>Now</span>
      </p>
    </DetailCard>
  );
}

const MONITORS_SHOWN = 25;

const EVENTS_SHOWN = 8;

const MONTH_DAYS = 30;

const HOURS = 24;

/** Incident or maintenance that affected the component. */
type ComponentEvent =
  | {
      kind: "incident";
      at: number;
      row: ReturnType<typeof listIncidentsOfComponent>[number]["row"];
    }
  | { kind: "maintenance"; at: number; row: ReturnType<typeof findMaintenances>[number]["row"] };

/** Monitors, days and events of a component, for its screen. */
interface ComponentView {
  /** Monitors that set its status, worst first. */
  monitors: readonly MonitorRecord[];
  /** True if the component has more monitors than are listed. */
  hasMoreMonitors: boolean;
  /** Last 24 hours and 30 days of each monitor, by `num`. */
  recent: ReadonlyMap<number, RecentTimes>;
  history: ComponentHistory | undefined;
  /** Uptime of the last 24 hours; null without data. */
  dayUptime: number | null;
  /** Uptime of the last 30 days; null without data. */
  monthUptime: number | null;
  /** Incidents and maintenance, latest start first. */
  events: readonly ComponentEvent[];
  hasMoreEvents: boolean;
  latency: ComponentLatency;
}

/** Response times of the listed monitors in the last 24 hours, except those that jobs call. */
interface ComponentLatency {
  total: LatencyFigures;
  /** Median of the slowest monitor in each hour, oldest first; 0 without a response. */
  hours: readonly number[];
}

/** Reads the monitors, last 90 days and events of a component. */
export function readComponentView(
  reader: Reader,
  component: ComponentRow,
  page: PageRow,
  now: number,
): ComponentView {
  const records = listMonitors(reader, { componentId: component.id, limit: MONITORS_SHOWN + 1 });
  const monitors = records
    .slice(0, MONITORS_SHOWN)
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.row.name < b.row.name ? -1 : 1));
  const nums = monitors.map(({ row }) => row.num);
  const causes = listOpenCausesOfPage(reader, { pageId: page.id });
  const history = readComponentHistories(reader, {
    page: { ...page, historyDays: UPTIME_DAYS },
    components: [component],
    open: Map.groupBy(causes, ({ componentId }) => componentId),
    now,
  }).get(component.id);
  const events = readEvents(reader, component.id);
  return {
    monitors,
    hasMoreMonitors: records.length > MONITORS_SHOWN,
    recent: recentTimesOf(reader, nums, now),
    history,
    dayUptime: readDayUptime(reader, component, now),
    monthUptime: uptimeOfDays(history?.days.slice(-MONTH_DAYS) ?? []),
    events: events.slice(0, EVENTS_SHOWN),
    hasMoreEvents: events.length > EVENTS_SHOWN,
    latency: readLatency(
      reader,
      // Jobs that call a monitor send durations of their own.
      monitors.filter(({ row }) => row.type !== "push").map(({ row }) => row.num),
      now,
    ),
  };
}

function rankOf({ state }: MonitorRecord): number {
  return WORST_FIRST.indexOf(state.state);
}

function readDayUptime(reader: Reader, { id }: ComponentRow, now: number): number | null {
  const period = readPeriod({ from: toIso(now - DAY_MS) }, now);
  return uptimeAnswer(reader, findSubject(reader, { component: id }), period).total.uptime;
}

function readEvents(reader: Reader, componentId: string): ComponentEvent[] {
  const query = { componentId, limit: EVENTS_SHOWN + 1 };
  return [
    ...listIncidentsOfComponent(reader, query).map(({ row }) => ({
      kind: "incident" as const,
      at: row.startedAt,
      row,
    })),
    ...findMaintenances(reader, query).map(({ row }) => ({
      kind: "maintenance" as const,
      at: row.startedAt ?? row.scheduledFor,
      row,
    })),
  ].toSorted((a, b) => b.at - a.at);
}

function readLatency(reader: Reader, nums: readonly number[], now: number): ComponentLatency {
  const last = Math.floor((now - 1) / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: HOURS }, (_, index) => {
    const from = last - (HOURS - 1 - index) * HOUR_MS;
    return { from, to: Math.min(now, from + HOUR_MS) };
  });
  const { each, total } = latencyOfEach(reader, nums, hours);
  return {
    total,
    hours: hours.map((_, index) => Math.max(0, ...each.map((own) => own[index]?.p50Ms ?? 0))),
  };
}

/** Incidents and maintenance of a component, latest start first. */
function ComponentEvents({ view, now }: { view: ComponentView; now: number }) {
  const { events, hasMoreEvents } = view;
  if (events.length === 0) return null;
  return (
    <DetailCard title="Incidents and maintenance" liveId="component-events" isFlush>
      <ul>
        {events.map((event) =>
          event.kind === "incident" ? (
            <IncidentRow key={event.row.id} row={event.row} now={now} />
          ) : (
            <MaintenanceRow key={event.row.id} row={event.row} now={now} />
          ),
        )}
      </ul>
      {hasMoreEvents ? <p class="muted detail-body">Earlier entries are not listed.</p> : null}
    </DetailCard>
  );
}

type RowOf<Kind> = Extract<ComponentEvent, { kind: Kind }>["row"];

function IncidentRow({ row, now }: { row: RowOf<"incident">; now: number }) {
  const { startedAt, resolvedAt, impact, draft } = row;
  const started = toIso(startedAt);
  return (
    <DetailRow
      shape={<Shape tone={listedTone(row)} />}
      href={incidentPath(row.id)}
      title={row.name}
      note={
        <>
          {INCIDENT_WORDS[row.status]}
          {resolvedAt === null ? null : ` after ${lasting(started, toIso(resolvedAt))}`} · started{" "}
          <RelativeTime at={started} now={now} />
        </>
      }
      end={
        draft ? (
          <Chip tone="none">Draft</Chip>
        ) : (
          <Chip tone={IMPACT_TONES[impact]}>{IMPACT_WORDS[impact]}</Chip>
        )
      }
    />
  );
}

const PLANNED: Partial<Record<MaintenanceStatus, string>> = {
  scheduled: "starts",
  cancelled: "was planned to start",
};

function MaintenanceRow({ row, now }: { row: RowOf<"maintenance">; now: number }) {
  const { status, startedAt, scheduledFor } = row;
  return (
    <DetailRow
      shape={<Shape tone={listedTone({ status })} />}
      href={maintenancePath(row.id)}
      title={row.name}
      note={
        <>
          {MAINTENANCE_WORDS[status]} · {PLANNED[status] ?? "started"}{" "}
          <RelativeTime at={toIso(startedAt ?? scheduledFor)} now={now} />
        </>
      }
      end={<Chip tone={listedTone({ status })}>Maintenance</Chip>}
    />
  );
}

/** Recorded status changes of a component, newest first. */
function StatusChanges(props: { changes: readonly ComponentChange[]; now: number }) {
  const { changes, now } = props;
  if (changes.length === 0) return null;
  return (
    <DetailCard title="Status changes" liveId="component-changes" isFlush>
      <ul>
        {changes.map((change) => (
          <DetailRow
            key={`${change.at} ${change.from} ${change.to}`}
            shape={<Shape tone={STATUS_TONES[change.to]} />}
            title={STATUS_WORDS[change.to]}
            note={
              <>
                By {change.actor.label}, <RelativeTime at={change.at} now={now} />
                {change.reason ? (
                  <>
                    {" · "}
                    <bdi>{change.reason}</bdi>
                  </>
                ) : null}
              </>
            }
          />
        ))}
      </ul>
    </DetailCard>
  );
}
