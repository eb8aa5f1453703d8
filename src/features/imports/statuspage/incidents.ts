import { IMPACTS, INCIDENT_STATUSES, type NamedStatus, worstStatus } from "../../../base/status";
import type { ForeignObject, ImportChange } from "../../../base/import-report";
import { oneLine, plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { impactOf } from "../../incidents/rules";
import type { ForeignKey, FoundIncident, LeftOut } from "../source";
import { cutName, textChange } from "../texts";
import { keyOfComponent, namedStatusOf } from "./components";
import { type SourceIncident, type SourceUpdate, timeOf } from "./document";
import { updatesOf } from "./updates";

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
  const changes: ImportChange[] = [];
  const missing = new Set<string>();
  const foreign = foreignOf(incident, "incident");
  const isOver = incident.status === "resolved" || incident.status === "postmortem";
  const steps = { statuses: INCIDENT_STATUSES, first: "investigating" as const };
  const updates = updatesOf(
    incident,
    isOver ? { ...steps, ending: "resolved" } : steps,
    changes,
  ).map(({ source, ...update }) => ({
    ...update,
    components: statusesOf(source, place, missing, changes),
  }));
  changes.push(...withoutMissing(missing));
  const [first] = updates;
  if (!first) return { foreign, reason: "It has no valid time." };
  const startedAt = timeOf(incident.started_at) ?? first.at;
  return {
    foreign,
    page: place.page,
    body: {
      name: incident.name,
      impact_override: overrideOf(incident, updates, changes),
      started_at: toIso(startedAt),
      updates: updates.map(({ at: _at, ...update }) => update),
      postmortem: postmortemOf(incident, changes),
    },
    changes,
    number: null,
    externalId: incident.id,
  };
}

export function foreignOf({ id, name }: SourceIncident, type: string): ForeignObject {
  return { type, id, name: cutName(name, `Unnamed ${type}`) };
}

/** Returns the statuses that an update gives to components. */
function statusesOf(
  update: SourceUpdate | undefined,
  { components }: Place,
  missing: Set<string>,
  changes: ImportChange[],
): Record<ForeignKey, NamedStatus> {
  const statuses: Record<ForeignKey, NamedStatus> = {};
  for (const { code, name, new_status: text } of update?.affected_components ?? []) {
    if (!components.has(code)) {
      missing.add(name ?? code);
      continue;
    }
    const status = namedStatusOf(text) ?? "operational";
    if (text !== status && !changes.some(({ field }) => field === "new_status")) {
      const reason = "Incidents do not set this status.";
      changes.push(...textChange("new_status", text ?? "", status, reason));
    }
    statuses[keyOfComponent(code)] = status;
  }
  return statuses;
}

/** Returns the differences for components that are no longer on the page, of which the first ones are named. */
export function withoutMissing(names: ReadonlySet<string>): ImportChange[] {
  const reason = "The page does not have this component.";
  const more = names.size - MISSING_NAMED_MAX;
  const named = [...names].slice(0, MISSING_NAMED_MAX).map((name) => oneLine(name.slice(0, 300)));
  return [...named, ...(more > 0 ? [`${plural(more, "other component")}`] : [])].map((from) => ({
    field: "components",
    from,
    to: null,
    reason,
  }));
}

/** Returns the impact where that of the components is another one; else null. */
function overrideOf(
  incident: SourceIncident,
  updates: readonly { components: Readonly<Record<ForeignKey, NamedStatus>> }[],
  changes: ImportChange[],
) {
  const text = incident.impact_override ?? incident.impact;
  if (!text) return null;
  const impact = IMPACTS.find((each) => each === text);
  const named = updates.flatMap(({ components }) => Object.values(components));
  const computed = impactOf([worstStatus(named)], null);
  if (impact === undefined) {
    changes.push(...textChange("impact", text, computed, "This impact is not known."));
  }
  return impact === undefined || impact === computed ? null : impact;
}

/** Returns the post-mortem if it is published. */
function postmortemOf(incident: SourceIncident, changes: ImportChange[]) {
  const update = incident.incident_updates?.find(({ status }) => status === "postmortem");
  const isPublished =
    incident.status === "postmortem" || update !== undefined || incident.postmortem_published_at;
  const body = incident.postmortem_body || update?.body || "";
  const note = (from: string | null, reason: string) =>
    void changes.push({ field: "postmortem_body", from, to: null, reason });
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
