import type { Reader } from "../../db";
import { FieldErrors } from "../../errors";
import { findNamedPage } from "../pages";
import type { AddUpdateBody, CreateIncidentBody } from "./bodies";
import { resolveNamedComponents } from "./naming";
import { findIncident } from "./store";
import { judgeDisplayAt, judgeTimes, toMs } from "./times";

/** Returns the unknown references and the impossible times in the body of a new incident. */
export function createIncidentErrors(
  reader: Reader,
  input: Partial<CreateIncidentBody>,
  now: number,
): FieldErrors {
  const errors = new FieldErrors();
  const page = input.page === undefined ? undefined : findNamedPage(reader, errors, input.page);
  resolveNamedComponents(reader, errors, page?.id, input.components);
  const resolvedAt = input.resolved_at === undefined ? null : toMs(input.resolved_at);
  const startedAt =
    input.started_at === undefined ? Math.min(resolvedAt ?? now, now) : toMs(input.started_at);
  const times = { startedAt, identifiedAt: null, monitoringAt: null, resolvedAt };
  judgeTimes(errors, times, [], input, now);
  return errors;
}

/** Returns the unknown references and the impossible time in the body of an update of an incident. */
export function addUpdateErrors(
  reader: Reader,
  incidentId: string,
  input: Partial<AddUpdateBody>,
  request: { maySeeDrafts: boolean; now: number },
): FieldErrors {
  const errors = new FieldErrors();
  const row = findIncident(reader, { id: incidentId })?.row;
  if (!row || (row.draft && !request.maySeeDrafts)) return errors;
  resolveNamedComponents(reader, errors, row.pageId, input.components);
  if (input.display_at !== undefined) {
    judgeDisplayAt(errors, toMs(input.display_at), row.startedAt, request.now);
  }
  return errors;
}
