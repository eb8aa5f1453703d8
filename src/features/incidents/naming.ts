import type { Reader, Tx } from "../../db";
import type { FieldErrors } from "../../errors";
import type { ComponentStatus } from "../../domain/component-status";
import { existenceProblem, type ResolvedComponent, resolveComponents } from "../components";
import type { UpdateRecord } from "./records";
import { insertNaming, insertUpdate, type NamingRow } from "./store";

type Statuses = Readonly<Record<string, ComponentStatus>>;

/**
 * Returns the rows for the components that a new update names, in the order of their ids, with their present
 * names and statuses. Adds the errors of `resolveNamedComponents`.
 */
export function nameComponents(
  reader: Reader,
  errors: FieldErrors,
  pageId: string | undefined,
  { updateId, incidentId }: Pick<NamingRow, "updateId" | "incidentId">,
  statuses: Statuses = {},
): NamingRow[] {
  const named: NamingRow[] = [];
  for (const { reference, row } of resolveNamedComponents(reader, errors, pageId, statuses)) {
    const newStatus = statuses[reference];
    if (!row || !newStatus) continue;
    const { id: componentId, name, status: oldStatus } = row;
    named.push({ updateId, incidentId, componentId, name, oldStatus, newStatus });
  }
  return named.sort((one, other) => (one.componentId < other.componentId ? -1 : 1));
}

/**
 * Returns the components that the field `components` of a body names. Adds an error for each reference to
 * an unknown component, to one of another page, or to one that an earlier reference names. Every page's
 * components are allowed if `pageId` is undefined.
 */
export function resolveNamedComponents(
  reader: Reader,
  errors: FieldErrors,
  pageId: string | undefined,
  statuses: Statuses = {},
): ResolvedComponent[] {
  return resolveComponents(
    reader,
    Object.keys(statuses),
    errors,
    (reference) => ["components", reference],
    (row) => {
      const isElsewhere = row && pageId !== undefined && row.pageId !== pageId;
      return isElsewhere ? "is a component of another page" : existenceProblem(row);
    },
  );
}

/** Writes an update with what it says of components. */
export function writeUpdate(tx: Tx, { components, ...update }: UpdateRecord): void {
  insertUpdate(tx, update);
  for (const naming of components) insertNaming(tx, naming);
}
