import type { Reader } from "../../db/statements";
import { FieldErrors } from "../../base/validation";
import { findNamedPage } from "../pages/filter";
import { toMs } from "../timeline/updates";
import { desiredRow, startOf, statusOf } from "./incidents";
import { resolveNamedComponents, rowAfter, validateDisplayAt, validateTimes } from "./save";
import { automationOf, listUpdateSummaries } from "./records";
import { firstWritten } from "./rules";
import { findIncident } from "./store";
import type { AddUpdateBody, CreateIncidentBody, EditUpdateBody, UpdateIncidentBody } from "./wire";

/** Returns the unknown references and the impossible times in the body of a new incident. */
export function createIncidentErrors(
  reader: Reader,
  input: Partial<CreateIncidentBody>,
  now: number,
): FieldErrors {
  const errors = new FieldErrors();
  const page = input.page === undefined ? undefined : findNamedPage(reader, errors, input.page);
  resolveNamedComponents(reader, errors, page?.id, input.components);
  const status = statusOf(errors, input);
  const end = status === "resolved" ? input.resolved_at : undefined;
  const resolvedAt = end === undefined ? null : toMs(end);
  const startedAt = startOf(input, now);
  const times = { startedAt, identifiedAt: null, monitoringAt: null, resolvedAt };
  validateTimes(errors, times, [], input, now);
  return errors;
}

/** A request whose body violates its schema. `now` is in unix ms. */
interface InvalidRequest {
  canSeeDrafts: boolean;
  now: number;
}

/** Returns the impossible times in a change of an incident. */
export function updateIncidentErrors(
  reader: Reader,
  incidentId: string,
  input: UpdateIncidentBody,
  request: InvalidRequest,
): FieldErrors {
  const errors = new FieldErrors();
  const row = findVisible(reader, incidentId, request);
  if (!row) return errors;
  const updates = listUpdateSummaries(reader, incidentId);
  const change = { before: { row, updates }, row: desiredRow(row, input) };
  const after = rowAfter(change, request.now, automationOf(reader, row));
  validateTimes(errors, after, updates, input, request.now);
  return errors;
}

/** Returns the unknown references and the impossible time in the body of an update of an incident. */
export function addUpdateErrors(
  reader: Reader,
  incidentId: string,
  input: Partial<AddUpdateBody>,
  request: InvalidRequest,
): FieldErrors {
  const errors = new FieldErrors();
  const row = findVisible(reader, incidentId, request);
  if (!row) return errors;
  resolveNamedComponents(reader, errors, row.pageId, input.components);
  if (input.display_at !== undefined) {
    validateDisplayAt(errors, toMs(input.display_at), row.startedAt, request.now);
  }
  return errors;
}

/** Returns the impossible time in a change of an incident's update. */
export function editUpdateErrors(
  reader: Reader,
  { incidentId, updateId }: { incidentId: string; updateId: string },
  input: EditUpdateBody,
  request: InvalidRequest,
): FieldErrors {
  const errors = new FieldErrors();
  const row = findVisible(reader, incidentId, request);
  if (!row || input.display_at === undefined) return errors;
  const isFirst = firstWritten(listUpdateSummaries(reader, incidentId))?.id === updateId;
  const startedAt = isFirst ? undefined : row.startedAt;
  validateDisplayAt(errors, toMs(input.display_at), startedAt, request.now);
  return errors;
}

function findVisible(reader: Reader, id: string, { canSeeDrafts }: InvalidRequest) {
  const row = findIncident(reader, { id })?.row;
  return row && (!row.draft || canSeeDrafts) ? row : undefined;
}
