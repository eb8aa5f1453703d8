import type { Ctx } from "../context";
import { notFound } from "../base/errors";
import type { Sessions } from "../features/auth/sessions";
import type { Snapshot } from "../features/status/snapshot";
import type { Snapshots } from "../features/status/snapshots";
import type { RequestContext } from "../http/request-context";
import { findCurrentSession } from "../http/session-cookie";
import { movedTo, sendHtml, type SentPage } from "../http/answers";
import { NO_STORE, Representation, representOnce } from "../http/representation";
import { PUBLIC_CACHE } from "../http/cdn";
import { runInSlices } from "../base/in-slices";
import { htmlRepresentation } from "./answers";
import { versionOf } from "./version";

/** Number of cached further documents of one status page, such as its history. */
const CACHED_MAX = 32;
/** Preparations of one answer. If the page changes during each of them, it is rendered unprepared. */
const PREPARATIONS_MAX = 3;

/** One request for a page below `/status/{slug}`. */
interface PageRequest {
  /** Slug in the path. */
  slug: string;
  /** Rest of the path after the slug, with the query. */
  rest: string;
  /** Name of one of several contents of this path, which are cached separately. */
  variant?: string;
  request: Request;
  requestContext: RequestContext;
}

/** Answers requests for the documents of status pages. */
interface Site {
  /**
   * Answers with the status page itself or a page below it, which `make` renders. A private page is
   * shown only to signed-in users and never cached. An earlier slug redirects to the current one. A
   * public page is cached until the status page changes. Throws `not_found`.
   *
   * `stepsOf` prepares parts of an uncached page in slices. The answer is then decided again, since the
   * status page may have changed or become private meanwhile. `make` reads the database in the turn of
   * the event loop in which the snapshot was current.
   */
  answer(
    pageRequest: PageRequest,
    make: (snapshot: Snapshot) => SentPage,
    stepsOf?: (snapshot: Snapshot) => Generator<number, void>,
  ): Response | Promise<Response>;
  /**
   * Answers with the version of the page's content, under the same conditions as the page itself. Throws
   * `not_found`.
   */
  answerVersion(pageRequest: PageRequest): Response | Promise<Response>;
}

/** Returns the version of a page in a few bytes. */
function versionText(version: string, cacheControl: string): Representation {
  return new Representation(version, { mediaType: "text/plain;charset=utf-8", cacheControl });
}

/**
 * Creates the answers, with a cache for each snapshot. Without it, an unchanged public page takes 20 to
 * 100 times the processor time.
 */
export function createSite(ctx: Ctx, snapshots: Snapshots, sessions: Sessions): Site {
  const cache = new WeakMap<Snapshot, Map<string, Representation>>();

  function cached(snapshot: Snapshot, rest: string, make: () => SentPage): Representation {
    let pages = cache.get(snapshot);
    if (!pages) cache.set(snapshot, (pages = new Map()));
    let page = pages.get(rest);
    if (!page) {
      page = htmlRepresentation(make());
      const [oldest] = pages.keys();
      if (pages.size >= CACHED_MAX && oldest !== undefined) pages.delete(oldest);
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

  const publicVersion = representOnce((snapshot: Snapshot) =>
    versionText(versionOf(snapshot, ctx.clock.now(), ctx.shownAsOf), PUBLIC_CACHE),
  );

  /** Returns the snapshot that the caller may see at `now`, or a redirect to the current slug. */
  function open(pageRequest: PageRequest, now: number): Opened | Response {
    const { slug, rest, request, requestContext } = pageRequest;
    // The page may have become private while the answer was prepared.
    requestContext.shownPageId = undefined;
    const snapshot = snapshots.read(slug, now);
    if (!snapshot) throw notFound("status page");
    const { page } = snapshot.document;
    const isPublic = page.visibility === "public";
    if (isPublic) requestContext.shownPageId = page.id;
    // The answer does not reveal that there is a private page.
    if (!isPublic && !findCurrentSession(ctx, sessions, request, now)) {
      throw notFound("status page");
    }
    if (page.slug !== slug) {
      return movedTo(`/status/${page.slug}${rest}`, isPublic ? PUBLIC_CACHE : NO_STORE);
    }
    return { snapshot, isPublic };
  }

  return {
    answer(pageRequest, make, stepsOf) {
      const { slug, rest, variant = "", request, requestContext } = pageRequest;
      const cacheKey = variant === "" ? rest : `${rest} ${variant}`;
      /** Answers as of `now`, in unix ms. */
      function answerAt(now: number, preparationsLeft: number): Response | Promise<Response> {
        const opened = open(pageRequest, now);
        if (opened instanceof Response) return opened;
        const { snapshot, isPublic } = opened;
        if (stepsOf && preparationsLeft > 0 && !cache.get(snapshot)?.has(cacheKey)) {
          const running = prepare(snapshot, stepsOf);
          if (running) return running.then(() => answerReady(preparationsLeft - 1));
        }
        return isPublic
          ? cached(snapshot, cacheKey, () => make(snapshot)).respond(request, requestContext)
          : sendHtml(request, make(snapshot));
      }
      /** Answers as of the time at which the parts of the page are prepared. */
      function answerReady(preparationsLeft: number): Response | Promise<Response> {
        const now = ctx.clock.now();
        return snapshots.whenReady(slug, now, () => answerAt(now, preparationsLeft));
      }
      const { now } = requestContext;
      return snapshots.whenReady(slug, now, () => answerAt(now, PREPARATIONS_MAX));
    },

    answerVersion(pageRequest) {
      const { slug, request, requestContext } = pageRequest;
      const { now } = requestContext;
      return snapshots.whenReady(slug, now, () => {
        const opened = open(pageRequest, now);
        if (opened instanceof Response) return opened;
        const { snapshot, isPublic } = opened;
        const version = isPublic
          ? publicVersion(snapshot)
          : versionText(versionOf(snapshot, now, ctx.shownAsOf), NO_STORE);
        return version.respond(request, requestContext);
      });
    },
  };
}

/** Page that the caller may see. */
interface Opened {
  snapshot: Snapshot;
  isPublic: boolean;
}
