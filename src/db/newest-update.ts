import { sql } from "drizzle-orm";
import { type Reader, selectOne } from "./statements";
import { incidentUpdates } from "./tables/incidents";
import { maintenanceUpdates } from "./tables/maintenances";

type None = Record<string, never>;

const ofIncidents = selectOne((orm, _$: None) =>
  orm.select({ id: sql<string | null>`max(${incidentUpdates.id})` }).from(incidentUpdates),
);
const ofMaintenance = selectOne((orm, _$: None) =>
  orm.select({ id: sql<string | null>`max(${maintenanceUpdates.id})` }).from(maintenanceUpdates),
);

/**
 * The greatest id of all updates: ids that are made from now on have to sort behind it, since by them is
 * told which update of several was written first.
 */
export function newestUpdateId(reader: Reader): string | undefined {
  const found = [ofIncidents(reader, {})?.id, ofMaintenance(reader, {})?.id];
  return found
    .filter((id) => typeof id === "string")
    .toSorted()
    .at(-1);
}
