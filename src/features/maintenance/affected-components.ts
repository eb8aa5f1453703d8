import type { Reader, Tx } from "../../db/statements";
import type { FieldErrors } from "../../base/validation";
import { pathInList, resolveComponents } from "../components/component-reference";
import { deleteMaintenanceComponents, insertMaintenanceComponent } from "./store";

/** The components of a maintenance, with the names from when they were chosen. */
type Chosen = readonly { id: string; name: string }[];

/**
 * Returns the components that references name: those of the page, and those chosen before, which may be
 * deleted. Adds an error for any other, and for a reference that names an earlier one's component again.
 */
export function chooseComponents(
  reader: Reader,
  pageId: string,
  references: readonly string[],
  chosenBefore: Chosen,
  errors: FieldErrors,
): Chosen {
  const namesBefore = new Map(chosenBefore.map(({ id, name }) => [id, name]));
  const resolved = resolveComponents(
    reader,
    references,
    errors,
    pathInList("components"),
    (row, id) => {
      const isAllowed = row?.pageId === pageId || namesBefore.has(id);
      return isAllowed ? undefined : "is not a component of the page";
    },
  );
  return resolved.map(({ id, row }) => ({ id, name: namesBefore.get(id) ?? row?.name ?? "" }));
}

/** Returns true if two choices contain the same components in any order. */
export function isSameChoice(one: Chosen, other: Chosen): boolean {
  const ids = new Set(one.map(({ id }) => id));
  return one.length === other.length && other.every(({ id }) => ids.has(id));
}

/** Replaces the components of a maintenance. */
export function replaceChosen(tx: Tx, maintenanceId: string, chosen: Chosen): void {
  deleteMaintenanceComponents(tx, { maintenanceId });
  for (const { id: componentId, name } of chosen) {
    insertMaintenanceComponent(tx, { maintenanceId, componentId, name });
  }
}
