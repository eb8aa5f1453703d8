import type { Reader } from "../../db/statements";
import { listComponentsOfPage } from "../components/store";
import { findIncident } from "../incidents/store";
import { getIncidentPart } from "../incidents/records";
import { findMaintenance } from "../maintenance/store";
import { getMaintenanceRecord } from "../maintenance/records";
import { findThread, type MailingRow } from "./store";

/**
 * Returns the ids of all components that the subject of a mailing has ever named; undefined if the subject is
 * not there any more.
 */
export function reachOf(
  reader: Reader,
  { kind, subjectId }: Pick<MailingRow, "kind" | "subjectId">,
): string[] | undefined {
  if (kind === "component.status_changed") return [subjectId];
  const stored = findThread(reader, { subjectId })?.reach ?? [];
  if (kind.startsWith("maintenance.")) {
    if (!findMaintenance(reader, { id: subjectId })) return undefined;
    const { components } = getMaintenanceRecord(reader, subjectId);
    return [...new Set([...stored, ...components.map(({ id }) => id)])];
  }
  if (findIncident(reader, { id: subjectId })?.row.draft !== false) return undefined;
  const { record } = getIncidentPart(reader, subjectId, { before: undefined, limit: 1 });
  return [...new Set([...stored, ...record.components.map(({ id }) => id)])];
}

/** Returns the ids by which selections include a mailing: its components, and the groups that they are in. */
export function targetsOf(
  reader: Reader,
  { pageId }: Pick<MailingRow, "pageId">,
  reach: readonly string[],
): string[] {
  const reached = new Set(reach);
  const targets = new Set(reach);
  for (const { id, groupId } of listComponentsOfPage(reader, { pageId })) {
    if (groupId !== null && reached.has(id)) targets.add(groupId);
  }
  return [...targets];
}
