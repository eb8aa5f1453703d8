import type { ImportChange } from "../../../base/import-report";
import { MAINTENANCE_STATUSES, type MaintenanceStatus } from "../../../base/status";
import { HOUR_MS, toIso } from "../../../base/time";
import type { FoundMaintenance, LeftOut } from "../source";
import { keyOfComponent } from "./components";
import { type SourceIncident, timeOf } from "./document";
import { foreignOf, type Place, withoutMissing } from "./incidents";
import { updatesOf } from "./updates";

const REMIND_MINUTES = 60;
const FINAL: ReadonlySet<string> = new Set([
  "completed",
  "cancelled",
] satisfies MaintenanceStatus[]);

/** Returns the maintenance of one of Statuspage, or the reason for which it cannot be moved. */
export function maintenanceOf(incident: SourceIncident, place: Place): FoundMaintenance | LeftOut {
  const changes: ImportChange[] = [];
  const foreign = foreignOf(incident, "maintenance");
  const start = timeOf(incident.scheduled_for);
  if (start === undefined) return { foreign, reason: "It has no valid planned start." };
  const end = endOf(incident, start, changes);
  const ending = endingOf(incident);
  const steps = { statuses: MAINTENANCE_STATUSES, first: "scheduled" as const };
  const updates = updatesOf(incident, ending ? { ...steps, ending } : steps, changes);
  if (updates.length === 0) return { foreign, reason: "It has no valid time." };
  if (ending === undefined) noteTransitions(incident, changes);
  return {
    foreign,
    page: place.page,
    components: componentsOf(incident, place, changes),
    body: {
      name: incident.name,
      scheduled_for: toIso(start),
      scheduled_until: toIso(end),
      ...flagsOf(incident),
      updates: updates.map(({ status, body, display_at }) => ({ status, body, display_at })),
    },
    changes,
    number: null,
  };
}

/** Returns the final status; undefined if it is not over. */
function endingOf({ status }: SourceIncident): MaintenanceStatus | undefined {
  if (status === "postmortem" || status === "resolved") return "completed";
  return MAINTENANCE_STATUSES.find((each) => each === status && FINAL.has(each));
}

function endOf(
  { scheduled_until: text }: SourceIncident,
  start: number,
  changes: ImportChange[],
): number {
  const end = timeOf(text);
  if (end !== undefined && end > start) return end;
  const to = toIso(start + HOUR_MS);
  const reason = "A maintenance ends after its start.";
  changes.push({ field: "scheduled_until", from: toIsoOf(end), to, reason });
  return start + HOUR_MS;
}

function toIsoOf(at: number | undefined): string | null {
  return at === undefined ? null : toIso(at);
}

/** Returns the flags. The public documents do not have them, so those of a new maintenance are taken. */
function flagsOf(incident: SourceIncident) {
  const { scheduled_auto_in_progress: starts, scheduled_auto_completed: ends } = incident;
  const { scheduled_remind_prior: reminds } = incident;
  return {
    ...(typeof starts === "boolean" && { auto_start: starts }),
    ...(typeof ends === "boolean" && { auto_complete: ends }),
    ...(typeof reminds === "boolean" && {
      remind_minutes_before: reminds ? REMIND_MINUTES : null,
    }),
  };
}

/** Notes differences in what a maintenance does to its components. */
function noteTransitions(incident: SourceIncident, changes: ImportChange[]): void {
  const reason = "Components are under maintenance from its start to its end.";
  for (const field of [
    "auto_transition_to_maintenance_state",
    "auto_transition_to_operational_state",
  ] as const) {
    if (incident[field] === false) changes.push({ field, from: false, to: true, reason });
  }
}

/** Returns the components of the page that a maintenance names. */
function componentsOf(
  { components, incident_updates: updates }: SourceIncident,
  place: Place,
  changes: ImportChange[],
) {
  const named = new Map<string, string>();
  for (const { id, name } of components ?? []) named.set(id, name ?? id);
  for (const { affected_components: affected } of updates ?? []) {
    for (const { code, name } of affected ?? []) named.set(code, name ?? code);
  }
  const missing = [...named].filter(([id]) => !place.components.has(id));
  changes.push(...withoutMissing(new Set(missing.map(([, name]) => name))));
  return [...named.keys()].filter((id) => place.components.has(id)).map(keyOfComponent);
}
