import { webhookName } from "../../features/webhooks/changes";
import { IMPACT_TONES, MONITOR_TONES, type MonitorState, STATUS_TONES } from "../../base/status";
import { toIso } from "../../base/time";
import { INCIDENT_WORDS } from "../../public/words";
import { Chip, MONITOR_WORDS, Shape, STATUS_WORDS } from "../../ui/blocks";
import { DetailCard, DetailRow } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { RelativeTime } from "../../ui/times";
import { componentPath, incidentPath, monitorPath, webhookPath } from "../../ui/frame/paths";
import type { MonitorView } from "./monitor-view";

/** Maximum numbers of incidents, and of dependent monitors, in their cards. */
const INCIDENTS_SHOWN = 10;
const DEPENDENTS_SHOWN = 10;

/** Components whose status a monitor sets. */
export function AffectedComponents({ view, editPath }: { view: MonitorView; editPath?: string }) {
  const { components, record } = view;
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
                <>
                  {STATUS_WORDS[status]}.{" "}
                  {ownStatus === undefined
                    ? `While the monitor is down: ${STATUS_WORDS[record.row.onDown].toLowerCase()}.`
                    : `Set by this monitor: ${STATUS_WORDS[ownStatus].toLowerCase()}.`}
                </>
              }
            />
          ))}
        </ul>
      )}
    </DetailCard>
  );
}

/** Monitors on which a monitor depends, and those that depend on it. Renders nothing without any. */
export function Dependencies({ view }: { view: MonitorView }) {
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
export function OwnIncidents({ view, now }: { view: MonitorView; now: number }) {
  const { incidents, present, record } = view;
  const deleted = present.filter(({ isDeleted }) => isDeleted === 1);
  if (incidents.length + deleted.length === 0 && record.row.openIncident === "never") return null;
  const current = new Set(present.map(({ incidentId }) => incidentId));
  return (
    <DetailCard title="Incidents of this monitor" liveId="monitor-incidents" isFlush>
      {incidents.length + deleted.length === 0 ? (
        <p class="muted detail-body">None yet.</p>
      ) : (
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
                shape={<Shape tone={IMPACT_TONES[impact]} />}
                href={incidentPath(id)}
                title={name}
                note={
                  <>
                    {INCIDENT_WORDS[status]} · started{" "}
                    <RelativeTime at={toIso(startedAt)} now={now} />
                    {!current.has(id)
                      ? null
                      : status === "resolved"
                        ? " · resolved during the present outage"
                        : " · has the present outage"}
                  </>
                }
                end={draft ? <Chip tone="none">Draft</Chip> : undefined}
              />
            ))}
        </ul>
      )}
    </DetailCard>
  );
}

/** Webhooks that get messages about a monitor, for roles that may open and change them. */
export function Notified({ view, editPath }: { view: MonitorView; editPath: string }) {
  return (
    <DetailCard
      title="Notified"
      liveId="monitor-notified"
      end={view.canSelectWebhooks ? <a href={editPath}>Change</a> : undefined}
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
