import { Problem } from "../errors";
import type { Form } from "../http";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS } from "./field-errors";
import { StaleForm } from "./screens/rejection";

/** Returns the hidden field of an edit form: the version that was rendered. */
export function versionField({ version }: { version: number }): { version: string } {
  return { version: String(version) };
}

/**
 * Throws for `rejectionOrThrow` if the form's version is missing or no longer current. Call inside
 * the transaction, and only if something would change, so that a repeated form is not a conflict.
 */
export function requireSameVersion(form: Form, stored: { version: number }): void {
  if (form.text("version") !== String(stored.version)) throw new StaleForm();
}

/**
 * Runs `change` and throws for `rejectionOrThrow` if the form is stale and the result is not
 * `false` or `undefined`. A repeated form, which changes nothing, is therefore no conflict. Call
 * inside a transaction, which the error rolls back.
 */
export function changeUnlessStale<Outcome>(
  form: Form,
  stored: { version: number },
  change: () => Outcome,
): Outcome {
  if (form.text("version") === String(stored.version)) return change();
  const outcome = staleIfRefused(change);
  if (outcome) throw new StaleForm();
  return outcome;
}

/**
 * Runs a change of a stale form. Its refusals become the stale error, since field errors may
 * concern outdated values.
 */
function staleIfRefused<Outcome>(change: () => Outcome): Outcome {
  try {
    return change();
  } catch (error) {
    throw error instanceof Problem ? new StaleForm() : error;
  }
}

/** Returns true if the form is stale. */
export function isStale(error: unknown): boolean {
  return error instanceof StaleForm;
}

/** Rejection of an edit form: field errors, or a message about the whole form. */
export interface FormRejection {
  status: 409 | 422;
  complaints: Complaints;
  /** `STALE_MESSAGE`; undefined if fields are wrong. */
  stale: string | undefined;
}

/**
 * Returns the rejection of a form, which is shown again with the typed values and the current
 * version. Any other error is rethrown.
 */
export function rejectionOrThrow(error: unknown): FormRejection {
  if (error instanceof StaleForm) {
    return { status: 409, complaints: NO_COMPLAINTS, stale: error.message };
  }
  return { status: 422, complaints: complaintsOrThrow(error), stale: undefined };
}
