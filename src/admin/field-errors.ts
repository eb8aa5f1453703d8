import { type FieldError, Problem } from "../errors";

/** Errors of a form by field name, each as the continuation of the label ("is empty"). */
export type Complaints = Readonly<Record<string, string>>;

export const NO_COMPLAINTS: Complaints = {};

/**
 * Assigns a service's errors to the fields of a form: `#/scopes/0` belongs to `scopes`. Each field
 * keeps its first.
 */
export function complaintsOf(fields: readonly FieldError[]): Complaints {
  const complaints: Record<string, string> = {};
  // The first complaint about a field is the one to act on.
  for (const { pointer, detail } of fields) complaints[pointer.split("/")[1] ?? ""] ??= detail;
  return complaints;
}

/** Returns the field errors of a refusal. Any other error is rethrown. */
export function complaintsOrThrow(error: unknown): Complaints {
  if (error instanceof Problem && error.code === "validation_failed") {
    return complaintsOf(error.fields);
  }
  throw error;
}

/** Returns the HTTP status of a rendered form: 422 if it has errors, else 200. */
export function statusOf(complaints: Complaints): number {
  return Object.keys(complaints).length > 0 ? 422 : 200;
}

/** Errors of a form, for its fields and its error summary. */
export interface Wording {
  /** Returns the error of a field; undefined for a valid field. */
  about(name: string): string | undefined;
  /** Errors for the summary above the form, in the order of the labels. */
  all: { name: string; label: string; detail: string }[];
}

/** Combines errors with labels. `labels` has the field names as keys, in the order of the form. */
export function wording(complaints: Complaints, labels: Readonly<Record<string, string>>): Wording {
  const places = Object.keys(labels);
  const placeOf = (name: string) => (name in labels ? places.indexOf(name) : places.length);
  return {
    about: (name) => complaints[name],
    all: Object.entries(complaints)
      .map(([name, detail]) => ({ name, label: labels[name] ?? name, detail }))
      .sort((a, b) => placeOf(a.name) - placeOf(b.name)),
  };
}
