import type { Reader } from "../../db/statements";
import { notFound } from "../../errors/problem";
import type { ComponentStatus } from "../../domain/component-status";
import type { PageAddress } from "../pages/address";
import { requireUpdate } from "../timeline/updates";
import { listJoinedOutages, listAutomatic } from "./outage-store";
import { type Automation, inOrder, timelineOf } from "./rules";
import {
  findIncident,
  type IncidentRow,
  listNamings,
  listUpdateBodies,
  listUpdatesWithoutBody,
  type NamingRow,
  type UpdateRow,
} from "./store";

/** An update without its text. The status, times and causes of an incident are computed from these. */
export interface UpdateSummary extends Omit<UpdateRow, "body"> {
  components: NamingRow[];
}

export interface UpdateRecord extends UpdateSummary {
  body: string;
}

export interface IncidentWithPage {
  row: IncidentRow;
  page: PageAddress;
}

/** An incident with the components that it names, and all or the newest updates, newest first. */
export interface IncidentRecord extends IncidentWithPage {
  components: { id: string; name: string; status: ComponentStatus }[];
  updates: UpdateRecord[];
  /** True if components are left out because a document has no room for all of them. */
  isTruncated?: boolean;
}

/** Returns one incident. Throws `not_found`, also for a draft unless `canSeeDrafts`. */
export function getIncidentRow(
  reader: Reader,
  id: string,
  canSeeDrafts: boolean,
): IncidentWithPage {
  const incident = findIncident(reader, { id });
  if (!incident || (incident.row.draft && !canSeeDrafts)) throw notFound("incident");
  return incident;
}

/** Returns one incident with all of its updates. Throws as `getIncidentRow` does. */
export function getIncident(reader: Reader, id: string, canSeeDrafts: boolean): IncidentRecord {
  const incident = getIncidentRow(reader, id, canSeeDrafts);
  return toRecord(reader, incident, listUpdateSummaries(reader, id));
}

/**
 * Returns a published incident with at most `limit` updates: the newest, or those that are older than
 * the update `before`. Reads only the texts of these. Throws `not_found`, also for that update.
 */
export function getIncidentPart(
  reader: Reader,
  id: string,
  { before, limit }: { before: string | undefined; limit: number },
): { record: IncidentRecord; isMore: boolean } {
  const incident = getIncidentRow(reader, id, false);
  const summaries = listUpdateSummaries(reader, id);
  const start = before === undefined ? 0 : summaries.indexOf(requireUpdate(summaries, before)) + 1;
  const { updates } = toRecord(reader, incident, summaries.slice(start, start + limit));
  return {
    record: {
      ...incident,
      components: affectedBy(incident.row, summaries, automationOf(reader, incident.row)),
      updates,
    },
    isMore: start + limit < summaries.length,
  };
}

/** Lists all updates of one incident without their texts, newest first. */
export function listUpdateSummaries(reader: Reader, incidentId: string): UpdateSummary[] {
  return summariesOf(reader, [incidentId]).get(incidentId) ?? [];
}

/** Returns the record of an incident with the texts of all `summaries`. */
export function toRecord(
  reader: Reader,
  { row, page }: IncidentWithPage,
  summaries: readonly UpdateSummary[],
): IncidentRecord {
  const bodies = bodiesOf(reader, summaries);
  const updates = summaries.map((update) => withBody(update, bodies));
  const components = affectedBy(row, summaries, automationOf(reader, row));
  return { row, page, components, updates };
}

/** Returns all components that an incident ever named or that joined, each with its last name and status. */
export function affectedBy(
  row: IncidentRow,
  summaries: readonly UpdateSummary[],
  automation: Automation | undefined,
): IncidentRecord["components"] {
  const { components } = timelineOf(row, summaries, automation);
  const names = new Map(
    (automation?.outages ?? []).map(({ componentId, name }) => [componentId, name]),
  );
  for (const update of inOrder(summaries)) {
    for (const { componentId, name } of update.components) names.set(componentId, name);
  }
  return [...components].map(([id, status]) => ({ id, name: names.get(id) ?? "", status }));
}

/** Returns the outages of an incident that Allclear opened; undefined for any other. */
export function automationOf(
  reader: Reader,
  row: Pick<IncidentRow, "id" | "source">,
): Automation | undefined {
  return automationsOf(reader, [row]).get(row.id);
}

/** Returns the outages of those incidents that Allclear opened, by incident id. */
export function automationsOf(
  reader: Reader,
  rows: readonly Pick<IncidentRow, "id" | "source">[],
): Map<string, Automation> {
  const opened = rows.filter(({ source }) => source === "monitor");
  if (opened.length === 0) return new Map();
  const ids = JSON.stringify(opened.map(({ id }) => id));
  const outages = Map.groupBy(listJoinedOutages(reader, { ids }), ({ incidentId }) => incidentId);
  return new Map(
    listAutomatic(reader, { ids }).map(({ incidentId, startedAt, takenOverAt }) => [
      incidentId,
      { startedAt, takenOverAt, outages: outages.get(incidentId) ?? [] },
    ]),
  );
}

/** Lists all updates of several incidents without their texts, newest first, by incident id. */
export function summariesOf(
  reader: Reader,
  incidentIds: readonly string[],
): Map<string, UpdateSummary[]> {
  const ids = JSON.stringify(incidentIds);
  const namings = Map.groupBy(
    listNamings(reader, { ids }).map(({ naming }) => naming),
    (naming) => naming.updateId,
  );
  const summaries = listUpdatesWithoutBody(reader, { ids }).map((update) => ({
    ...update,
    components: namings.get(update.id) ?? [],
  }));
  return Map.groupBy(inOrder(summaries).reverse(), (update) => update.incidentId);
}

/** Reads the texts of updates, by update id. */
export function bodiesOf(
  reader: Reader,
  summaries: readonly UpdateSummary[],
): ReadonlyMap<string, string> {
  const ids = JSON.stringify(summaries.map(({ id }) => id));
  return new Map(listUpdateBodies(reader, { ids }).map(({ id, body }) => [id, body]));
}

export function withBody(update: UpdateSummary, bodies: ReadonlyMap<string, string>): UpdateRecord {
  return { ...update, body: bodies.get(update.id) ?? "" };
}
