import { isDeepStrictEqual } from "node:util";

/** One field that an apply changes. */
interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

/** The fields in which what is wanted differs from what is there. */
export function differences<T extends object>(present: T, desired: T): FieldChange[] {
  return (Object.keys(desired) as (keyof T & string)[])
    .filter((field) => !isDeepStrictEqual(present[field], desired[field]))
    .map((field) => ({ field, from: present[field], to: desired[field] }));
}

/** The wanted values of the fields that differ. */
export function changedOnly<T extends object>(
  desired: T,
  changes: readonly FieldChange[],
): Partial<T> {
  const names = new Set(changes.map((change) => change.field));
  return Object.fromEntries(
    Object.entries(desired).filter(([field]) => names.has(field)),
  ) as Partial<T>;
}

/** One thing that an apply did, or would do. */
export interface Change {
  kind: "create" | "update" | "delete";
  noun: "page" | "group" | "component" | "monitor" | "webhook";
  /** Its page's slug and its own ref, such as `acme/checkout-api`; of monitors and webhooks the ref alone. */
  label: string;
  fields: FieldChange[];
}

const MARKS = { create: "+", update: "~", delete: "-" } as const;

/** A change as one line, as diffs mark it. */
export function describeChange({ kind, noun, label, fields }: Change): string {
  const details = fields.map(({ field, from, to }) => `${field} ${show(from)} → ${show(to)}`);
  const tail = details.length > 0 ? `: ${details.join(", ")}` : "";
  return `${MARKS[kind]} ${noun} ${label}${tail}`;
}

function show(value: unknown): string {
  return value === null || value === undefined ? "none" : JSON.stringify(value);
}
