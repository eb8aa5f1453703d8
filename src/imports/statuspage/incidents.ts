import type { ForeignObject } from "../../base/import-report";
import {
  IMPACTS,
  INCIDENT_STATUSES,
  MAINTENANCE_STATUSES,
  type MaintenanceStatus,
  type NamedStatus,
  worstStatus,
} from "../../base/status";
import { capitalised, plural, spaced } from "../../base/text";
import { HOUR_MS, toIso } from "../../base/time";
import { impactOf } from "../../features/incidents/rules";
import { cutName, Notes } from "../kit";
import type { ForeignKey, FoundIncident, FoundMaintenance, LeftOut } from "../found";
import {
  keyOfComponent,
  namedStatusOf,
  type SourceIncident,
  type SourceUpdate,
  timeOf,
} from "./document";

/** Number of missing components that an incident names. */
const MISSING_NAMED_MAX = 10;

/** Page and components that are moved, and to which incidents and maintenance refer. */
export interface Place {
  page: ForeignKey;
  /** Ids of the components; all ids where the source has no list of them, since earlier imports may have had one. */
  components: Pick<ReadonlySet<string>, "has">;
}

/** Returns true for a maintenance, which Statuspage counts as an incident. */
export function isMaintenance({ scheduled_for: scheduledFor }: SourceIncident): boolean {
  return Boolean(scheduledFor);
}

/** Returns the incident of one of Statuspage, or the reason for which it cannot be moved. */
export function incidentOf(incident: SourceIncident, place: Place): FoundIncident | LeftOut {
  const notes = new Notes();
  const missing = new Set<string>();
  const foreign = foreignOf(incident, "incident");
  const isOver = incident.status === "resolved" || incident.status === "postmortem";
  const steps = { statuses: INCIDENT_STATUSES, first: "investigating" as const };
  const ending = isOver ? "resolved" : undefined;
  const updates = updatesOf(incident, { ...steps, ending }, notes).map(({ source, ...update }) => ({
    ...update,
    components: statusesOf(source, place, missing, notes),
  }));
  noteMissing(missing, notes);
  const [first] = updates;
  if (!first) return { foreign, reason: "It has no valid time." };
  const startedAt = timeOf(incident.started_at) ?? first.at;
  return {
    foreign,
    page: place.page,
    body: {
      name: incident.name,
      impact_override: overrideOf(incident, updates, notes),
      started_at: toIso(startedAt),
      updates: updates.map(({ at: _at, ...update }) => update),
      postmortem: postmortemOf(incident, notes),
    },
    changes: notes.changes,
    externalId: incident.id,
  };
}

function foreignOf({ id, name }: SourceIncident, type: string): ForeignObject {
  return { type, id, name: cutName(name, `Unnamed ${type}`) };
}

/** Returns the statuses that an update gives to components. */
function statusesOf(
  update: SourceUpdate | undefined,
  { components }: Place,
  missing: Set<string>,
  notes: Notes,
): Record<ForeignKey, NamedStatus> {
  const statuses: Record<ForeignKey, NamedStatus> = {};
  for (const { code, name, new_status: text } of update?.affected_components ?? []) {
    if (!components.has(code)) {
      missing.add(name ?? code);
      continue;
    }
    const status = namedStatusOf(text) ?? "operational";
    if (!notes.changes.some(({ field }) => field === "new_status")) {
      notes.text("new_status", text ?? "", status, "Incidents do not set this status.");
    }
    statuses[keyOfComponent(code)] = status;
  }
  return statuses;
}

/** Notes components that are no longer on the page, of which the first ones are named. */
function noteMissing(names: ReadonlySet<string>, notes: Notes): void {
  const more = names.size - MISSING_NAMED_MAX;
  const named = [...names].slice(0, MISSING_NAMED_MAX).map((name) => name.slice(0, 300));
  for (const from of more > 0 ? [...named, plural(more, "other component")] : named) {
    notes.change("components", from, null, "The page does not have this component.");
  }
}

/** Returns the impact where that of the components is another one; else null. */
function overrideOf(
  incident: SourceIncident,
  updates: readonly { components: Readonly<Record<ForeignKey, NamedStatus>> }[],
  notes: Notes,
) {
  const text = incident.impact_override ?? incident.impact;
  if (!text) return null;
  const impact = IMPACTS.find((each) => each === text);
  const named = updates.flatMap(({ components }) => Object.values(components));
  const computed = impactOf([worstStatus(named)], null);
  if (impact === undefined) {
    notes.text("impact", text, computed, "This impact is not known.");
  }
  return impact === undefined || impact === computed ? null : impact;
}

/** Returns the post-mortem if it is published. */
function postmortemOf(incident: SourceIncident, notes: Notes) {
  const update = incident.incident_updates?.find(({ status }) => status === "postmortem");
  const isPublished =
    incident.status === "postmortem" || update !== undefined || incident.postmortem_published_at;
  const body = incident.postmortem_body || update?.body || "";
  const note = (from: string | null, reason: string) =>
    notes.change("postmortem_body", from, null, reason);
  if (!isPublished) {
    if (body !== "") note("set", "It is a draft, and only published ones are moved.");
    return null;
  }
  if (body.trim() === "") {
    note(null, "The text of its post-mortem is not in the source.");
    return null;
  }
  const { postmortem_published_at: at } = incident;
  const publishedAt = timeOf(
    typeof at === "string" ? at : null,
    update?.display_at,
    update?.created_at,
    incident.resolved_at,
    incident.updated_at,
    incident.created_at,
  );
  if (publishedAt === undefined) {
    note("set", "It has no valid time.");
    return null;
  }
  return { body, published_at: toIso(publishedAt) };
}

const REMIND_MINUTES = 60;
const FINAL: ReadonlySet<string> = new Set([
  "completed",
  "cancelled",
] satisfies MaintenanceStatus[]);

/** Returns the maintenance of one of Statuspage, or the reason for which it cannot be moved. */
export function maintenanceOf(incident: SourceIncident, place: Place): FoundMaintenance | LeftOut {
  const notes = new Notes();
  const foreign = foreignOf(incident, "maintenance");
  const start = timeOf(incident.scheduled_for);
  if (start === undefined) return { foreign, reason: "It has no valid planned start." };
  const end = endOf(incident, start, notes);
  const ending = endingOf(incident);
  const steps = { statuses: MAINTENANCE_STATUSES, first: "scheduled" as const, ending };
  const updates = updatesOf(incident, steps, notes);
  if (updates.length === 0) return { foreign, reason: "It has no valid time." };
  if (ending === undefined) noteTransitions(incident, notes);
  return {
    foreign,
    page: place.page,
    components: componentsOf(incident, place, notes),
    body: {
      name: incident.name,
      scheduled_for: toIso(start),
      scheduled_until: toIso(end),
      ...flagsOf(incident),
      updates: updates.map(({ status, body, display_at }) => ({ status, body, display_at })),
    },
    changes: notes.changes,
  };
}

/** Returns the final status; undefined if it is not over. */
function endingOf({ status }: SourceIncident): MaintenanceStatus | undefined {
  if (status === "postmortem" || status === "resolved") return "completed";
  return MAINTENANCE_STATUSES.find((each) => each === status && FINAL.has(each));
}

function endOf({ scheduled_until: text }: SourceIncident, start: number, notes: Notes): number {
  const end = timeOf(text);
  if (end !== undefined && end > start) return end;
  const reason = "A maintenance ends after its start.";
  const from = end === undefined ? null : toIso(end);
  notes.change("scheduled_until", from, toIso(start + HOUR_MS), reason);
  return start + HOUR_MS;
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
function noteTransitions(incident: SourceIncident, notes: Notes): void {
  const reason = "Components are under maintenance from its start to its end.";
  for (const field of [
    "auto_transition_to_maintenance_state",
    "auto_transition_to_operational_state",
  ] as const) {
    if (incident[field] === false) notes.change(field, false, true, reason);
  }
}

/** Returns the components of the page that a maintenance names. */
function componentsOf(
  { components, incident_updates: updates }: SourceIncident,
  place: Place,
  notes: Notes,
) {
  const named = new Map<string, string>();
  for (const { id, name } of components ?? []) named.set(id, name ?? id);
  for (const { affected_components: affected } of updates ?? []) {
    for (const { code, name } of affected ?? []) named.set(code, name ?? code);
  }
  const missing = [...named].filter(([id]) => !place.components.has(id));
  noteMissing(new Set(missing.map(([, name]) => name)), notes);
  return [...named.keys()].filter((id) => place.components.has(id)).map(keyOfComponent);
}

/** An update with a status of this installation. */
interface UsableUpdate<Status> {
  /** Unix ms. */
  at: number;
  status: Status;
  body: string;
  display_at: string;
  /** Undefined for one that was added. */
  source: SourceUpdate | undefined;
}

/**
 * Returns the updates of an incident or a maintenance in the order of their effect, at least one. `ending` is the status that the last one must have; undefined while it goes on.
 */
function updatesOf<Status extends string>(
  incident: SourceIncident,
  {
    statuses,
    ending,
    first,
  }: { statuses: readonly Status[]; ending: Status | undefined; first: Status },
  notes: Notes,
): UsableUpdate<Status>[] {
  const updates: UsableUpdate<Status>[] = [];
  const dropped = new Map<string, number>();
  // Newest first in the source, so that of two at one time the later one is written later.
  for (const source of (incident.incident_updates ?? []).toReversed()) {
    // The text of the post-mortem.
    if (source.status === "postmortem") continue;
    const at = timeOf(source.display_at, source.created_at);
    const status = statuses.find((each) => each === source.status);
    if (at === undefined || status === undefined) {
      const problem = at === undefined ? "no valid time" : "an unknown status";
      dropped.set(problem, (dropped.get(problem) ?? 0) + 1);
      continue;
    }
    updates.push({ at, status, body: textOf(source, status), display_at: toIso(at), source });
  }
  for (const [problem, count] of dropped) {
    const reason = `Updates with ${problem} are not moved.`;
    notes.change("incident_updates", plural(count, "update"), null, reason);
  }
  updates.sort((a, b) => a.at - b.at);
  const created = timeOf(incident.created_at, incident.started_at, incident.scheduled_for);
  if (updates.length === 0 && created !== undefined) {
    updates.push(addedUpdate(first, created));
    notes.change("incident_updates", null, "added", "It has no update, and gets one.");
  }
  const last = updates.at(-1);
  if (ending !== undefined && last !== undefined && last.status !== ending) {
    const at = timeOf(incident.resolved_at, incident.updated_at) ?? last.at;
    updates.push(addedUpdate(ending, Math.max(at, last.at)));
    notes.change("incident_updates", null, "added", "No update ends it, so one is added.");
  }
  return updates;
}

/** Returns an update that says its status. */
function addedUpdate<Status extends string>(status: Status, at: number) {
  return { at, status, body: wordsOf(status), display_at: toIso(at), source: undefined };
}

function wordsOf(status: string): string {
  return `${capitalised(spaced(status))}.`;
}

/** Returns the text of an update; words for its status without one. */
function textOf({ body }: SourceUpdate, status: string): string {
  return body && body.trim() !== "" ? body : wordsOf(status);
}
