import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { Problem } from "../../errors";
import { listComponentsOfPage } from "../../features/components";
import {
  type AddUpdateBody,
  addUpdate,
  getIncident,
  type IncidentRecord,
} from "../../features/incidents";
import { actorOf, type RequestContext, type Form } from "../../http";
import { INCIDENT_STATUSES } from "../../domain/incident-status";
import { INCIDENT_WORDS } from "../../public/words";
import type { WriteOnceAs } from "../write-as";
import { readUpdate } from "./update-form";

/**
 * Conflict of an update whose unchanged status is outdated, since the update would revert the newer
 * status.
 */
class MovedOn extends Problem {
  constructor({ status }: IncidentRecord["row"]) {
    super(
      "conflict",
      `The incident became “${INCIDENT_WORDS[status]}” while you were writing, so nothing was published. Your message is below, with the current status: look at the timeline, then send the message again.`,
    );
  }
}

/**
 * Returns true if an update was refused as a whole: the incident changed meanwhile, or has too many
 * updates.
 */
export function isConflict(error: unknown): error is Problem {
  return error instanceof Problem && error.code === "conflict";
}

/**
 * Adds the update of a form, once per form token, and returns the confirmation. Throws
 * `validation_failed` with every wrong field, or `conflict`.
 */
export async function addFromForm(
  ctx: AppContext,
  writeOnceAs: WriteOnceAs,
  requestContext: RequestContext,
  id: string,
  form: Form,
): Promise<string> {
  const { made } = await writeOnceAs(requestContext, form, (tx) => {
    const { row: before } = getIncident(tx, id, true);
    const { row, update } = addUpdateOf(ctx, tx, id, form, requestContext);
    return { made: describe(before, row), subjectId: update.id };
  });
  return made ?? "You sent this form before: the update is in the timeline.";
}

/** Adds the update of a form within a transaction. */
export function addUpdateOf(
  ctx: AppContext,
  tx: Tx,
  id: string,
  form: Form,
  requestContext: RequestContext,
): ReturnType<typeof addUpdate> {
  const { row } = getIncident(tx, id, true);
  const values = readUpdate(form, listComponentsOfPage(tx, { pageId: row.pageId }));
  const seen = INCIDENT_STATUSES.find((status) => status === form.text("seen_status"));
  if (seen !== undefined && seen === values.status && seen !== row.status) throw new MovedOn(row);
  const input = {
    body: values.body,
    // Judged with the rest, so that all that is wrong is told together.
    status: values.status as AddUpdateBody["status"] & string,
    components: values.impacts as NonNullable<AddUpdateBody["components"]>,
    notify: values.isNotifying,
  };
  return addUpdate(ctx, tx, id, input, actorOf(requestContext));
}

type Row = IncidentRecord["row"];

function describe(before: Row, after: Row): string {
  if (after.draft) return "The update was added to the draft.";
  if (before.status === after.status) return "The update was published.";
  if (after.status === "resolved") return "The incident is resolved.";
  if (before.status === "resolved") return "The incident is open again.";
  return "The update was published.";
}
