/* Open alerts on the screen of their monitor, and the alerts that matched no monitor. Their texts are never public. */
import type { ComponentChildren } from "preact";
import { toIso } from "../../../base/time";
import type { Labels } from "../../../db/tables/alerts";
import { Card, CodeBlock, State } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import {
  monitorPath,
  MONITORS_PATH,
  NEW_MONITOR_PATH,
  UNMATCHED_ALERTS_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import { DenseDataTable, type DenseDataColumn } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import type { OpenAlertRow, UnmatchedAlertRow } from "../alerts/alert-store";
import { ALL_ALERTS, keyOfAlert } from "../alerts/reports";
import { matchersFor } from "./alert-fields";

/** Number of open alerts that a screen shows. */
export const ALERTS_SHOWN = 50;

/** Labels that the lists show of an alert. */
const LABELS_SHOWN = 8;

function LabelList({ labels }: { labels: Labels }) {
  const entries = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const more = entries.length - LABELS_SHOWN;
  return (
    <span class="note">
      {entries.slice(0, LABELS_SHOWN).join(", ")}
      {more > 0 ? `, and ${more} more` : null}
    </span>
  );
}

/** Returns the column of buttons; none for users who have none. */
function buttons<Row>(
  isShown: boolean,
  cell: (row: Row) => ComponentChildren,
): DenseDataColumn<Row>[] {
  return isShown ? [{ label: "Actions", cell }] : [];
}

/** Open alerts of a monitor, with buttons that end them. */
export function OpenAlerts(props: {
  id: string;
  /** One more than are shown, if there are more. */
  alerts: readonly OpenAlertRow[];
  canEnd: boolean;
  now: number;
}) {
  const { id, alerts, canEnd, now } = props;
  const button = (key: string, label: string) => (
    <ButtonLink href={monitorPath(id, "end-alerts", key)} dialog>
      {label}
    </ButtonLink>
  );
  const end = canEnd && alerts.length > 0 ? button(ALL_ALERTS, "Nothing is firing") : undefined;
  return (
    <DetailCard title="Open alerts" liveId="monitor-alerts" isTable end={end}>
      {alerts.length === 0 ? (
        <p class="muted detail-body">No alert is open.</p>
      ) : (
        <DenseDataTable
          caption="Open alerts"
          entries={alerts.slice(0, ALERTS_SHOWN)}
          columns={[
            {
              label: "Alert",
              cell: ({ title, level, labels }) => (
                <>
                  <State tone={level === "down" ? "major" : "degraded"}>{title}</State>
                  <LabelList labels={labels} />
                </>
              ),
            },
            {
              label: "Started",
              cell: ({ startedAt }) => <RelativeTime at={toIso(startedAt)} now={now} />,
            },
            {
              label: "Last report",
              isSecondary: true,
              cell: ({ lastSeenAt }) => <RelativeTime at={toIso(lastSeenAt)} now={now} />,
            },
            ...buttons<OpenAlertRow>(canEnd, (alert) => button(keyOfAlert(alert), "End alert")),
          ]}
        />
      )}
      {alerts.length > ALERTS_SHOWN ? (
        <p class="muted detail-body">Only the first {ALERTS_SHOWN} are listed.</p>
      ) : null}
    </DetailCard>
  );
}

/** Addresses at which a monitor takes alerts, with a placeholder for the token. */
export function AlertAddresses({ baseUrl }: { baseUrl: string }) {
  return (
    <Card title="Addresses">
      <p class="muted">
        A sender with an API key of the scope <code>write:components</code> reports to all monitors
        of its format:
      </p>
      <CodeBlock text={`${baseUrl}/api/v1/alerts`} copyLabel="Copy address" />
      <p class="muted">
        One without uses the token of this monitor, which is shown only when it is generated:
      </p>
      <CodeBlock text={`${baseUrl}/api/v1/heartbeats/TOKEN`} copyLabel="Copy address" />
      <p class="muted">
        If an alert does not arrive here, look at the{" "}
        <a href={UNMATCHED_ALERTS_PATH}>alerts that matched nothing</a>.
      </p>
    </Card>
  );
}

type UnmatchedAlert = UnmatchedAlertRow & { senderName: string };

/** Screen of the last alerts that matched no monitor. */
export function UnmatchedAlerts(props: {
  alerts: readonly UnmatchedAlert[];
  canCreate: boolean;
  now: number;
}) {
  const { alerts, canCreate, now } = props;
  const title = "Alerts that matched nothing";
  return (
    <>
      <PageHead
        title={title}
        crumbs={[{ href: MONITORS_PATH, label: "Monitors" }, { label: title }]}
      >
        <p class="muted">
          The last 100 alerts of the past 7 days that fulfilled the matchers of no monitor.
        </p>
      </PageHead>
      <DetailCard title="Alerts" liveId="unmatched-alerts" isTable>
        {alerts.length === 0 ? (
          <p class="muted detail-body">
            None. Alerts appear here when a sender reports one that no monitor matches.
          </p>
        ) : (
          <DenseDataTable
            caption={title}
            entries={alerts}
            columns={[
              {
                label: "Alert",
                cell: ({ title: alert, labels, isTest }) => (
                  <>
                    <State tone="none">{isTest ? `Test: ${alert}` : alert}</State>
                    <LabelList labels={labels} />
                  </>
                ),
              },
              { label: "Sender", isSecondary: true, cell: ({ senderName }) => senderName },
              {
                label: "Last report",
                cell: ({ seenAt }) => <RelativeTime at={toIso(seenAt)} now={now} />,
              },
              ...buttons<UnmatchedAlert>(canCreate, newMonitorLink),
            ]}
          />
        )}
      </DetailCard>
    </>
  );
}

function newMonitorLink({ title, format, labels, isTest }: UnmatchedAlert) {
  if (isTest || format === "json") return null;
  const values = { type: "alert", name: title, format, match: matchersFor(labels) };
  return <ButtonLink href={withQuery(NEW_MONITOR_PATH, values)}>New monitor from this</ButtonLink>;
}
