import type { AppContext } from "../context";
import { notFound } from "../errors";
import type { Sessions } from "../features/auth";
import type { Snapshot, Snapshots } from "../features/status";
import {
  type RequestContext,
  findCurrentSession,
  NO_STORE,
  PUBLIC_CACHE,
  type Representation,
  type SentPage,
  sendHtml,
} from "../http";
import { runInSlices } from "../kernel/in-slices";
import { htmlRepresentation } from "./answers";

/** Number of cached further documents of one status page, such as its history. */
const KEPT_MAX = 32;

/** One request for a page below `/status/{slug}`. */
export interface PageRequest {
  /** The slug in its path. */
  slug: string;
  /** Rest of the path after the slug, with the query. */
  rest: string;
  request: Request;
  requestContext: RequestContext;
}

/** Answers for the pages of a status page, by the same rules for all of them. */
export interface Site {
  /**
   * The status page itself, or a page below it, made by `make`. A private page is there only for who is
   * signed in, and kept by nobody; an earlier slug leads to the present one. What is public is kept as
   * long as nothing of the status page changes. `stepsOf` prepares what `make` takes, in slices, unless
   * the page is kept. Throws `not_found`.
   */
  answer(
    pageRequest: PageRequest,
    make: (snapshot: Snapshot) => SentPage,
    stepsOf?: (snapshot: Snapshot) => Generator<number, void>,
  ): Response | Promise<Response>;
}

export function createSite(ctx: AppContext, snapshots: Snapshots, sessions: Sessions): Site {
  const kept = new WeakMap<Snapshot, Map<string, Representation>>();

  function keep(snapshot: Snapshot, rest: string, make: () => SentPage): Representation {
    let pages = kept.get(snapshot);
    if (!pages) kept.set(snapshot, (pages = new Map()));
    let page = pages.get(rest);
    if (!page) {
      page = htmlRepresentation(make());
      const [oldest] = pages.keys();
      if (pages.size >= KEPT_MAX && oldest !== undefined) pages.delete(oldest);
      pages.set(rest, page);
    }
    return page;
  }

  const prepared = new WeakMap<Snapshot, Promise<void> | undefined>();

  /** Runs the steps of a snapshot once; undefined if they have run. */
  function prepare(
    snapshot: Snapshot,
    stepsOf: (snapshot: Snapshot) => Generator<number, void>,
  ): Promise<void> | undefined {
    if (prepared.has(snapshot)) return prepared.get(snapshot);
    const running = runInSlices(stepsOf(snapshot)).finally(() => prepared.set(snapshot, undefined));
    prepared.set(snapshot, running);
    return running;
  }

  return {
    answer({ slug, rest, request, requestContext }, make, stepsOf) {
      const snapshot = snapshots.read(slug, requestContext.now);
      if (!snapshot) throw notFound("status page");
      const { page } = snapshot.document;
      const isPublic = page.visibility === "public";
      // To who is not signed in, a private page is not there.
      if (!isPublic && !findCurrentSession(ctx, sessions, request, requestContext.now)) {
        throw notFound("status page");
      }
      if (page.slug !== slug) {
        return leadTo(`/status/${page.slug}${rest}`, isPublic ? PUBLIC_CACHE : NO_STORE);
      }
      const send = () =>
        isPublic
          ? keep(snapshot, rest, () => make(snapshot)).respond(request, requestContext)
          : sendHtml(request, make(snapshot));
      if (!stepsOf || kept.get(snapshot)?.has(rest)) return send();
      const prepared = prepare(snapshot, stepsOf);
      return prepared ? prepared.then(send) : send();
    },
  };
}

/** Not for ever: the slug may come back. */
function leadTo(path: string, cacheControl: string): Response {
  const headers = { Location: path, "Cache-Control": cacheControl };
  return new Response(null, { status: 308, headers });
}
