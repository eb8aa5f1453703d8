import { and, asc, eq, gt, isNull, or } from "drizzle-orm";
import { selectMany } from "../../src/db/statements";
import { componentCauses, components } from "../../src/db/tables/components";

/** Lists the causes of a page's components since a time, in the order of writing. */
export const listCausesOfPage = selectMany((orm, $: { pageId: string; since: number }) =>
  orm
    .select({ cause: componentCauses })
    .from(componentCauses)
    .innerJoin(components, eq(components.id, componentCauses.componentId))
    .where(
      and(
        eq(components.pageId, $.pageId),
        or(isNull(componentCauses.endedAt), gt(componentCauses.endedAt, $.since)),
      ),
    )
    .orderBy(asc(componentCauses.id)),
);
