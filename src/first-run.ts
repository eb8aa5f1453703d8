import { SYSTEM_ACTOR } from "./base/actor";
import { Problem } from "./base/errors";
import { composed } from "./base/validation";
import type { Ctx } from "./context";
import type { Tx } from "./db/statements";
import { createComponent, createGroup } from "./features/components/components";
import { setManualStatuses } from "./features/components/statuses";
import { createPage } from "./features/pages/pages";
import { listAllPages } from "./features/pages/store";
import { issueSetUpLink, linkPath, SET_UP_LINK_MS } from "./features/users/invitations";

export interface FirstRun {
  /** Time for which a set-up link is valid. */
  linkMs: number;
  /** Secret link for creating the first user, valid for `linkMs`; undefined once a user exists. */
  setUpUrl: string | undefined;
  /** Set-up link once changes can be stored; undefined if they could be stored at the start. */
  laterSetUpUrl: Promise<string | undefined> | undefined;
}

/**
 * Stores the sample page and the set-up link of a first run. If changes cannot be stored, such as
 * on a full disk, they are stored later while the server runs.
 */
export async function storeFirstRun(ctx: Ctx): Promise<FirstRun> {
  const store = async () => {
    const token = await ctx.db.write((tx) => {
      createSamplePage(ctx, tx);
      return issueSetUpLink(ctx, tx);
    });
    return token === undefined ? undefined : `${ctx.baseUrl}${linkPath("setup", token)}`;
  };
  try {
    return { linkMs: SET_UP_LINK_MS, setUpUrl: await store(), laterSetUpUrl: undefined };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "unavailable") throw error;
  }
  const later = Promise.withResolvers<string | undefined>();
  const leave = ctx.db.recovered.on(() => {
    store().then(
      (url) => {
        leave();
        later.resolve(url);
      },
      (error: unknown) => ctx.log.warn({ err: error }, "the set-up link could not be stored"),
    );
  });
  return { linkMs: SET_UP_LINK_MS, setUpUrl: undefined, laterSetUpUrl: later.promise };
}

/** Groups of the sample page, with their components. */
const GROUPS = [
  { name: "Website", components: ["Storefront", "Search"] },
  { name: "Platform", components: ["API", "Background jobs"] },
];
/** Component with an outage, as an example. */
const AFFECTED = "Search";

/**
 * Creates the sample page if there is no page at all, so that `/` shows something. Creating the first page
 * deletes it.
 */
function createSamplePage(ctx: Ctx, tx: Tx): void {
  if (listAllPages(tx, {}).length > 0) return;
  const page = createPage(
    ctx,
    tx,
    composed({
      slug: "sample",
      name: "Sample status page",
      description: "An example of what your users will see.",
    }),
    SYSTEM_ACTOR,
    { isSample: true },
  );
  // Only the order of positions matters, so groups and components share the numbers.
  let position = 0;
  for (const { name, components } of GROUPS) {
    const placement = { position: position++, managedBy: null };
    const group = createGroup(ctx, tx, page, composed({ name }), placement, SYSTEM_ACTOR);
    for (const component of components) {
      const row = createComponent(
        ctx,
        tx,
        page,
        composed({ name: component }),
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
