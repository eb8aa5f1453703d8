import { type FieldError, Problem } from "../errors";

/** What is wrong with a form: by the name of the field, how a sentence about it ends ("is empty"). */
export type Complaints = Readonly<Record<string, string>>;

export const NO_COMPLAINTS: Complaints = {};

/** A service's refusal as complaints about a form's fields, `#/scopes/0` for one about `scopes`. */
export function complaintsOf(fields: readonly FieldError[]): Complaints {
  const complaints: Record<string, string> = {};
  // The first complaint about a field is the one to act on.
  for (const { pointer, detail } of fields) complaints[pointer.split("/")[1] ?? ""] ??= detail;
  return complaints;
}

/** The complaints of a refusal that is about fields; anything else is thrown on. */
export function complaintsOrThrow(error: unknown): Complaints {
  if (error instanceof Problem && error.code === "validation_failed") {
    return complaintsOf(error.fields);
  }
  throw error;
}

/** The status of a form that is shown: 422 where it comes back with complaints. */
export function statusOf(complaints: Complaints): number {
  return Object.keys(complaints).length > 0 ? 422 : 200;
}

/** Complaints as the fields of a form and its summary of errors take them. */
export interface Wording {
  /** What is wrong with a field; undefined where nothing is. */
  about(name: string): string | undefined;
  /** For the summary above the form, in the order of the labels. */
  all: { name: string; label: string; detail: string }[];
}

/** `labels` by the names of the fields, in the order in which these stand. */
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
