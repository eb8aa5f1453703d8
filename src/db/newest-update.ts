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
 * Returns the greatest id of all updates. New ids must be greater, since ids determine the order of updates
 * with equal times.
 */
export function newestUpdateId(reader: Reader): string | undefined {
  const ids = [ofIncidents(reader, {})?.id, ofMaintenance(reader, {})?.id];
  return ids
    .filter((id) => typeof id === "string")
    .toSorted()
    .at(-1);
}
