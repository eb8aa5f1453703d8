import { Problem } from "../../base/errors";
import { type FormDefinition, type FormErrors, NO_ERRORS, type ValuesOf } from "../forms/form";

/** Rejected form: its errors by input, or a message about the whole form. */
interface Rejection {
  status: 409 | 422;
  errors: FormErrors;
  notice: string | undefined;
}

/** Returns the message of a conflict with the state of an object; undefined for other errors. */
export function conflictMessage(error: unknown): string | undefined {
  return error instanceof Problem && error.code === "conflict" ? error.message : undefined;
}

/** Message of a form whose object changed after the form was rendered. */
const STALE_MESSAGE =
  "Someone changed this while you were editing, so nothing was saved. Your input is kept below. Save again to overwrite the other change.";

export class StaleForm extends Problem {
  constructor() {
    super("conflict", STALE_MESSAGE);
  }
}

/**
 * Returns the rejection with which a form is shown again; undefined for errors of other kinds. A
 * conflict is shown at the input `conflictField` if there is one, otherwise above the form.
 */
export function rejectionOf<Body, Context, Fields>(
  error: unknown,
  form: FormDefinition<Body, Context, Fields>,
  values: ValuesOf<Fields>,
  conflictField: string | undefined,
): Rejection | undefined {
  if (error instanceof Problem && error.code === "validation_failed") {
    return { status: 422, errors: form.errorsByInput(error.fields, values), notice: undefined };
  }
  const message = conflictMessage(error);
  if (message === undefined) return undefined;
  if (conflictField === undefined || error instanceof StaleForm) {
    return { status: 409, errors: NO_ERRORS, notice: message };
  }
  return { status: 409, errors: { [conflictField]: message }, notice: undefined };
}
