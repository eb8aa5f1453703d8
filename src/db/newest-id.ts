/* Apart from `database.ts`, since a start loads none of these tables. */
import { sql } from "drizzle-orm";
import { type Reader, selectOne } from "./statements";
import { incidentUpdates } from "./tables/incidents";
import { maintenanceUpdates } from "./tables/maintenances";
import { deliveries } from "./tables/webhooks";

type None = Record<string, never>;

const ofIncidents = selectOne((orm, _$: None) =>
  orm.select({ id: sql<string | null>`max(${incidentUpdates.id})` }).from(incidentUpdates),
);
const ofMaintenance = selectOne((orm, _$: None) =>
  orm.select({ id: sql<string | null>`max(${maintenanceUpdates.id})` }).from(maintenanceUpdates),
);
const ofDeliveries = selectOne((orm, _$: None) =>
  orm.select({ id: sql<string | null>`max(${deliveries.id})` }).from(deliveries),
);

/**
 * Returns the id of the newest update or delivery. New ids must be greater, since ids determine the order of updates with
 * equal times, and which delivery is overtaken.
 */
export function newestId(reader: Reader): string | undefined {
  const ids = [
    ofIncidents(reader, {})?.id,
    ofMaintenance(reader, {})?.id,
    ofDeliveries(reader, {})?.id,
  ];
  const timeOf = (id: string) => id.slice(id.indexOf("_"));
  return ids
    .filter((id) => typeof id === "string")
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1))
    .at(-1);
}
