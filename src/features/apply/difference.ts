import { isDeepStrictEqual } from "node:util";

/** One field that an apply changes. */
interface FieldChange {
  field: string;
  from: unknown;
  to: unknown;
}

/** Returns the fields in which the desired values differ from the current ones. */
export function differences<T extends object>(current: T, desired: T): FieldChange[] {
  return (Object.keys(desired) as (keyof T & string)[])
    .filter((field) => !isDeepStrictEqual(current[field], desired[field]))
    .map((field) => ({ field, from: current[field], to: desired[field] }));
}

/** Returns the desired values of changed fields. */
export function changedOnly<T extends object>(
  desired: T,
  changes: readonly FieldChange[],
): Partial<T> {
  const names = new Set(changes.map((change) => change.field));
  return Object.fromEntries(
    Object.entries(desired).filter(([field]) => names.has(field)),
  ) as Partial<T>;
}

/** Returns the fields that differ from their defaults. */
export function nonDefault<Fields extends object>(current: Fields, least: Fields): Partial<Fields> {
  return changedOnly(current, differences(least, current));
}

/** A change that an apply made or plans. */
export interface Change {
  kind: "create" | "update" | "delete";
  noun:
    | "page"
    | "group"
    | "component"
    | "monitor"
    | "webhook"
    | "incident template"
    | "maintenance schedule";
  /**
   * Page slug and ref of a page, group or component, such as `acme/checkout-api`; only the ref of other
   * objects.
   */
  label: string;
  fields: FieldChange[];
}

const MARKS = { create: "+", update: "~", delete: "-" } as const;

/** Describes a change in one line, marked as in diffs. */
export function describeChange({ kind, noun, label, fields }: Change): string {
  const details = fields.map(({ field, from, to }) => `${field} ${show(from)} → ${show(to)}`);
  const tail = details.length > 0 ? `: ${details.join(", ")}` : "";
  return `${MARKS[kind]} ${noun} ${label}${tail}`;
}

function show(value: unknown): string {
  return value === null || value === undefined ? "none" : JSON.stringify(value);
}
