import { webhookName } from "../../features/webhooks";
import { IMPACT_TONES, STATUS_TONES } from "../../domain/tone";
import { toIso } from "../../kernel/time";
import { INCIDENT_WORDS } from "../../public/words";
import { Chip, DetailCard, DetailRow, Icon, RelativeTime, Shape, STATUS_WORDS } from "../../ui";
import { componentPath, incidentPath, webhookPath } from "../paths";
import type { MonitorView } from "./monitor-view";

/** Maximum number of incidents in the card. */
const INCIDENTS_SHOWN = 10;

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

/** Incidents that a monitor opened, newest first. */
export function OwnIncidents({ view, now }: { view: MonitorView; now: number }) {
  const { incidents, record } = view;
  if (incidents.length === 0 && record.row.openIncident === "never") return null;
  return (
    <DetailCard title="Incidents opened by this monitor" liveId="monitor-incidents" isFlush>
      {incidents.length === 0 ? (
        <p class="muted detail-body">None yet.</p>
      ) : (
        <ul>
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

/** Webhooks that get messages about a monitor, for roles that may open them. */
export function Notified({ view }: { view: MonitorView }) {
  return (
    <DetailCard title="Notified" liveId="monitor-notified" isFlush>
      {view.webhooks.length === 0 ? (
        <p class="muted detail-body">No webhook gets messages about this monitor.</p>
      ) : (
        <ul>
          {view.webhooks.map((webhook) => (
            <DetailRow
              key={webhook.id}
              shape={
                webhook.enabled && webhook.failingSince !== null ? (
                  <Shape tone="partial" />
                ) : (
                  <Icon name="webhook" />
                )
              }
              href={webhookPath(webhook.id)}
              title={webhookName(webhook)}
              note={
                !webhook.enabled
                  ? "Webhook · disabled"
                  : webhook.failingSince === null
                    ? "Webhook"
                    : "Webhook · failing"
              }
            />
          ))}
        </ul>
      )}
    </DetailCard>
  );
}
