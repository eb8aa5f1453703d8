/*
 * Monitors, their components and evaluations, and who needs a message about them. Runs often: `saveEvaluation` when a check
 * changes the evaluation, which finds its row by its key.
 */
import { and, asc, desc, eq, isNotNull, isNull, lt, lte, sql, type SQL } from "drizzle-orm";
import type { MonitorState, MonitorType } from "../../base/status";
import { deleteBy, findBy, setBy } from "../../db/rows";
import {
  insertInto,
  mutate,
  type Reader,
  selectMany,
  selectOne,
  updateById,
} from "../../db/statements";
import { components } from "../../db/tables/components";
import { mailWarnings } from "../../db/tables/mail";
import { monitorComponents, monitors, monitorStates } from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";
import { EVALUATION_COLUMNS } from "./rules";

export type MonitorRow = typeof monitors.$inferSelect;
export type StateRow = typeof monitorStates.$inferSelect;

type Nothing = Record<string, never>;

export const insertMonitor = insertInto(monitors);
export const updateMonitorRow = updateById(monitors);
export const insertMonitorComponent = insertInto(monitorComponents);
export const insertMonitorState = insertInto(monitorStates);

/** Finds the `num` of the next monitor. Those of deleted monitors are not used again. */
export const findNextNum = selectOne((orm, _$: Nothing) =>
  orm.select({ num: sql<number>`coalesce(max(${monitors.num}), 0) + 1` }).from(monitors),
);

export const findMonitor = findBy(monitors, ["id"], { where: isNull(monitors.deletedAt) });

export const findMonitorByRef = findBy(monitors, ["ref"], { where: isNull(monitors.deletedAt) });

/** Lists all monitors with their states, oldest first. */
export const listAllMonitors = selectMany((orm, _$: Nothing) =>
  orm
    .select({ monitor: monitors, state: monitorStates })
    .from(monitors)
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(isNull(monitors.deletedAt))
    .orderBy(asc(monitors.id)),
);

export const deleteMonitorComponents = deleteBy(monitorComponents, ["monitorId"]);

/** Removes the components of a page, including deleted ones, from all monitors. */
export const deleteMonitorComponentsOfPage = mutate((orm, $: { pageId: string }) =>
  orm
    .delete(monitorComponents)
    .where(
      sql`${monitorComponents.componentId} IN (SELECT id FROM components WHERE page_id = ${$.pageId})`,
    ),
);

/** Lists the components of monitors (`monitorIds`: a JSON list), in the order of their pages. */
export const listComponentsOfMonitors = selectMany((orm, $: { monitorIds: string }) =>
  orm
    .select({
      monitorId: monitorComponents.monitorId,
      id: components.id,
      name: components.name,
      status: components.status,
      pageId: components.pageId,
      pageSlug: pages.slug,
    })
    .from(monitorComponents)
    .innerJoin(components, eq(components.id, monitorComponents.componentId))
    .innerJoin(pages, eq(pages.id, components.pageId))
    .where(
      and(
        sql`${monitorComponents.monitorId} IN (SELECT value FROM json_each(${$.monitorIds}))`,
        isNull(components.deletedAt),
        isNull(pages.deletedAt),
      ),
    )
    .orderBy(asc(components.pageId), asc(components.position), asc(components.id)),
);

/** Lists pairs of monitor and component of a page. */
export const listMonitorsOfPage = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({
      componentId: components.id,
      id: monitors.id,
      num: monitors.num,
      name: monitors.name,
      type: monitors.type,
    })
    .from(components)
    .innerJoin(monitorComponents, eq(monitorComponents.componentId, components.id))
    .innerJoin(monitors, eq(monitors.id, monitorComponents.monitorId))
    .where(
      and(
        eq(components.pageId, $.pageId),
        isNull(components.deletedAt),
        isNull(monitors.deletedAt),
      ),
    )
    .orderBy(asc(components.position), asc(components.id), asc(monitors.id)),
);

/** Lists the components of a page in trouble because of a monitor of a provider, with its config and last message. */
export const listUpstreamTroubles = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({
      componentId: components.id,
      config: monitors.config,
      // The message of one with several locations names them, which visitors must not read.
      message: sql<string | null>`CASE WHEN ${monitors.locations} = '["local"]' THEN (
        SELECT s.message FROM monitor_spans AS s
        WHERE s.monitor_num = ${monitors.num} AND s.ended_at IS NULL) END`,
    })
    .from(components)
    .crossJoin(monitorComponents)
    .crossJoin(monitors)
    .crossJoin(monitorStates)
    .where(
      and(
        eq(components.pageId, $.pageId),
        isNull(components.deletedAt),
        eq(monitorComponents.componentId, components.id),
        eq(monitors.id, monitorComponents.monitorId),
        eq(monitors.type, "upstream"),
        isNull(monitors.deletedAt),
        eq(monitorStates.monitorNum, monitors.num),
        sql`${monitorStates.state} IN ('down', 'degraded')`,
      ),
    )
    .orderBy(asc(monitors.id)),
);

/** Lists the monitors of a component. */
export const listMonitorsOfComponent = selectMany((orm, $: { componentId: string }) =>
  orm
    .select({ num: monitors.num, intervalSeconds: monitors.intervalSeconds })
    .from(monitorComponents)
    .innerJoin(monitors, eq(monitors.id, monitorComponents.monitorId))
    .where(and(eq(monitorComponents.componentId, $.componentId), isNull(monitors.deletedAt))),
);

/** Counts the monitors in each state. */
export const countMonitorsByState = selectMany((orm, _$: Nothing) =>
  orm
    .select({ state: monitorStates.state, monitors: sql<number>`count(*)` })
    .from(monitors)
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(isNull(monitors.deletedAt))
    .groupBy(monitorStates.state),
);

export const findMonitorState = findBy(monitorStates, ["monitorNum"]);

/** Lists the states of monitors (`nums`: a JSON list). */
export const listMonitorStates = selectMany((orm, $: { nums: string }) =>
  orm
    .select()
    .from(monitorStates)
    .where(sql`${monitorStates.monitorNum} IN (SELECT value FROM json_each(${$.nums}))`),
);

/** Raises the versions of monitors (`nums`: a JSON list) at a time (unix ms). */
export const touchMonitorRows = mutate((orm, $: { nums: string; at: number }) =>
  orm
    .update(monitors)
    .set({ version: sql`${monitors.version} + 1`, updatedAt: $.at })
    .where(sql`${monitors.num} IN (SELECT value FROM json_each(${$.nums}))`),
);

/** Pauses monitors (`nums`: a JSON list). */
export const pauseMonitorRows = mutate((orm, $: { nums: string }) =>
  orm
    .update(monitors)
    .set({ paused: true })
    .where(sql`${monitors.num} IN (SELECT value FROM json_each(${$.nums}))`),
);

export const saveEvaluation = setBy(
  monitorStates,
  ["monitorNum"],
  [...EVALUATION_COLUMNS, "unreachableVia"],
);

/** Saves the expiry of the certificate seen last; null if it is no longer known. */
export const saveCertificate = setBy(monitorStates, ["monitorNum"], ["certificateExpiresAt"]);

/*
 * Monitors as lists show them. None is hot; each reads only the rows that are shown, in the order
 * of an index, and sorts only for the monitors of one page or component.
 */
const ROWS = { row: monitors, state: monitorStates };

/** Filters of the list; null matches everything. */
interface ListParams {
  pageId: string | null;
  componentId: string | null;
  state: MonitorState | null;
  type: MonitorType | null;
  /** `,` and a tag as a JSON text, case-insensitive for ASCII. */
  tag: string | null;
  group: string | null;
  /** Text within the name, case-insensitive for ASCII. */
  search: string | null;
  /** Only ids below this one. */
  before: string;
  limit: number;
}

export const findMonitorWithState = selectOne((orm, $: { id: string }) =>
  orm
    .select(ROWS)
    .from(monitors)
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(and(eq(monitors.id, $.id), isNull(monitors.deletedAt))),
);

/**
 * Returns the condition that a monitor has a tag. In the JSON list, a quotation mark follows a comma only
 * at the start of a text, since quotation marks within texts follow a backslash.
 */
export const hasTag = (tag: string | null) =>
  sql`(${tag} IS NULL OR instr(lower(',' || substr(${monitors.tags}, 2)), lower(${tag})) > 0)`;

/** Returns the condition that a monitor has a group. */
export const isInGroup = (group: string | null) =>
  sql`(${group} IS NULL OR ${monitors.group} = ${group})`;

/** Returns the statement for one kind of filter, with constant text. */
function listStatement(where: ($: ListParams) => SQL) {
  return selectMany((orm, $: ListParams) =>
    orm
      .select(ROWS)
      .from(monitors)
      .crossJoin(monitorStates)
      .where(
        and(
          sql`${monitors.id} < ${$.before}`,
          isNull(monitors.deletedAt),
          eq(monitorStates.monitorNum, monitors.num),
          sql`(${$.state} IS NULL OR ${monitorStates.state} = ${$.state})`,
          sql`(${$.type} IS NULL OR ${monitors.type} = ${$.type})`,
          hasTag($.tag),
          isInGroup($.group),
          sql`(${$.search} IS NULL OR instr(lower(${monitors.name}), lower(${$.search})) > 0)`,
          where($),
        ),
      )
      .orderBy(desc(monitors.id))
      .limit($.limit),
  );
}

const listAll = listStatement(() => sql`TRUE`);

const listOfPage = listStatement(
  ($) => sql`${monitors.id} IN (SELECT mc.monitor_id FROM components AS c
    CROSS JOIN monitor_components AS mc ON mc.component_id = c.id
    WHERE c.page_id = ${$.pageId} AND c.deleted_at IS NULL
      AND (${$.componentId} IS NULL OR c.id = ${$.componentId}))`,
);

const listOfComponent = listStatement(
  ($) => sql`${monitors.id} IN (SELECT mc.monitor_id FROM monitor_components AS mc
    WHERE mc.component_id = ${$.componentId})`,
);

/** Lists monitors, newest first. */
export function listMonitorRows(reader: Reader, params: ListParams) {
  if (params.pageId !== null) return listOfPage(reader, params);
  return params.componentId === null ? listAll(reader, params) : listOfComponent(reader, params);
}

export const insertCertificateWarning = insertInto(mailWarnings);

/** Finds a warning about a certificate for a recipient, at a step or a nearer one. */
export const findCertificateWarning = selectOne(
  (orm, $: { subject: string; step: number; recipient: string }) =>
    orm
      .select({ step: mailWarnings.step })
      .from(mailWarnings)
      .where(
        and(
          eq(mailWarnings.subject, $.subject),
          eq(mailWarnings.recipient, $.recipient),
          lte(mailWarnings.step, $.step),
        ),
      )
      .limit(1),
);

/** Deletes the warnings about certificates from before a time (unix ms). */
export const deleteCertificateWarnings = mutate((orm, $: { before: number }) =>
  orm
    .delete(mailWarnings)
    .where(
      and(
        sql`${mailWarnings.subject} BETWEEN 'certificate ' AND 'certificate~'`,
        lt(mailWarnings.at, $.before),
      ),
    ),
);

/* Reminders and acknowledgements of outages. None is hot: the search every few seconds reads only monitors that are down. */

/** Time of the last message about an outage, before which no reminder is due again. */
const lastMessageAt = sql<number>`coalesce(${monitorStates.remindedAt}, ${monitorStates.since})`;

// The literal state is that of a partial index. A last message in the future is from before the clock was set back.
const isReminderDue = (now: unknown) =>
  and(
    eq(monitors.num, monitorStates.monitorNum),
    sql`${monitorStates.state} = 'down' AND ${monitors.reminderSeconds} > 0
      AND ${monitorStates.acknowledgement} IS NULL
      AND (${lastMessageAt} + ${monitors.reminderSeconds} * 1000 <= ${now} OR ${lastMessageAt} > ${now})`,
    isNull(monitors.deletedAt),
  );

/** Lists the monitors whose reminder is due at `now` (unix ms), starting from those that are down. */
export const listDueReminders = selectMany((orm, $: { now: number }) =>
  orm
    .select({ num: monitors.num })
    .from(monitorStates)
    .crossJoin(monitors)
    .where(isReminderDue($.now)),
);

/** Finds the number of reminders of a monitor whose reminder is due at `now` (unix ms). */
export const findDueReminder = selectOne((orm, $: { monitorNum: number; now: number }) =>
  orm
    .select({ reminders: monitorStates.reminders })
    .from(monitorStates)
    .crossJoin(monitors)
    .where(and(eq(monitorStates.monitorNum, $.monitorNum), isReminderDue($.now))),
);

/** Saves the number of reminders of an outage, and the time of the last message about it (unix ms). */
export const saveReminder = setBy(monitorStates, ["monitorNum"], ["reminders", "remindedAt"]);

/** Saves the acknowledgement of an outage; null if there is none. */
export const saveAcknowledgement = setBy(monitorStates, ["monitorNum"], ["acknowledgement"]);

/** Ends the acknowledgement of an outage, if there is one. */
export const endAcknowledgement = mutate((orm, $: { monitorNum: number }) =>
  orm
    .update(monitorStates)
    .set({ acknowledgement: null })
    .where(
      and(eq(monitorStates.monitorNum, $.monitorNum), isNotNull(monitorStates.acknowledgement)),
    ),
);
