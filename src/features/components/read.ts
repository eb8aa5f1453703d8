import type { Reader } from "../../db/statements";
import { type CauseRow, listOpenCausesOf } from "./cause-store";
import { type Component, presentComponent } from "./model";
import { getComponentRow } from "./service";
import type { ComponentOnPage } from "./store";

/** Returns a component as the API shows it. Throws `not_found`. */
export function getComponent(reader: Reader, id: string): Component {
  const row = getComponentRow(reader, id);
  return presentComponent(row, row.pageSlug, listOpenCausesOf(reader, [id]));
}

/** Returns components as the API shows them, in the order of the rows. */
export function presentComponents(reader: Reader, rows: readonly ComponentOnPage[]): Component[] {
  const causesOf = readOpenCauses(reader, rows);
  return rows.map((row) => presentComponent(row, row.pageSlug, causesOf(row.id)));
}

/** Reads the open causes of some components. Returns a function from a component's id to its causes. */
export function readOpenCauses(
  reader: Reader,
  rows: readonly { id: string }[],
): (componentId: string) => CauseRow[] {
  const causes = listOpenCausesOf(
    reader,
    rows.map(({ id }) => id),
  );
  const byComponent = Map.groupBy(causes, ({ componentId }) => componentId);
  return (componentId) => byComponent.get(componentId) ?? [];
}
