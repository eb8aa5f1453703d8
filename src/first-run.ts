import type { Ctx } from "./context";
import { Problem } from "./base/errors";
import { createSamplePage } from "./features/sample";
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
