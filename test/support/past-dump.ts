import { asc, sql } from "drizzle-orm";
import { selectMany } from "../../src/db/statements";
import { componentCauses, components } from "../../src/db/tables/components";
import {
  componentNoData,
  monitorChecks,
  monitorRollups,
  monitorSpans,
  monitorStates,
} from "../../src/db/tables/monitors";
import type { TestApp } from "./app";

type Nothing = Record<string, never>;

const COMPONENT = sql<string>`(SELECT ref FROM components AS c WHERE c.id = component_id)`;

const TABLES = {
  monitor_checks: selectMany((orm, _$: Nothing) =>
    orm.select().from(monitorChecks).orderBy(monitorChecks.monitorNum, monitorChecks.at),
  ),
  monitor_rollups: selectMany((orm, _$: Nothing) =>
    orm
      .select()
      .from(monitorRollups)
      .orderBy(monitorRollups.monitorNum, monitorRollups.size, monitorRollups.at),
  ),
  monitor_spans: selectMany((orm, _$: Nothing) =>
    orm.select().from(monitorSpans).orderBy(monitorSpans.monitorNum, monitorSpans.startedAt),
  ),
  monitor_states: selectMany((orm, _$: Nothing) => orm.select().from(monitorStates)),
  component_causes: selectMany((orm, _$: Nothing) =>
    orm
      .select({
        component: COMPONENT,
        source: componentCauses.source,
        status: componentCauses.status,
        startedAt: componentCauses.startedAt,
        endedAt: componentCauses.endedAt,
      })
      .from(componentCauses)
      .orderBy(asc(COMPONENT), asc(componentCauses.startedAt)),
  ),
  component_no_data: selectMany((orm, _$: Nothing) =>
    orm
      .select({
        component: COMPONENT,
        startedAt: componentNoData.startedAt,
        endedAt: componentNoData.endedAt,
      })
      .from(componentNoData)
      .orderBy(asc(COMPONENT), asc(componentNoData.startedAt)),
  ),
  components: selectMany((orm, _$: Nothing) =>
    orm
      .select({ ref: components.ref, status: components.status, startDate: components.startDate })
      .from(components)
      .orderBy(components.ref),
  ),
};

/** Returns all rows of histories, without ids, in the order of their keys. */
export function dumpRows({ ctx }: Pick<TestApp, "ctx">): Record<keyof typeof TABLES, unknown[]> {
  return Object.fromEntries(
    Object.entries(TABLES).map(([name, list]) => [name, list(ctx.db, {})]),
  ) as Record<keyof typeof TABLES, unknown[]>;
}
