import type { Reader, Tx } from "../../db";
import type { FieldErrors } from "../../errors";
import type { ComponentStatus } from "../../kernel/component-status";
import { findComponents, resolveComponentIds } from "../components";
import type { UpdateRecord } from "./records";
import { insertNaming, insertUpdate, type NamingRow } from "./store";

/**
 * What a new update says of components, with the names and the statuses that they have now. Complains
 * of every id or address that is none of the page's components, or that names one for the second time.
 */
export function nameComponents(
  reader: Reader,
  errors: FieldErrors,
  pageId: string | undefined,
  { updateId, incidentId }: Pick<NamingRow, "updateId" | "incidentId">,
  statuses: Readonly<Record<string, ComponentStatus>> = {},
): NamingRow[] {
  const named: NamingRow[] = [];
  const ids = resolveComponentIds(reader, Object.keys(statuses));
  const found = findComponents(reader, [...ids.values()]);
  const seen = new Set<string>();
  for (const [reference, newStatus] of Object.entries(statuses)) {
    const componentId = ids.get(reference) ?? reference;
    const component = found.get(componentId);
    if (!component) errors.add(["components", reference], "is no component");
    else if (pageId !== undefined && component.pageId !== pageId) {
      errors.add(["components", reference], "is a component of another page");
    } else if (seen.has(componentId)) {
      errors.add(["components", reference], "names a component twice");
    } else {
      seen.add(componentId);
      const { name, status: oldStatus } = component;
      named.push({ updateId, incidentId, componentId, name, oldStatus, newStatus });
    }
  }
  return named;
}

/** Writes an update with what it says of components. */
export function writeUpdate(tx: Tx, { components, ...update }: UpdateRecord): void {
  insertUpdate(tx, update);
  for (const naming of components) insertNaming(tx, naming);
}
