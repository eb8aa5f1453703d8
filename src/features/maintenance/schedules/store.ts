/* Schedules of maintenance: the records that are read, then all statements. */
import { and, asc, desc, eq, isNull, lt, ne, sql } from "drizzle-orm";
import { notFound } from "../../../base/errors";
import { NEWEST } from "../../../base/ids";
import { deleteBy, findBy } from "../../../db/rows";
import {
  insertAllInto,
  insertInto,
  isAmong,
  mutate,
  type Orm,
  type Reader,
  selectMany,
  selectOne,
  updateById,
} from "../../../db/statements";
import { components } from "../../../db/tables/components";
import {
  maintenances,
  maintenanceScheduleComponents,
  maintenanceSchedules,
} from "../../../db/tables/maintenances";
import { pageAddress, pages } from "../../../db/tables/pages";
import type { PageAddress } from "../../pages/addresses";

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

export type ScheduleRow = typeof maintenanceSchedules.$inferSelect;

export const insertSchedule = insertInto(maintenanceSchedules);
export const updateScheduleRow = updateById(maintenanceSchedules);
export const insertScheduleComponents = insertAllInto(maintenanceScheduleComponents);

/** Deletes the row of a schedule. Its occurrences stay, without a schedule. */
export const deleteScheduleRow = deleteBy(maintenanceSchedules, ["id"]);

export const deleteScheduleComponents = deleteBy(maintenanceScheduleComponents, ["scheduleId"]);

const withPage = (orm: Orm) =>
  orm
    .select({ row: maintenanceSchedules, page: pageAddress })
    .from(maintenanceSchedules)
    .innerJoin(pages, eq(pages.id, maintenanceSchedules.pageId));

const findScheduleWithPage = selectOne((orm, $: { id: string }) =>
  withPage(orm).where(eq(maintenanceSchedules.id, $.id)),
);

export const findScheduleByRef = findBy(maintenanceSchedules, ["ref"]);

/** Lists schedules of one page, or of all if `pageId` is null, with ids below `before`, newest first. */
const listSchedulesBefore = selectMany(
  (orm, $: { pageId: string | null; before: string; limit: number }) =>
    withPage(orm)
      .where(
        and(
          lt(maintenanceSchedules.id, $.before),
          sql`(${$.pageId} IS NULL OR ${maintenanceSchedules.pageId} = ${$.pageId})`,
        ),
      )
      .orderBy(desc(maintenanceSchedules.id))
      .limit($.limit),
);

/** Counts the schedules of a page, and all. */
export const countSchedules = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({
      all: sql<number>`count(*)`,
      ofPage: sql<number>`coalesce(sum(${maintenanceSchedules.pageId} = ${$.pageId}), 0)`,
    })
    .from(maintenanceSchedules),
);

/** Finds the schedule whose next occurrence is the first to be made by `until` (unix ms). */
export const findScheduleToMake = selectOne((orm, $: { until: number }) =>
  orm
    .select()
    .from(maintenanceSchedules)
    .where(sql`next_at IS NOT NULL AND next_at <= ${$.until}`)
    .orderBy(asc(maintenanceSchedules.nextAt))
    .limit(1),
);

/**
 * Condition: an occurrence was made for later than `until` (unix ms), the end of the time for which they are made.
 * Then the clock was set back, and those before it may be missing.
 */
const isTooFar = ($: { until: number }) =>
  sql`next_at IS NOT NULL AND EXISTS (SELECT 1 FROM maintenances AS o
    WHERE o.schedule_id = maintenance_schedules.id AND o.occurrence_at > ${$.until})`;

/** Counts the schedules whose occurrences may be missing since the clock was set back. */
export const countTooFar = selectOne((orm, $: { until: number }) =>
  orm
    .select({ count: sql<number>`count(*)` })
    .from(maintenanceSchedules)
    .where(isTooFar($)),
);

/** Makes the clock look again for the occurrences of those schedules from `now` (unix ms) on. */
export const rewindTooFar = mutate((orm, $: { now: number; until: number }) =>
  orm.update(maintenanceSchedules).set({ nextAt: $.now }).where(isTooFar($)),
);

/** Lists the components of schedules (`ids`: a JSON list) that are not deleted, in the order of the page. */
export const listComponentsOfSchedules = selectMany((orm, $: { ids: string }) =>
  orm
    .select({
      scheduleId: maintenanceScheduleComponents.scheduleId,
      id: components.id,
      name: components.name,
    })
    .from(maintenanceScheduleComponents)
    .innerJoin(components, eq(components.id, maintenanceScheduleComponents.componentId))
    .where(
      and(isAmong(maintenanceScheduleComponents.scheduleId, $.ids), isNull(components.deletedAt)),
    )
    .orderBy(asc(components.position), asc(components.id)),
);

/** Lists the times (unix ms) from `from` on for which a schedule has occurrences. */
export const listOccurrenceTimes = selectMany((orm, $: { scheduleId: string; from: number }) =>
  orm
    .select({ at: sql<number>`occurrence_at` })
    .from(maintenances)
    .where(sql`schedule_id = ${$.scheduleId} AND occurrence_at >= ${$.from}`),
);

/**
 * Condition: no earlier occurrence of the same schedule is to come at `now` (unix ms), or the maintenance is no
 * scheduled occurrence.
 */
export const isNextOccurrence = (now: number | null) =>
  sql`(maintenances.schedule_id IS NULL OR maintenances.status <> 'scheduled' OR NOT EXISTS (
    SELECT 1 FROM maintenances AS o WHERE o.schedule_id = maintenances.schedule_id
      AND o.status = 'scheduled' AND o.scheduled_until > ${now}
      AND (o.scheduled_for, o.id) < (maintenances.scheduled_for, maintenances.id)))`;

/** Lists the occurrences of a schedule that start after `now` (unix ms), next first. */
export const listUpcomingOfSchedule = selectMany(
  (orm, $: { scheduleId: string; now: number; limit: number }) =>
    orm
      .select({
        id: maintenances.id,
        name: maintenances.name,
        scheduledFor: maintenances.scheduledFor,
        scheduledUntil: maintenances.scheduledUntil,
      })
      .from(maintenances)
      .where(
        sql`schedule_id = ${$.scheduleId} AND status = 'scheduled' AND scheduled_for > ${$.now}`,
      )
      .orderBy(asc(maintenances.scheduledFor))
      .limit($.limit),
);

/** Makes the occurrences of a schedule on other pages ordinary maintenance. */
export const detachOccurrences = mutate((orm, $: { scheduleId: string; pageId: string }) =>
  orm
    .update(maintenances)
    .set({ scheduleId: null })
    .where(and(eq(maintenances.scheduleId, $.scheduleId), ne(maintenances.pageId, $.pageId))),
);

/**
 * Lists the occurrences of a schedule that start after `now` (unix ms) and were never changed. `isReminded` is 1
 * if people got the reminder.
 */
export const listUntouched = selectMany((orm, $: { scheduleId: string; now: number }) =>
  orm
    .select({
      id: maintenances.id,
      at: sql<number>`occurrence_at`,
      isReminded: sql<number>`coalesce(reminded_at > created_at, 0)`,
    })
    .from(maintenances)
    .where(
      sql`schedule_id = ${$.scheduleId} AND status = 'scheduled' AND version = 1
        AND scheduled_for > ${$.now}`,
    ),
);

/** Deletes maintenances (`ids`: a JSON list) with their components and updates. */
export const deleteMaintenances = mutate((orm, $: { ids: string }) =>
  orm.delete(maintenances).where(sql`id IN (SELECT value FROM json_each(${$.ids}))`),
);
