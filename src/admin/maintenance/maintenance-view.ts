import type { AppContext } from "../../context";
import type { Reader } from "../../db";
import { type Author, authorsOf } from "../../events";
import { listComponentsOfPage, listGroups } from "../../features/components";
import {
  getMaintenanceRecord,
  type Maintenance,
  presentMaintenance,
} from "../../features/maintenance";
import { getPage, type PageRow } from "../../features/pages";
import type { Choosable } from "./component-choice";

/** One maintenance with the related data that its screens show. */
export interface MaintenanceView {
  maintenance: Maintenance;
  page: PageRow;
  choosable: Choosable;
  /** Known authors, by update id. */
  authors: ReadonlyMap<string, Author>;
}

/** Audit log actions that write an update. */
const WRITING = ["plan", "add_update", "cancel", "start", "complete"].map(
  (verb) => `maintenance.${verb}`,
);

/** Reads one maintenance. Throws `not_found`. */
export function readMaintenanceView(
  { baseUrl }: Pick<AppContext, "baseUrl">,
  reader: Reader,
  id: string,
): MaintenanceView {
  const record = getMaintenanceRecord(reader, id);
  const choosable = choosableOf(reader, record.row.pageId);
  const living = new Set(choosable.components.map((component) => component.id));
  // Ids sort by the time of their making.
  const written = record.updates.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    maintenance: presentMaintenance(record, baseUrl),
    page: getPage(reader, record.row.pageId),
    choosable: {
      ...choosable,
      gone: record.components.filter((component) => !living.has(component.id)),
    },
    authors: authorsOf(reader, id, WRITING, written),
  };
}

/** Returns the components and groups of a page. */
export function choosableOf(reader: Reader, pageId: string): Choosable {
  return {
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
  };
}
