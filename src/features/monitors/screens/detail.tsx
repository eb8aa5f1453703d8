import { Fragment } from "preact";
import { type Role, roleAllows } from "../../../base/actor";
import { PRODUCTS } from "../../../base/import-report";
import { percent } from "../../../base/numbers";
import {
  isPassive,
  isTimed,
  listedTone,
  MONITOR_TONES,
  type MonitorState,
  type OpenIncident,
  STATUS_TONES,
  type Tone,
} from "../../../base/status";
import { plural, spaced } from "../../../base/text";
import { DAY_MS, EXPIRES_SOON_MS, SECOND_MS, toIso } from "../../../base/time";
import { roundTimes, zoneLabel } from "../../../base/zones";
import { incidentWords } from "../../../public/state";
import {
  CheckLabel,
  Columns,
  Facts,
  MONITOR_WORDS,
  monitorWord,
  MonitorLabel,
  Notice,
  Shape,
  State,
  STATUS_WORDS,
} from "../../../ui/blocks";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import { DetailCard, DetailRow, HeadFact, HeadFacts, MoreMenu, Numbers } from "../../../ui/detail";
import {
  cloneMonitorPath,
  componentPath,
  incidentPath,
  monitorPath,
  MONITORS_PATH,
  webhookPath,
  withQuery,
} from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { DenseDataTable } from "../../../ui/list";
import { PageHead, Tabs } from "../../../ui/navigation";
import { type TimeBand, TimeChart, type TimePoint } from "../../../ui/time-chart";
import { clockAt, dayAt, RelativeTime, spanAt, useZone, utcDays } from "../../../ui/times";
import { LabelledContainer } from "../../docker-labels/screens/notices";
import type { Span } from "../../components/rules";
import { presetOf, ReportLink } from "../../incidents/screens/list";
import { webhookName } from "../../webhooks/records";
import type { LocatedCheck } from "../monitor-locations";
import { originOf } from "../probes/unsupported";
import { type StateTimes, uptimeOf } from "../uptime";
import { AlertAddresses, OpenAlerts } from "./alerts";
import { Commands, OpenRuns, Signals, Tokens } from "./job";
import { DOWN_WHEN_WORDS } from "./location-fields";
import { locationName, Locations } from "./location-states";
import { type Range, RANGE_NAMES, rangeLabel, rangeQuery, zoomQuery } from "./range";
import { TYPE_FORMS } from "./types";
import type { ListedTrouble, MonitorView } from "./view";
import {
  Acknowledged,
  inRange,
  intervalInWords,
  isUnacknowledged,
  LastResult,
  latencyInWords,
  latencyOrNone,
  Since,
  Tags,
  targetOf,
  TimeOfDay,
  timeInWords,
  typeInWords,
  UnreachableThrough,
} from "./words";

/** Screen of one monitor: current state, history, related objects and configuration. */
export function MonitorDetail(props: {
  view: MonitorView;
  /** Time of the next check in unix ms, if one is planned. */
  nextCheckAt: number | undefined;
  role: Role;
  /** Public address of the server. */
  baseUrl: string;
  now: number;
}) {
  const { view, nextCheckAt, role, baseUrl, now } = props;
  const { alerts, job, tokens } = view;
  const { row } = view.record;
  const isAdmin = roleAllows(role, "admin");
  const edit = monitorPath(row.id, "edit");
  const isUnsupported = row.type === "unsupported";
  const measured = TYPE_FORMS[row.type].isPush ? "Job duration" : "Response time";
  return (
    <>
      <PageHead
        title={row.name}
        crumbs={[{ href: MONITORS_PATH, label: "Monitors" }, { label: row.name }]}
        actions={<MonitorActions view={view} role={role} />}
      >
        <div id="monitor-state" data-live="">
          <Now view={view} nextCheckAt={nextCheckAt} now={now} />
        </div>
      </PageHead>
      {isUnsupported ? <UnsupportedNotice config={row.config} /> : null}
      <Figures view={view} now={now} />
      <Locations view={view} now={now} />
      {alerts ? (
        <OpenAlerts id={row.id} alerts={alerts} canEnd={roleAllows(role, "editor")} now={now} />
      ) : isTimed(row.type) ? (
        <DetailCard title={measured} liveId="monitor-chart" end={<Ranges view={view} />}>
          <LatencyChart name={measured} view={view} />
        </DetailCard>
      ) : null}
      <Columns
        aside={
          <>
            <AffectedComponents view={view} {...(isAdmin ? { editPath: edit } : {})} />
            <OwnIncidents view={view} now={now} />
            <Dependencies view={view} />
            {isAdmin && !isUnsupported ? <Notified view={view} editPath={edit} /> : null}
            {tokens ? <Tokens id={row.id} tokens={tokens} canEnd={isAdmin} now={now} /> : null}
            <MonitorFacts view={view} now={now} />
          </>
        }
      >
        <Troubles view={view} now={now} />
        {job ? <OpenRuns job={job} now={now} /> : null}
        {job ? <Signals job={job} now={now} /> : null}
        {isUnsupported && view.checks.length === 0 ? null : (
          <LastChecks checks={view.checks} slowAboveMs={row.degradedAfterMs} now={now} />
        )}
        {job ? <Commands baseUrl={baseUrl} /> : null}
        {alerts ? <AlertAddresses baseUrl={baseUrl} /> : null}
      </Columns>
    </>
  );
}

function MonitorActions({ view, role }: { view: MonitorView; role: Role }) {
  if (!roleAllows(role, "editor")) return null;
  const isUnreported = view.record.state.state === "down" && view.present.length === 0;
  const report = (
    <ReportLink {...presetOf(view.record)} kind={isUnreported ? "primary" : "quiet"} />
  );
  const { id, type, paused } = view.record.row;
  const acknowledge = isUnacknowledged(view.record.state) ? (
    <ButtonLink href={monitorPath(id, "acknowledge")} dialog>
      <Icon name="check" />
      Acknowledge
    </ButtonLink>
  ) : null;
  if (!roleAllows(role, "admin")) {
    return (
      <>
        {acknowledge}
        {report}
      </>
    );
  }
  const isReported = isPassive(type);
  const isUnsupported = type === "unsupported";
  const query = rangeQuery(view.range);
  return (
    <>
      {acknowledge}
      {isReported || paused ? null : (
        <PostButton action={`${monitorPath(id, "check")}${query}`}>
          <Icon name="refresh-cw" />
          Check now
        </PostButton>
      )}
      {isUnsupported ? null : (
        <PostButton action={`${monitorPath(id, paused ? "resume" : "pause")}${query}`}>
          <Icon name={paused ? "play" : "pause"} />
          {paused ? "Resume" : "Pause"}
        </PostButton>
      )}
      <ButtonLink href={monitorPath(id, "edit")}>
        <Icon name="pencil" />
        Edit
      </ButtonLink>
      {isUnreported ? report : null}
      <MoreMenu label="More actions">
        {isUnreported ? null : report}
        {isUnsupported ? null : (
          <ButtonLink href={cloneMonitorPath({ id, type })}>
            <Icon name="copy" />
            Clone
          </ButtonLink>
        )}
        {isReported ? (
          <ButtonLink href={monitorPath(id, "rotate")} dialog>
            Rotate token
          </ButtonLink>
        ) : null}
        <ButtonLink href={monitorPath(id, "delete")} kind="danger" dialog>
          Delete
        </ButtonLink>
      </MoreMenu>
    </>
  );
}

/** Current state of a monitor, its target, interval and certificate. */
function Now(props: { view: MonitorView; nextCheckAt: number | undefined; now: number }) {
  const { view, nextCheckAt, now } = props;
  const { row, state } = view.record;
  const { certificateExpiresAt: end } = state;
  return (
    <HeadFacts>
      <span>
        <MonitorLabel state={state.state} type={row.type} />{" "}
        <UnreachableThrough record={view.record} />
        <Since at={state.since} now={now} />
      </span>
      {state.acknowledgement ? (
        <HeadFact icon="check">
          <Acknowledged acknowledgement={state.acknowledgement} now={now} />
        </HeadFact>
      ) : null}
      <HeadFact icon="globe">
        {typeInWords(row)} · {targetOf(row)}
      </HeadFact>
      {row.type === "unsupported" ? null : (
        <HeadFact icon="clock">
          {intervalInWords(row)}
          {nextCheckAt === undefined ? null : (
            <>
              , next check <RelativeTime at={toIso(Math.max(now, nextCheckAt))} now={now} />
            </>
          )}
        </HeadFact>
      )}
      {end === null ? null : (
        <HeadFact icon="lock">
          Certificate {end <= now ? "expired" : "expires"}{" "}
          <RelativeTime
            at={toIso(end)}
            now={now}
            {...(end - now < EXPIRES_SOON_MS ? { tone: end <= now ? "major" : "degraded" } : {})}
          />
        </HeadFact>
      )}
    </HeadFacts>
  );
}

function Ranges({ view }: { view: MonitorView }) {
  const home = monitorPath(view.record.row.id);
  const { range, location } = view;
  const pathOf = (name: Range["name"]) =>
    withQuery(home, { range: name, location: range.location });
  return (
    <>
      {location ? <span class="detail-zoom">From {locationName(location)}</span> : null}
      {range.isZoomed ? (
        <span class="detail-zoom">
          {range.label} · <a href={pathOf(range.name)}>Back to {rangeLabel(range.name)}</a>
        </span>
      ) : null}
      <Tabs
        label="Range"
        items={RANGE_NAMES.map((name) => ({
          href: pathOf(name),
          label: rangeLabel(name),
          isCurrent: name === range.name && !range.isZoomed,
        }))}
      />
    </>
  );
}

function Figures({ view, now }: { view: MonitorView; now: number }) {
  const { times, total, outageCount, cutAt, range, record, location, atLocations } = view;
  const here = atLocations.find((each) => each.location.id === location?.id);
  const lastCheck = here ? here.lastCheck : record.lastCheck;
  const newest = atLocations.find((each) => each.lastCheck?.at === lastCheck?.at);
  // Uptime of only a part of the range would be misleading.
  const isCut = cutAt !== undefined;
  const last = range.isZoomed ? "in this time" : range.label;
  return (
    <Numbers
      label={`Figures, ${range.label}`}
      liveId="monitor-figures"
      items={[
        ...(isTimed(record.row.type)
          ? [
              {
                label: "Now",
                value: latencyOrNone(lastCheck?.latencyMs),
                note: (
                  <>
                    <LastResult check={lastCheck} now={now} />
                    {newest && !here ? ` · ${locationName(newest.location)}` : null}
                  </>
                ),
              },
              {
                label: "Median",
                isZero: total.p50Ms === null,
                value: latencyOrNone(total.p50Ms),
                note: last,
              },
              {
                label: "95th percentile",
                isZero: total.p95Ms === null,
                value: latencyOrNone(total.p95Ms),
                note: last,
              },
            ]
          : []),
        {
          label: "Uptime",
          value: isCut ? "–" : percent(uptimeOf(times), 3),
          note: isCut
            ? "too many changes"
            : times.down === 0
              ? last
              : `${timeInWords(times.down)} down`,
        },
        {
          label: "Outages",
          isZero: outageCount === 0,
          value: `${outageCount.toLocaleString("en")}${isCut ? " or more" : ""}`,
          note: last,
        },
        {
          label: "Failed checks",
          isZero: total.failures === 0,
          value: total.failures.toLocaleString("en"),
          note: `of ${total.checks.toLocaleString("en")}`,
        },
      ]}
    />
  );
}

const INCIDENTS: Readonly<Record<OpenIncident, string>> = {
  never: "Opens no incident",
  draft: "Writes a draft",
  automatic: "Publishes an incident",
};

/** Notes with their line breaks. */
function Notes({ text }: { text: string }) {
  return (
    <>
      {text.split("\n").map((line, index) => (
        <Fragment key={index}>
          {index === 0 ? null : <br />}
          {line}
        </Fragment>
      ))}
    </>
  );
}

/** Configuration of a monitor, without secrets. */
function MonitorFacts({ view, now }: { view: MonitorView; now: number }) {
  const { row } = view.record;
  return (
    <DetailCard title="Configuration" liveId="monitor-configuration" isFlush>
      <Facts
        items={[
          { label: typeInWords(row), value: targetOf(row), isWide: true },
          ...(row.type === "unsupported" ? [] : checkFacts(view, now)),
          ...(row.group === null
            ? []
            : [{ label: "Group", value: <Tags group={row.group} tags={[]} />, isWide: true }]),
          ...(row.tags.length === 0
            ? []
            : [{ label: "Tags", value: <Tags group={null} tags={row.tags} />, isWide: true }]),
          ...(row.notes === null
            ? []
            : [{ label: "Notes", value: <Notes text={row.notes} />, isWide: true }]),
          ...(view.origin === undefined
            ? []
            : [
                {
                  label: "Imported from",
                  value: `${PRODUCTS[view.origin.kind]} (${view.origin.name})`,
                  isWide: true,
                },
              ]),
          ...(view.container === undefined
            ? []
            : [
                {
                  label: "Labels of",
                  value: <LabelledContainer source={view.container} now={now} />,
                  isWide: true,
                },
              ]),
          { label: "Created", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
          { label: "Reference", value: <code>{row.ref}</code> },
          { label: "Id", value: <code>{row.id}</code>, isWide: true },
        ]}
      />
    </DetailCard>
  );
}

/** Facts about the checks of a monitor and their effect. */
function checkFacts({ record: { row, state }, job, atLocations }: MonitorView, now: number) {
  const { isPush } = TYPE_FORMS[row.type];
  const isReported = isPassive(row.type);
  return [
    ...(row.type === "alert"
      ? []
      : [{ label: isPush ? "Expected" : "Checked", value: intervalInWords(row) }]),
    ...(isReported
      ? [
          {
            label: isPush ? "Last heartbeat" : "Last report",
            value:
              state.heartbeatAt === null ? (
                <span class="quiet-text">None yet</span>
              ) : (
                <RelativeTime at={toIso(state.heartbeatAt)} now={now} />
              ),
          },
          ...(job?.dueAt === undefined
            ? []
            : [
                {
                  label: "Next call due",
                  value: <RelativeTime at={toIso(job.dueAt)} now={now} />,
                },
              ]),
        ]
      : [
          { label: "Timeout", value: latencyInWords(row.timeoutMs) },
          {
            label: "Checked again after",
            value: timeInWords(row.retryIntervalSeconds * SECOND_MS),
          },
        ]),
    ...(row.type === "alert" ? [] : thresholdFacts(row)),
    ...(atLocations.length > 1
      ? [{ label: "Down when", value: DOWN_WHEN_WORDS[row.downWhen] }]
      : []),
    ...(row.degradedAfterMs === null
      ? []
      : [{ label: "Degraded above", value: latencyInWords(row.degradedAfterMs) }]),
    { label: "Incidents", value: INCIDENTS[row.openIncident] },
    { label: "Component status while down", value: STATUS_WORDS[row.onDown] },
    ...(row.reminderSeconds === 0
      ? []
      : [
          {
            label: "Reminder while down",
            value: `every ${timeInWords(row.reminderSeconds * SECOND_MS)}`,
          },
        ]),
    ...(row.inverted ? [{ label: "Result", value: "Inverted" }] : []),
  ];
}

/** Facts about the number of checks that change a state. */
function thresholdFacts({ failureThreshold, successThreshold }: MonitorView["record"]["row"]) {
  return [
    { label: "Down after", value: `${plural(failureThreshold, "failure")} in a row` },
    {
      label: "Up after",
      value: successThreshold === 1 ? "1 success" : `${successThreshold} successes in a row`,
    },
  ];
}

/** Outages and slow times of a monitor, newest first, each with a link that zooms into it. */
function Troubles({ view, now }: { view: MonitorView; now: number }) {
  const { troubles, troubleCount, range, cutAt, record } = view;
  const { type } = record.row;
  const title = `Outages and ${monitorWord("degraded", type).toLowerCase()} times`;
  const earlier = troubleCount - troubles.length;
  const zoomLink = ({ startedAt, endedAt }: ListedTrouble) => {
    const zoom = zoomQuery(range, { from: startedAt, to: endedAt ?? now }, now);
    return (
      <a href={`${monitorPath(view.record.row.id)}${zoom}`} title="Show it in the chart">
        <RelativeTime at={toIso(startedAt)} now={now} />
      </a>
    );
  };
  return (
    <DetailCard
      title={title}
      liveId="monitor-outages"
      count={range.label}
      end={isTimed(type) ? undefined : <Ranges view={view} />}
      isTable
    >
      {troubles.length === 0 ? (
        <p class="muted detail-body">
          No {title.replace("Outages and", "outages or")} {inRange(range)}.
        </p>
      ) : (
        <DenseDataTable
          caption={`${title}, ${range.label}`}
          entries={troubles}
          columns={[
            {
              label: "First failure",
              cell: ({ state, message }) => (
                <>
                  <MonitorLabel state={state} type={type} />
                  {message === null ? null : <span class="note">{message}</span>}
                </>
              ),
            },
            { label: "Started", isBars: true, cell: zoomLink },
            {
              label: "Duration",
              isNumeric: true,
              cell: ({ durationMs, endedAt }) => (
                <>
                  {timeInWords(durationMs)}
                  {endedAt === null ? " so far" : null}
                </>
              ),
            },
            {
              label: "Incident",
              isMiddle: true,
              cell: ({ incident }) =>
                incident ? (
                  <a href={incidentPath(incident.id)}>{incident.name}</a>
                ) : (
                  <span class="quiet-text">None</span>
                ),
            },
          ]}
        />
      )}
      {earlier > 0 || cutAt !== undefined ? (
        <p class="muted detail-body">
          {cutAt === undefined ? earlier.toLocaleString("en") : "Many"} earlier entries are not
          listed.
        </p>
      ) : null}
    </DetailCard>
  );
}

interface LastChecksProps {
  checks: readonly LocatedCheck[];
  /** Response time above which a result is slow, in ms; null for none. */
  slowAboveMs: number | null;
  now: number;
}

/** Results of the last checks, newest first. */
function LastChecks({ checks, slowAboveMs, now }: LastChecksProps) {
  const zone = useZone();
  if (checks.length === 0) return null;
  return (
    <DetailCard title="Last results" liveId="monitor-results" isTable>
      <DenseDataTable
        caption="Last results"
        entries={checks}
        columns={[
          {
            label: "Result",
            cell: ({ outcome, latencyMs, message, location }) => (
              <>
                {outcome === "ok" && slowAboveMs !== null && (latencyMs ?? 0) > slowAboveMs ? (
                  <State tone="degraded">Slow</State>
                ) : (
                  <CheckLabel outcome={outcome} />
                )}
                {location || message !== null ? (
                  <span class="note">
                    {[location && locationName(location), message].filter(Boolean).join(" · ")}
                  </span>
                ) : null}
              </>
            ),
          },
          {
            label: `Time (${zoneLabel(zone)})`,
            isBars: true,
            cell: ({ at }) => <TimeOfDay at={at} now={now} />,
          },
          {
            label: "Duration",
            isNumeric: true,
            cell: ({ latencyMs }) => latencyOrNone(latencyMs),
          },
        ]}
      />
    </DetailCard>
  );
}

/** States drawn as bands, with the names of their tones. */
const BANDS = [
  { state: "down", tone: "major", name: "Outage" },
  { state: "degraded", tone: "degraded", name: "Slow" },
  { state: "maintenance", tone: "maint", name: "Maintenance" },
] as const;

/** Chart of response times or job durations over a range, with outages and slow times. */
function LatencyChart({ name, view }: { name: string; view: MonitorView }) {
  const { range, latency, total, spans, stepTimes, record } = view;
  const zone = useZone();
  const first = range.steps[0]?.from ?? range.span.from;
  const points = range.steps.map((step, index): TimePoint => {
    const { checks = 0, failures = 0, p50Ms = null, p95Ms = null } = latency[index] ?? {};
    return {
      ...step,
      name: stepName(step, zone),
      median: p50Ms,
      p95: p95Ms,
      tone: toneOf(stepTimes[index], checks, failures),
      failed:
        failures > 0
          ? `${failures.toLocaleString("en")} of ${checks.toLocaleString("en")}`
          : undefined,
    };
  });
  const bands = spans.flatMap(({ state, startedAt, endedAt }): TimeBand[] => {
    const isShown = BANDS.some((band) => band.state === state);
    return isShown && (endedAt ?? range.span.to) > first
      ? [{ from: startedAt, to: endedAt ?? range.span.to, tone: MONITOR_TONES[state] }]
      : [];
  });
  if (total.checks === 0 && bands.length === 0) {
    return (
      <p class="muted">
        No {name.toLowerCase()} was measured {inRange(range)}.
      </p>
    );
  }
  const { degradedAfterMs } = record.row;
  return (
    <TimeChart
      name={name}
      from={first}
      to={range.span.to}
      points={points}
      bands={bands}
      bandNames={BANDS}
      marks={view.incidents
        .filter(({ startedAt }) => startedAt >= first && startedAt < range.span.to)
        .map(({ startedAt }) => startedAt)}
      markName="Incident opened"
      threshold={
        degradedAfterMs === null
          ? undefined
          : { value: degradedAfterMs, name: `Slow above ${latencyInWords(degradedAfterMs)}` }
      }
      ticks={ticksOf(range, first, zone)}
      write={latencyInWords}
    />
  );
}

/** Returns the tone of a step: that of failed checks, else of slow times, maintenance or good checks. */
function toneOf(times: StateTimes | undefined, checks: number, failures: number): Tone {
  if (failures > 0 || (times?.down ?? 0) > 0) return "major";
  if ((times?.degraded ?? 0) > 0) return "degraded";
  if ((times?.maintenance ?? 0) > 0) return "maint";
  return checks > 0 ? "ok" : "none";
}

/** Returns round times for the labels below a chart, except near its ends. */
function ticksOf(
  { span, tickMs }: Range,
  first: number,
  zone: string,
): { at: number; label: string }[] {
  const margin = (span.to - first) / 50;
  const inner = { from: first + margin, to: span.to - margin };
  return roundTimes(inner, tickMs, zone).map((at) => ({
    at,
    label: tickMs < DAY_MS ? clockAt(at, zone) : dayAt(at, zone).slice(0, -5),
  }));
}

/** Returns a step as text: "21 Nov 2026, 14:00–14:30 UTC", or dates for whole days, which are those of UTC. */
function stepName({ from, to }: Span, zone: string): string {
  if (from % DAY_MS !== 0 || to - from < DAY_MS) return spanAt({ from, to }, zone);
  return utcDays({ from, to }, zone);
}

/** Maximum numbers of incidents, and of dependent monitors, in their cards. */
const INCIDENTS_SHOWN = 10;
const DEPENDENTS_SHOWN = 10;

/** Components whose status a monitor sets. */
function AffectedComponents({ view, editPath }: { view: MonitorView; editPath?: string }) {
  const { components, record } = view;
  if (components.length === 0 && editPath === undefined) return null;
  return (
    <DetailCard
      title="Affects"
      liveId="monitor-components"
      end={editPath === undefined ? undefined : <a href={editPath}>Change</a>}
      isFlush
    >
      {components.length === 0 ? (
        <p class="muted detail-body">This monitor sets the status of no component.</p>
      ) : (
        <ul>
          {components.map(({ id, name, status, ownStatus }) => (
            <DetailRow
              key={id}
              shape={<Shape tone={STATUS_TONES[status]} />}
              href={componentPath(id)}
              title={name}
              note={
                ownStatus === status
                  ? `${STATUS_WORDS[status]}, set by this monitor`
                  : `${STATUS_WORDS[status]}. ${ownStatus === undefined ? "While the monitor is down" : "Set by this monitor"}: ${spaced(ownStatus ?? record.row.onDown)}.`
              }
            />
          ))}
        </ul>
      )}
    </DetailCard>
  );
}

/** Monitors on which a monitor depends, and those that depend on it. Renders nothing without any. */
function Dependencies({ view }: { view: MonitorView }) {
  const { dependents, record } = view;
  return (
    <>
      <MonitorCard title="Depends on" liveId="monitor-parents" monitors={record.parents} />
      <MonitorCard
        title="Monitors that depend on it"
        liveId="monitor-dependents"
        monitors={dependents}
      />
    </>
  );
}

interface MonitorCardProps {
  title: string;
  liveId: string;
  monitors: readonly { id: string; name: string; state: MonitorState }[];
}

function MonitorCard({ title, liveId, monitors }: MonitorCardProps) {
  if (monitors.length === 0) return null;
  const more = monitors.length - DEPENDENTS_SHOWN;
  return (
    <DetailCard title={title} liveId={liveId} isFlush>
      <ul>
        {monitors.slice(0, DEPENDENTS_SHOWN).map(({ id, name, state }) => (
          <DetailRow
            key={id}
            shape={<Shape tone={MONITOR_TONES[state]} isPaused={state === "paused"} />}
            href={monitorPath(id)}
            title={name}
            note={MONITOR_WORDS[state]}
          />
        ))}
      </ul>
      {more > 0 ? (
        <p class="muted detail-body">{more.toLocaleString("en")} more are not listed.</p>
      ) : null}
    </DetailCard>
  );
}

/** Incidents to which outages of a monitor belong, newest first. Those of the present outage say so. */
function OwnIncidents({ view, now }: { view: MonitorView; now: number }) {
  const { incidents, present } = view;
  const deleted = present.filter(({ isDeleted }) => isDeleted === 1);
  if (incidents.length + deleted.length === 0) return null;
  const current = new Set(present.map(({ incidentId }) => incidentId));
  return (
    <DetailCard title="Incidents of this monitor" liveId="monitor-incidents" isFlush>
      <ul>
        {deleted.map(({ incidentId, incidentName }) => (
          <DetailRow
            key={incidentId}
            shape={<Shape tone="none" />}
            title={incidentName}
            note="Deleted during the present outage"
          />
        ))}
        {incidents
          .slice(0, INCIDENTS_SHOWN)
          .map(({ id, name, status, impact, draft, startedAt }) => (
            <DetailRow
              key={id}
              shape={<Shape tone={listedTone({ status, impact, draft })} />}
              href={incidentPath(id)}
              title={name}
              note={
                <>
                  {draft ? "Draft" : incidentWords({ status, impact })} · started{" "}
                  <RelativeTime at={toIso(startedAt)} now={now} />
                  {!current.has(id)
                    ? null
                    : status === "resolved"
                      ? " · resolved during the present outage"
                      : " · has the present outage"}
                </>
              }
            />
          ))}
      </ul>
    </DetailCard>
  );
}

/** Webhooks that get messages about a monitor, for roles that may open and change them. */
function Notified({ view, editPath }: { view: MonitorView; editPath: string }) {
  return (
    <DetailCard
      title="Notified"
      liveId="monitor-notified"
      end={<a href={editPath}>Change</a>}
      isFlush
    >
      {view.webhooks.length === 0 ? (
        <p class="muted detail-body">No webhook gets messages about this monitor.</p>
      ) : (
        <ul>
          {view.webhooks.map((webhook) => (
            <DetailRow
              key={webhook.id}
              shape={isFailing(webhook) ? <Shape tone="partial" /> : <Icon name="webhook" />}
              href={webhookPath(webhook.id)}
              title={webhookName(webhook)}
              note={`Webhook${stateOf(webhook)}`}
            />
          ))}
        </ul>
      )}
    </DetailCard>
  );
}

type NotifiedWebhook = MonitorView["webhooks"][number];

/** A receiver that asked for a pause has failed no message. */
function isFailing({ enabled, failingSince, pausedUntil }: NotifiedWebhook): boolean {
  return enabled && failingSince !== null && pausedUntil === null;
}

function stateOf(webhook: NotifiedWebhook): string {
  if (!webhook.enabled) return " · disabled";
  if (webhook.pausedUntil !== null) return " · paused by the receiver";
  return isFailing(webhook) ? " · failing" : "";
}

/** Says that this version cannot check a monitor, and what people can do. */
function UnsupportedNotice({ config }: { config: Readonly<Record<string, unknown>> }) {
  const { type, source } = originOf(config);
  return (
    <Notice tone="degraded" title="This version cannot check this monitor">
      <p>
        It was imported from {source}, where its type is {type}. Keep it with its history and its
        settings until a later version can check it, or delete it.
      </p>
    </Notice>
  );
}
