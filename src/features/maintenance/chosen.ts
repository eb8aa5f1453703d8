import type { Reader, Tx } from "../../db";
import type { FieldErrors } from "../../errors";
import { listComponentsOfPage, resolveComponentIds } from "../components";
import { deleteMaintenanceComponents, insertMaintenanceComponent } from "./store";

/** The components that a maintenance is about, with the names from when they were chosen. */
export type Chosen = readonly { id: string; name: string }[];

/**
 * The components of these ids or addresses: those of the page, and what was chosen before, which may be
 * deleted by now. Any other, and one that is named for the second time, goes into `errors`.
 */
export function chooseComponents(
  reader: Reader,
  pageId: string,
  references: readonly string[],
  chosenBefore: Chosen,
  errors: FieldErrors,
): Chosen {
  const ofPage = listComponentsOfPage(reader, { pageId });
  const names = new Map([...ofPage, ...chosenBefore].map(({ id, name }) => [id, name]));
  const known = resolveComponentIds(reader, references);
  const ids = new Set<string>();
  for (const [index, reference] of references.entries()) {
    const id = known.get(reference) ?? reference;
    if (!names.has(id)) errors.add(["components", index], "is no component of the page");
    else if (ids.has(id)) errors.add(["components", index], "names a component twice");
    ids.add(id);
  }
  return Array.from(ids, (id) => ({ id, name: names.get(id) ?? "" }));
}

/** Whether two choices are of the same components, in whatever order. */
export function isSameChoice(one: Chosen, other: Chosen): boolean {
  const ids = new Set(one.map(({ id }) => id));
  return one.length === other.length && other.every(({ id }) => ids.has(id));
}

/** Writes what a maintenance is about, in the place of what it was about before. */
export function replaceChosen(tx: Tx, maintenanceId: string, chosen: Chosen): void {
  deleteMaintenanceComponents(tx, { maintenanceId });
  for (const { id: componentId, name } of chosen) {
    insertMaintenanceComponent(tx, { maintenanceId, componentId, name });
  }
}
