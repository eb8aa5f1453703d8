import { Problem } from "../errors";
import type { Form } from "../http";
import { type Complaints, complaintsOrThrow, NO_COMPLAINTS } from "./field-errors";

/** What an edit form says, in a `Refusal` above its fields, when it comes back for this reason. */
export const STALE_SENTENCE =
  "Somebody changed this while you were editing it, so nothing was saved. What you typed is below. Compare it with what is stored now, then save again to replace that.";

/** The hidden fields of a form that edits something: the version that its reader saw. */
export function versionField({ version }: { version: number }): { version: string } {
  return { version: String(version) };
}

class StaleForm extends Problem {
  constructor() {
    super("conflict", STALE_SENTENCE);
  }
}

/**
 * Judges, inside the transaction that would change it, whether what a form edits is still what its
 * reader saw. Throws for `rejectionOrThrow`, also where the form names no version.
 * Ask only where something would change, so that the same form sent twice is no conflict.
 */
export function requireSameVersion(form: Form, stored: { version: number }): void {
  if (form.text("version") !== String(stored.version)) throw new StaleForm();
}

/**
 * Changes what a form edits, if that is still what its reader saw, and answers what `change` does: nothing
 * (`false` or `undefined`) where all is so already. So the same form sent twice is no conflict. Inside the
 * transaction, which takes back what it throws after; for `rejectionOrThrow`.
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

/** What is wrong with a form is told once it is about what is there now. */
function staleIfRefused<Outcome>(change: () => Outcome): Outcome {
  try {
    return change();
  } catch (error) {
    throw error instanceof Problem ? new StaleForm() : error;
  }
}

/** Whether somebody else has changed what a form edits. */
export function isStale(error: unknown): boolean {
  return error instanceof StaleForm;
}

/** Why an edit form comes back: with complaints about its fields, or with a sentence about all of it. */
export interface FormRejection {
  status: 409 | 422;
  complaints: Complaints;
  /** `STALE_SENTENCE`; undefined where fields are wrong. */
  stale: string | undefined;
}

/**
 * A refusal after which the form is shown again with what was typed. Give it the version of now, so
 * that it can be sent once more. Anything else is thrown on.
 */
export function rejectionOrThrow(error: unknown): FormRejection {
  if (error instanceof StaleForm) {
    return { status: 409, complaints: NO_COMPLAINTS, stale: error.message };
  }
  return { status: 422, complaints: complaintsOrThrow(error), stale: undefined };
}
