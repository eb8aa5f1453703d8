import type { Reader } from "../../db/statements";
import { notFound } from "../../base/errors";
import { readRecords } from "./lists";
import { type Maintenance, presentMaintenance } from "./model";
import { findMaintenance, type MaintenanceRecord } from "./store";
import { findUpdate, listUpdatesBefore } from "./update-store";

const ALL_UPDATES = Number.MAX_SAFE_INTEGER;

/** Returns one maintenance with all of its updates. Throws `not_found`, also if its page was deleted. */
export function getMaintenanceRecord(reader: Reader, id: string): MaintenanceRecord {
  const record = findMaintenanceRecord(reader, id);
  if (!record) throw notFound("maintenance");
  return record;
}

/** Finds one maintenance, with all or the newest of its updates, unless its page was deleted. */
export function findMaintenanceRecord(
  reader: Reader,
  id: string,
  updates = ALL_UPDATES,
): MaintenanceRecord | undefined {
  const maintenance = findMaintenance(reader, { id });
  return maintenance && readRecords(reader, [maintenance], { updates })[0];
}

/** Returns one maintenance as the API shows it, with all of its updates. Throws `not_found`. */
export function getMaintenance(ctx: { baseUrl: string }, reader: Reader, id: string): Maintenance {
  return presentMaintenance(getMaintenanceRecord(reader, id), ctx.baseUrl);
}

/**
 * Returns a maintenance with at most `limit` updates: the newest, or those that are older than the
 * update `before`. Throws `not_found`, also for that update.
 */
export function getMaintenancePart(
  reader: Reader,
  id: string,
  { before, limit }: { before: string | undefined; limit: number },
): { record: MaintenanceRecord; isMore: boolean } {
  const record = findMaintenanceRecord(reader, id, 0);
  if (!record) throw notFound("maintenance");
  const cursor =
    before === undefined
      ? { displayAt: Number.MAX_SAFE_INTEGER, id: "" }
      : findUpdate(reader, { maintenanceId: id, id: before });
  if (!cursor) throw notFound("update");
  const updates = listUpdatesBefore(reader, {
    maintenanceId: id,
    beforeAt: cursor.displayAt,
    beforeId: cursor.id,
    limit: limit + 1,
  });
  return {
    record: { ...record, updates: updates.slice(0, limit) },
    isMore: updates.length > limit,
  };
}
