import type { Reader } from "../../db";
import { FieldErrors } from "../../errors";
import { findNamedPage } from "../pages";
import { toMs } from "../timeline";
import type {
  AddUpdateBody,
  CreateIncidentBody,
  EditUpdateBody,
  UpdateIncidentBody,
} from "./bodies";
import { startOf, statusOf } from "./create";
import { desiredRow } from "./edit";
import { resolveNamedComponents } from "./updates";
import { listUpdateSummaries } from "./records";
import { firstWritten } from "./rules";
import { rowAfter, validateDisplayAt, validateTimes } from "./save-incident";
import { findIncident } from "./store";

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

/** The request whose body breaks its schema; `now` in unix ms. */
interface Refused {
  maySeeDrafts: boolean;
  now: number;
}

/** Returns the impossible times in a change of an incident. */
export function updateIncidentErrors(
  reader: Reader,
  incidentId: string,
  input: UpdateIncidentBody,
  refused: Refused,
): FieldErrors {
  const errors = new FieldErrors();
  const row = findVisible(reader, incidentId, refused);
  if (!row) return errors;
  const updates = listUpdateSummaries(reader, incidentId);
  const after = rowAfter({ before: { row, updates }, row: desiredRow(row, input) }, refused.now);
  validateTimes(errors, after, updates, input, refused.now);
  return errors;
}

/** Returns the unknown references and the impossible time in the body of an update of an incident. */
export function addUpdateErrors(
  reader: Reader,
  incidentId: string,
  input: Partial<AddUpdateBody>,
  refused: Refused,
): FieldErrors {
  const errors = new FieldErrors();
  const row = findVisible(reader, incidentId, refused);
  if (!row) return errors;
  resolveNamedComponents(reader, errors, row.pageId, input.components);
  if (input.display_at !== undefined) {
    validateDisplayAt(errors, toMs(input.display_at), row.startedAt, refused.now);
  }
  return errors;
}

/** Returns the impossible time in a change of an incident's update. */
export function editUpdateErrors(
  reader: Reader,
  { incidentId, updateId }: { incidentId: string; updateId: string },
  input: EditUpdateBody,
  refused: Refused,
): FieldErrors {
  const errors = new FieldErrors();
  const row = findVisible(reader, incidentId, refused);
  if (!row || input.display_at === undefined) return errors;
  const isFirst = firstWritten(listUpdateSummaries(reader, incidentId))?.id === updateId;
  const startedAt = isFirst ? undefined : row.startedAt;
  validateDisplayAt(errors, toMs(input.display_at), startedAt, refused.now);
  return errors;
}

function findVisible(reader: Reader, id: string, { maySeeDrafts }: Refused) {
  const row = findIncident(reader, { id })?.row;
  return row && (!row.draft || maySeeDrafts) ? row : undefined;
}
