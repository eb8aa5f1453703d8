import type { Reader } from "../../../db/statements";
import { NEWEST } from "../../../base/ids";
import { notFound } from "../../../base/errors";
import type { PageAddress } from "../../pages/references";
import {
  findScheduleWithPage,
  listComponentsOfSchedules,
  listSchedulesBefore,
  type ScheduleRow,
} from "./store";

/** A schedule with its page and its components. */
export interface ScheduleRecord {
  row: ScheduleRow;
  page: PageAddress;
  /** In the order of the page, without deleted ones. */
  components: readonly { id: string; name: string }[];
}

/** Finds a schedule. */
export function findSchedule(reader: Reader, id: string): ScheduleRecord | undefined {
  const found = findScheduleWithPage(reader, { id });
  return found && withComponents(reader, [found])[0];
}

/** Returns a schedule. Throws `not_found`. */
export function getSchedule(reader: Reader, id: string): ScheduleRecord {
  const record = findSchedule(reader, id);
  if (!record) throw notFound("maintenance schedule");
  return record;
}

/** Lists schedules of one page or all, newest first, those older than the one with the id `before`. */
export function listSchedules(
  reader: Reader,
  query: { pageId?: string | undefined; before?: string | undefined; limit?: number } = {},
): ScheduleRecord[] {
  const { pageId = null, before = NEWEST, limit = Number.MAX_SAFE_INTEGER } = query;
  return withComponents(reader, listSchedulesBefore(reader, { pageId, before, limit }));
}

function withComponents(
  reader: Reader,
  found: readonly Omit<ScheduleRecord, "components">[],
): ScheduleRecord[] {
  if (found.length === 0) return [];
  const ids = JSON.stringify(found.map(({ row }) => row.id));
  const chosen = Map.groupBy(
    listComponentsOfSchedules(reader, { ids }),
    ({ scheduleId }) => scheduleId,
  );
  return found.map((each) => ({ ...each, components: chosen.get(each.row.id) ?? [] }));
}
