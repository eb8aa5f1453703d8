import { uptimeOf } from "../../features/monitors/spans";
import { EXPIRES_SOON_MS } from "../../base/secrets";
import { type Role, roleAllows } from "../../base/actor";
import { percent } from "../../base/numbers";
import { toIso } from "../../base/time";
import { ButtonLink, PostButton } from "../../ui/buttons";
import { Columns, MonitorLabel } from "../../ui/blocks";
import { DetailCard, HeadFact, HeadFacts, MoreMenu, Numbers } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { PageHead, Tabs } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { presetOf } from "../../features/incidents/screens/paths";
import { ReportLink } from "../../features/incidents/screens/list";
import { MONITORS_PATH } from "../../ui/frame/paths";
import { MonitorFacts } from "./facts";
import { LastChecks, Troubles } from "./history";
import { Commands, OpenRuns, Signals, Tokens } from "./job";
import { LatencyChart } from "./latency-chart";
import { cloneMonitorPath, pathsOfMonitor } from "./monitor-paths";
import type { MonitorView } from "./monitor-view";
import { AffectedComponents, Dependencies, Notified, OwnIncidents } from "./related-objects";
import { RANGE_NAMES, rangeLabel, rangeQuery } from "./range";
import { LastResult, Since, UnreachableThrough } from "./state";
import { TYPE_FORMS } from "./types";
import { UnsupportedNotice } from "./unsupported-notice";
import { intervalInWords, latencyInWords, targetOf, timeInWords, typeInWords } from "./words";

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
  const { job } = view;
  const { row } = view.record;
  const isAdmin = roleAllows(role, "admin");
  const { edit } = pathsOfMonitor(row.id);
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
      <DetailCard title={measured} liveId="monitor-chart" end={<Ranges view={view} />}>
        <LatencyChart name={measured} view={view} />
      </DetailCard>
      <Columns
        aside={
          <>
            <AffectedComponents view={view} {...(isAdmin ? { editPath: edit } : {})} />
            <OwnIncidents view={view} now={now} />
            <Dependencies view={view} />
            {isAdmin && !isUnsupported ? <Notified view={view} editPath={edit} /> : null}
            {job ? <Tokens id={row.id} tokens={job.tokens} canEnd={isAdmin} now={now} /> : null}
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
      </Columns>
    </>
  );
}

function MonitorActions({ view, role }: { view: MonitorView; role: Role }) {
  if (!roleAllows(role, "editor")) return null;
  const report = <ReportLink {...presetOf(view.record)} />;
  if (!roleAllows(role, "admin")) return report;
  const { id, type, paused } = view.record.row;
  const paths = pathsOfMonitor(id);
  const { isPush } = TYPE_FORMS[type];
  const isUnsupported = type === "unsupported";
  const query = rangeQuery(view.range);
  return (
    <>
      {isPush || paused ? null : (
        <PostButton action={`${paths.check}${query}`}>
          <Icon name="refresh-cw" />
          Check now
        </PostButton>
      )}
      {isUnsupported ? null : (
        <PostButton action={`${paused ? paths.resume : paths.pause}${query}`}>
          <Icon name={paused ? "play" : "pause"} />
          {paused ? "Resume" : "Pause"}
        </PostButton>
      )}
      <ButtonLink href={paths.edit}>
        <Icon name="pencil" />
        Edit
      </ButtonLink>
      <MoreMenu label="More actions">
        {report}
        {isUnsupported ? null : (
          <ButtonLink href={cloneMonitorPath({ id, type })}>
            <Icon name="copy" />
            Clone
          </ButtonLink>
        )}
        {isPush ? (
          <ButtonLink href={paths.rotate} dialog>
            Rotate token
          </ButtonLink>
        ) : null}
        <ButtonLink href={paths.delete} kind="danger" dialog>
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
        <MonitorLabel state={state.state} /> <UnreachableThrough record={view.record} />
        <Since at={state.since} now={now} />
      </span>
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
  const { home } = pathsOfMonitor(view.record.row.id);
  const { range } = view;
  return (
    <>
      {range.isZoomed ? (
        <span class="detail-zoom">
          {range.label} ·{" "}
          <a href={`${home}?range=${range.name}`}>Back to {rangeLabel(range.name)}</a>
        </span>
      ) : null}
      <Tabs
        label="Range"
        items={RANGE_NAMES.map((name) => ({
          href: `${home}?range=${name}`,
          label: rangeLabel(name),
          isCurrent: name === range.name && !range.isZoomed,
        }))}
      />
    </>
  );
}

function Figures({ view, now }: { view: MonitorView; now: number }) {
  const { times, total, outageCount, cutAt, range, record } = view;
  // Uptime of only a part of the range would be misleading.
  const isCut = cutAt !== undefined;
  const latency = (ms: number | null) => (ms === null ? "–" : latencyInWords(ms));
  const last = range.isZoomed ? "in this time" : range.label;
  return (
    <Numbers
      label={`Figures, ${range.label}`}
      liveId="monitor-figures"
      items={[
        {
          label: "Now",
          value: latency(record.lastCheck?.latencyMs ?? null),
          note: <LastResult check={record.lastCheck} now={now} />,
        },
        { label: "Median", value: latency(total.p50Ms), note: last },
        { label: "95th percentile", value: latency(total.p95Ms), note: last },
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
          value: `${outageCount.toLocaleString("en")}${isCut ? " or more" : ""}`,
          note: last,
        },
        {
          label: "Failed checks",
          value: total.failures.toLocaleString("en"),
          note: `of ${total.checks.toLocaleString("en")}`,
        },
      ]}
    />
  );
}
