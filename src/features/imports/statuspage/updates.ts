import type { ImportChange } from "../../../base/import-report";
import { capitalised, plural, spaced } from "../../../base/text";
import { toIso } from "../../../base/time";
import { type SourceIncident, type SourceUpdate, timeOf } from "./document";

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
 * Returns the updates of an incident or a maintenance in the order of their effect, at least one. Adds what is
 * different to `changes`. `ending` is the status that the last one must have; undefined while it goes on.
 */
export function updatesOf<Status extends string>(
  incident: SourceIncident,
  { statuses, ending, first }: { statuses: readonly Status[]; ending?: Status; first: Status },
  changes: ImportChange[],
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
    const from = plural(count, "update");
    const reason = `Updates with ${problem} are not moved.`;
    changes.push({ field: "incident_updates", from, to: null, reason });
  }
  updates.sort((a, b) => a.at - b.at);
  const created = timeOf(incident.created_at, incident.started_at, incident.scheduled_for);
  if (updates.length === 0 && created !== undefined) {
    updates.push(addedUpdate(first, created));
    changes.push(differenceOf("It has no update, and gets one."));
  }
  const last = updates.at(-1);
  if (ending !== undefined && last !== undefined && last.status !== ending) {
    const at = timeOf(incident.resolved_at, incident.updated_at) ?? last.at;
    updates.push(addedUpdate(ending, Math.max(at, last.at)));
    changes.push(differenceOf("No update ends it, so one is added."));
  }
  return updates;
}

function differenceOf(reason: string): ImportChange {
  return { field: "incident_updates", from: null, to: "added", reason };
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
