import type { ComponentChange } from "../../features/components/model";
import { IMPACT_TONES, type MaintenanceStatus, STATUS_TONES } from "../../base/status";
import { toIso } from "../../base/time";
import { IMPACT_WORDS, INCIDENT_WORDS, lasting, MAINTENANCE_WORDS } from "../../public/words";
import { Chip, Shape, STATUS_WORDS } from "../../ui/blocks";
import { DetailCard, DetailRow } from "../../ui/detail";
import { RelativeTime } from "../../ui/times";
import { incidentPath, maintenancePath } from "../../ui/frame/paths";
import type { ComponentEvent, ComponentView } from "./component-view";

/** Incidents and maintenance of a component, latest start first. */
export function ComponentEvents({ view, now }: { view: ComponentView; now: number }) {
  const { events, hasMoreEvents } = view;
  return (
    <DetailCard title="Incidents and maintenance" liveId="component-events" isFlush>
      {events.length === 0 ? (
        <p class="muted detail-body">No incident or maintenance has named this component.</p>
      ) : (
        <ul>
          {events.map((event) =>
            event.kind === "incident" ? (
              <IncidentRow key={event.row.id} row={event.row} now={now} />
            ) : (
              <MaintenanceRow key={event.row.id} row={event.row} now={now} />
            ),
          )}
        </ul>
      )}
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
      shape={<Shape tone={IMPACT_TONES[impact]} />}
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
  const isAhead = status === "scheduled" || status === "cancelled";
  return (
    <DetailRow
      shape={<Shape tone={isAhead ? "none" : "maint"} />}
      href={maintenancePath(row.id)}
      title={row.name}
      note={
        <>
          {MAINTENANCE_WORDS[status]} · {PLANNED[status] ?? "started"}{" "}
          <RelativeTime at={toIso(startedAt ?? scheduledFor)} now={now} />
        </>
      }
      end={<Chip tone={isAhead ? "none" : "maint"}>Maintenance</Chip>}
    />
  );
}

/** Recorded status changes of a component, newest first. */
export function StatusChanges(props: { changes: readonly ComponentChange[]; now: number }) {
  const { changes, now } = props;
  return (
    <DetailCard title="Status changes" liveId="component-changes" isFlush>
      {changes.length === 0 ? (
        <p class="muted detail-body">No status changes yet.</p>
      ) : (
        <ul>
          {changes.map((change) => (
            <DetailRow
              key={`${change.at} ${change.from} ${change.to}`}
              shape={<Shape tone={STATUS_TONES[change.to]} />}
              title={STATUS_WORDS[change.to]}
              note={
                <>
                  By {change.actor.label}, <RelativeTime at={change.at} now={now} />
                  {change.reason ? ` · ${change.reason}` : null}
                </>
              }
            />
          ))}
        </ul>
      )}
    </DetailCard>
  );
}
