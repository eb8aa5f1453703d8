/** Sample page of a first start, so that `/` shows something. Creating the first page deletes it. */
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { SYSTEM_ACTOR } from "../../base/actor";
import { createComponent, createGroup } from "../components/components";
import { setManualStatuses } from "../components/statuses";
import { createPage } from "../pages/pages";
import { listAllPages } from "../pages/store";

const GROUPS = [
  { name: "Website", components: ["Storefront", "Search"] },
  { name: "Platform", components: ["API", "Background jobs"] },
];
/** Component with an outage, as an example. */
const AFFECTED = "Search";

/** Creates the sample page if there is no page at all. */
export function createSamplePage(ctx: Ctx, tx: Tx): void {
  if (listAllPages(tx, {}).length > 0) return;
  const page = createPage(
    ctx,
    tx,
    {
      slug: "sample",
      name: "Sample status page",
      description: "An example of what your users will see.",
    },
    SYSTEM_ACTOR,
    { isSample: true },
  );
  // Only the order of positions matters, so groups and components share the numbers.
  let position = 0;
  for (const { name, components } of GROUPS) {
    const placement = { position: position++, managedBy: null };
    const group = createGroup(ctx, tx, page, { name }, placement, SYSTEM_ACTOR);
    for (const component of components) {
      const row = createComponent(
        ctx,
        tx,
        page,
        { name: component },
        { position: position++, managedBy: null, groupId: group.id },
        SYSTEM_ACTOR,
      );
      if (component === AFFECTED) {
        setManualStatuses(ctx, tx, new Map([[row.id, "degraded_performance"]]), {
          source: "manual",
          actor: SYSTEM_ACTOR,
          reason: "Part of the sample",
        });
      }
    }
  }
}
