import type { HistoryEntry } from "../../features/status/history";
import { IMPACT_TONES, type Tone } from "../../base/status";
import { toIso } from "../../base/time";
import { IMPACT_WORDS, INCIDENT_WORDS, lasting, MAINTENANCE_WORDS } from "../../public/words";
import { Chip, Shape } from "../../ui/blocks";
import { DetailCard, DetailRow } from "../../ui/detail";
import { longDay, shortDay } from "../../ui/times";
import { incidentPath, maintenancePath } from "../../ui/frame/paths";
import type { CalendarView } from "./calendar-view";

/** Incidents and maintenance that started in the month, newest first. */
export function Entries({ view }: { view: CalendarView }) {
  const { entries, isTruncated, month, now } = view;
  return (
    <DetailCard
      title="Incidents and maintenance"
      liveId="calendar-entries"
      count={entries.length === 0 ? undefined : `${entries.length}${isTruncated ? " newest" : ""}`}
      isFlush
    >
      {entries.length === 0 ? (
        <p class="muted detail-body">
          No incident or maintenance started in {monthName(month.name)}.
        </p>
      ) : (
        <ul>
          {entries.map((entry) => (
            <DetailRow
              key={pathOf(entry)}
              shape={<Shape tone={toneOf(entry)} />}
              href={pathOf(entry)}
              title={nameOf(entry)}
              note={noteOf(entry, now)}
              end={
                <Chip tone={toneOf(entry)}>
                  {entry.subject.kind === "incident"
                    ? IMPACT_WORDS[entry.subject.incident.impact]
                    : "Maintenance"}
                </Chip>
              }
            />
          ))}
        </ul>
      )}
    </DetailCard>
  );
}

/** Returns day, state and duration of an entry: "13 Nov 2026 · Resolved · 21 min". */
function noteOf({ from, to, subject }: HistoryEntry, now: number): string {
  const state =
    subject.kind === "incident"
      ? INCIDENT_WORDS[subject.incident.status]
      : MAINTENANCE_WORDS[subject.maintenance.status];
  const length = lasting(toIso(from), toIso(to ?? now));
  return `${shortDay(toIso(from))} · ${state} · ${length}${to === null ? " so far" : ""}`;
}

/** Returns the name of an incident or maintenance. */
export function nameOf({ subject }: HistoryEntry): string {
  return subject.kind === "incident" ? subject.incident.name : subject.maintenance.name;
}

/** Returns the path of the screen of an incident or maintenance. */
export function pathOf({ subject }: HistoryEntry): string {
  return subject.kind === "incident"
    ? incidentPath(subject.incident.id)
    : maintenancePath(subject.maintenance.id);
}

/** Returns the tone of an incident's impact, or of maintenance. */
export function toneOf({ subject }: HistoryEntry): Tone {
  return subject.kind === "incident" ? IMPACT_TONES[subject.incident.impact] : "maint";
}

/** Returns the month of a name (`YYYY-MM`) as text: "November 2026". */
export function monthName(name: string): string {
  return longDay(`${name}-01`).slice(2);
}
