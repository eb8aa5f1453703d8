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

/** One maintenance with what its screens show beside it. */
export interface MaintenanceView {
  maintenance: Maintenance;
  page: PageRow;
  choosable: Choosable;
  /** By the id of an update: who wrote it, where that is still known. */
  authors: ReadonlyMap<string, Author>;
}

/** The actions of the audit log that write an update. */
const WRITING = ["plan", "add_update", "cancel", "start", "complete"].map(
  (verb) => `maintenance.${verb}`,
);

/** One maintenance. Throws `not_found`. */
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

/** The components of a page, and their groups. */
export function choosableOf(reader: Reader, pageId: string): Choosable {
  return {
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
  };
}
