import { and, asc, desc, eq, gte, lt, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db";
import { incidents, incidentUpdateComponents, incidentUpdates } from "../../db/tables/incidents";
import { isOneOf, isPublished } from "./store";

/* What lists of the past read: a line of each incident, without what was told of it. */

const { id, incidentId, displayAt } = incidentUpdates;
const naming = incidentUpdateComponents;

/** Columns of a summary. */
const LINE = {
  id: incidents.id,
  name: incidents.name,
  status: incidents.status,
  impact: incidents.impact,
  startedAt: incidents.startedAt,
  resolvedAt: incidents.resolvedAt,
  postmortemPublishedAt: incidents.postmortemPublishedAt,
};

/** The published incidents of a page that were resolved at `since` (unix ms) or later, the last first. */
export const listEndedLines = selectMany(
  (orm, $: { pageId: string; since: number; limit: number }) =>
    orm
      .select(LINE)
      .from(incidents)
      .where(and(eq(incidents.pageId, $.pageId), gte(incidents.resolvedAt, $.since), isPublished))
      .orderBy(desc(incidents.resolvedAt), desc(incidents.id))
      .limit($.limit),
);

/** The published incidents of a page that started within a span and behind a place, newest start first. */
export const listLinesBetween = selectMany(
  (
    orm,
    $: {
      pageId: string;
      from: number;
      to: number;
      beforeAt: number;
      beforeId: string;
      limit: number;
    },
  ) =>
    orm
      .select(LINE)
      .from(incidents)
      .where(
        and(
          eq(incidents.pageId, $.pageId),
          gte(incidents.startedAt, $.from),
          lt(incidents.startedAt, $.to),
          sql`(${incidents.startedAt}, ${incidents.id}) < (${$.beforeAt}, ${$.beforeId})`,
          isPublished,
        ),
      )
      .orderBy(desc(incidents.startedAt), desc(incidents.id))
      .limit($.limit),
);

/** The published incident of a page that started first. */
export const findFirstSummary = selectOne((orm, $: { pageId: string }) =>
  orm
    .select({ startedAt: incidents.startedAt })
    .from(incidents)
    .where(and(eq(incidents.pageId, $.pageId), isPublished))
    .orderBy(asc(incidents.startedAt))
    .limit(1),
);

/** Lists the component names that incidents (`ids`: a JSON list) used, in the order of effect. */
export const listNames = selectMany((orm, $: { ids: string }) =>
  orm
    .select({ incidentId, componentId: naming.componentId, name: naming.name })
    .from(incidentUpdates)
    .innerJoin(naming, eq(naming.updateId, id))
    .where(isOneOf(incidentId, $.ids))
    .orderBy(asc(displayAt), asc(id), asc(naming.componentId)),
);
