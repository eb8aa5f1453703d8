import { uptimeOf } from "../../features/monitors";
import { type Role, roleAllows } from "../../domain/role";
import { percent } from "../../kernel/numbers";
import { toIso } from "../../kernel/time";
import {
  ButtonLink,
  Card,
  Day,
  Facts,
  RelativeTime,
  MonitorLabel,
  PageHead,
  PostButton,
  Section,
  Tabs,
} from "../../ui";
import { MONITORS_PATH } from "../paths";
import { MonitorFacts } from "./facts";
import { LastChecks, LatencyChart, Outages, OwnIncidents } from "./history";
import { SOON_MS } from "./list-row";
import { pathsOfMonitor } from "./monitor-paths";
import { type MonitorView, RANGE_NAMES, rangeLabel } from "./monitor-view";
import { LastResult, Since } from "./state";
import { TYPE_FORMS } from "./types";
import { latencyInWords, timeInWords } from "./words";

/** One monitor: current state, history and configuration. */
export function MonitorDetail(props: { view: MonitorView; role: Role; now: number }) {
  const { view, role, now } = props;
  const { row } = view.record;
  const { range, latency, total } = view;
  const measured = TYPE_FORMS[row.type].isPush ? "Job duration" : "Response time";
  return (
    <>
      <PageHead
        title={row.name}
        crumbs={[{ href: MONITORS_PATH, label: "Monitors" }]}
        actions={roleAllows(role, "admin") ? <MonitorActions view={view} /> : undefined}
      />
      <Now view={view} now={now} />
      <Section title={measured}>
        <Ranges view={view} />
        <Card>
          <LatencyChart name={measured} range={range} latency={latency} total={total} />
          <RangeFigures view={view} />
        </Card>
      </Section>
      <Outages view={view} now={now} />
      <OwnIncidents view={view} now={now} />
      <LastChecks checks={view.checks} now={now} />
      <MonitorFacts view={view} now={now} />
    </>
  );
}

function MonitorActions({ view }: { view: MonitorView }) {
  const { id, type, paused } = view.record.row;
  const paths = pathsOfMonitor(id);
  const { isPush } = TYPE_FORMS[type];
  return (
    <>
      {isPush || paused ? null : <PostButton action={paths.check}>Check now</PostButton>}
      <PostButton action={paused ? paths.resume : paths.pause}>
        {paused ? "Resume" : "Pause"}
      </PostButton>
      {isPush ? (
        <ButtonLink href={paths.rotate} dialog>
          Rotate token
        </ButtonLink>
      ) : null}
      <ButtonLink href={paths.edit}>Edit</ButtonLink>
      <ButtonLink href={paths.delete} kind="danger" dialog>
        Delete
      </ButtonLink>
    </>
  );
}

/** Current state and last result of a monitor. */
function Now({ view, now }: { view: MonitorView; now: number }) {
  const { state, lastCheck } = view.record;
  const { certificateExpiresAt: end } = state;
  return (
    <Card>
      <Facts
        items={[
          {
            label: "State",
            value: (
              <span class="result">
                <MonitorLabel state={state.state} />{" "}
                <span class="quiet-text">
                  <Since at={state.since} now={now} />
                </span>
              </span>
            ),
          },
          { label: "Last result", value: <LastResult check={lastCheck} now={now} />, isWide: true },
          ...(end === null
            ? []
            : [
                {
                  label: end <= now ? "Certificate expired" : "Certificate expires",
                  value:
                    end - now < SOON_MS ? (
                      <RelativeTime
                        at={toIso(end)}
                        now={now}
                        tone={end <= now ? "major" : "degraded"}
                      />
                    ) : (
                      <Day at={toIso(end)} />
                    ),
                },
              ]),
        ]}
      />
    </Card>
  );
}

function Ranges({ view }: { view: MonitorView }) {
  const { home } = pathsOfMonitor(view.record.row.id);
  return (
    <Tabs
      label="Range"
      items={RANGE_NAMES.map((name) => ({
        href: `${home}?range=${name}`,
        label: rangeLabel(name),
        isCurrent: name === view.range.name,
      }))}
    />
  );
}

function RangeFigures({ view: { times, total, outageCount } }: { view: MonitorView }) {
  const latency = (ms: number | null) => (ms === null ? "–" : latencyInWords(ms));
  return (
    <Facts
      items={[
        { label: "Uptime", value: percent(uptimeOf(times), 3) },
        { label: "Downtime", value: times.down === 0 ? "None" : timeInWords(times.down) },
        { label: "Outages", value: outageCount.toLocaleString("en") },
        { label: "Median", value: latency(total.p50Ms) },
        { label: "95th percentile", value: latency(total.p95Ms) },
        {
          label: "Failed checks",
          value: `${total.failures.toLocaleString("en")} of ${total.checks.toLocaleString("en")}`,
        },
      ]}
    />
  );
}
