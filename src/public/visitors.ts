/*
 * Decides which status pages a visitor sees: public ones, and private ones as a user or by a rule of the page.
 */
import { notFound } from "../base/errors";
import type { Ctx } from "../context";
import type { Sessions } from "../features/auth/sessions";
import type { VisitedPage, Visits } from "../features/pages/visits";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import { findFullSession } from "../http/cookies";
import { isOwnHost, readGrants, visitorAddress } from "../http/visitor";
import type { RequestContext } from "../http/request-context";
import { chosenLanguage, inLanguage, lastUsed, originalOf } from "./chosen-language";

/** A page as a visitor finds it. */
interface FoundPage {
  snapshot: Snapshot;
  isPublic: boolean;
  /** False for a private page that the visitor must not see. */
  isAdmitted: boolean;
}

export interface Visitors {
  /**
   * Finds the page of a slug at `now` (unix ms), and notes in the context what its answer shows. That of a private page
   * is sealed, like that of a page that does not exist.
   */
  find(slug: string, context: RequestContext, now: number): FoundPage | undefined;
  /** Returns the snapshot of a page that the visitor sees. Throws `not_found` for all others alike. */
  get(slug: string, context: RequestContext, now?: number): Snapshot;
  /**
   * Returns the snapshot of a page for a document that programs read. In that of a visitor with a link in the path,
   * the addresses of the page contain the link. Throws `not_found`, also for a private page without rules.
   */
  getForPrograms(slug: string, context: RequestContext, now?: number): Snapshot;
  /** Returns true for a signed-in user, whose answers are sealed. */
  isUser(context: RequestContext, now: number): boolean;
  /** Like `get`, but throws `not_found` for a private page. */
  getPublic(slug: string, context: RequestContext): Snapshot;
  /**
   * Reads the page of a snapshot of a document again, in another turn of the event loop. Throws `not_found` if it has
   * become private or public meanwhile.
   */
  readAgain(snapshot: Snapshot): Snapshot;
  /** Returns true for a private page whose password lets visitors in. */
  hasPassword(page: VisitedPage): boolean;
  /**
   * Returns the slug of the page at `/`: the one of the custom domain, or the default page. Undefined, and the answer is
   * sealed, without one, and for a private default page of which the visitor must not know.
   */
  homeSlug(context: RequestContext): string | undefined;
}

export function createVisitors(
  ctx: Ctx,
  { snapshots, sessions, visits }: { snapshots: Snapshots; sessions: Sessions; visits: Visits },
): Visitors {
  const linked = createLinkedSnapshots();

  /** Returns true if a rule or a session lets the visitor see a private page. Only a session reads the database. */
  function isAdmitted(page: VisitedPage, context: RequestContext, now: number): boolean {
    const { link } = context;
    if (link !== undefined) return visits.findLink(page, link, now) !== undefined;
    return (
      readGrants(ctx, context, page.id).some((grant) => visits.admitsGrant(page, grant, now)) ||
      isAdmittedByNetwork(page, context) ||
      isUser(context, now)
    );
  }

  function isUser({ request }: RequestContext, now: number): boolean {
    return findFullSession(ctx, sessions, request, now) !== undefined;
  }

  /** Cookies are those of a host, and an address is not: another name for this server must not show the page. */
  function isAdmittedByNetwork(page: VisitedPage, context: RequestContext): boolean {
    return isOwnHost(ctx, context) && visits.admitsAddress(page, visitorAddress(context));
  }

  const find: Visitors["find"] = (slug, context, now) => {
    // The page may have changed since it was found before.
    context.noteShown(undefined);
    const snapshot = snapshots.read(slug, now);
    if (!snapshot) return undefined;
    const { page } = snapshot.document;
    if (page.visibility !== "public") {
      const isIn = isAdmitted(page, context, now);
      if (isIn) context.admittedPageId = page.id;
      return { snapshot, isPublic: false, isAdmitted: isIn };
    }
    context.noteShown(page.id);
    return { snapshot, isPublic: true, isAdmitted: true };
  };

  function getFound(slug: string, context: RequestContext, now = context.now): FoundPage {
    const found = find(slug, context, now);
    if (!found?.isAdmitted) throw notFound("status page");
    return found;
  }

  return {
    find,
    isUser,
    get: (slug, context, now) => getFound(slug, context, now).snapshot,
    getForPrograms(slug, context, now) {
      const { snapshot, isPublic } = getFound(slug, context, now);
      if (!isPublic && !visits.hasRules(snapshot.document.page)) throw notFound("status page");
      return context.link === undefined ? snapshot : linked.of(snapshot, context.link);
    },
    getPublic(slug, context) {
      const { snapshot, isPublic } = getFound(slug, context);
      if (isPublic) return snapshot;
      throw notFound("status page");
    },
    readAgain(snapshot) {
      const { slug, visibility } = snapshot.document.page;
      const current = snapshots.read(slug, ctx.clock.now());
      if (current?.document.page.visibility !== visibility) throw notFound("status page");
      const token = linked.tokenOf(originalOf(snapshot));
      const again = token === undefined ? current : linked.of(current, token);
      return inLanguage(again, chosenLanguage(snapshot));
    },
    hasPassword: visits.hasPassword,
    homeSlug(context) {
      // A custom domain serves no page that it must not.
      if (context.domain) return context.domain.slug;
      const page = snapshots.defaultPage();
      const canKnow = (known: VisitedPage) =>
        visits.hasPassword(known) || isAdmitted(known, context, context.now);
      if (page?.isServed && (page.isPublic || canKnow(page))) return page.slug;
      context.isSealed = true;
      return undefined;
    },
  };
}

/** Number of links with whose addresses documents of one snapshot are kept. */
const LINKS_MAX = 20;

/** Creates the snapshots whose page has the address of a link, so that documents lead on by the link. */
function createLinkedSnapshots() {
  const made = new WeakMap<Snapshot, Map<string, Snapshot>>();
  const tokens = new WeakMap<Snapshot, string>();

  function make(snapshot: Snapshot, token: string): Snapshot {
    const { document } = snapshot;
    const page = { ...document.page, url: `${document.page.url}/with/${token}` };
    // What a snapshot computes at first use stays with the original one.
    const copy: Snapshot = Object.create(snapshot, { document: { value: { ...document, page } } });
    tokens.set(copy, token);
    return copy;
  }

  return {
    /** Returns the token in the address of a snapshot's page; undefined for a snapshot without a link. */
    tokenOf: (snapshot: Snapshot) => tokens.get(snapshot),
    /** Returns the snapshot for the visitor with a link. */
    of(snapshot: Snapshot, token: string): Snapshot {
      let byToken = made.get(snapshot);
      if (!byToken) made.set(snapshot, (byToken = new Map()));
      return lastUsed(byToken, token, LINKS_MAX, () => make(snapshot, token));
    },
  };
}
