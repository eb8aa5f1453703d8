import { withLanguage } from "../features/pages/language-links";
import { Type } from "@sinclair/typebox";
import { notFound } from "../base/errors";
import { sha256Hex } from "../base/hash";
import { makeInSlices, runInSlices } from "../base/in-slices";
import { MINUTE_MS, SECOND_MS } from "../base/time";
import type { Ctx } from "../context";
import { findReportMonth } from "../features/reports/report";
import { getIncidentPart } from "../features/incidents/records";
import { presentIncident } from "../features/incidents/wire";
import { getMaintenancePart } from "../features/maintenance/records";
import { presentMaintenance } from "../features/maintenance/wire";
import { historyStartOf, readHistory, readOpenIncidents } from "../features/status/entries";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import type { StatusDocument } from "../features/status/wire";
import { movedTo, type SentPage } from "../http/answers";
import { PUBLIC_CACHE, RESULTS_CACHE } from "../http/cdn";
import { type Operation, operation } from "../http/operation";
import { Representation, representOnce } from "../http/representation";
import type { RequestContext } from "../http/request-context";
import type { HtmlDocument } from "../ui/documents";
import {
  chosenLanguage,
  filesInLanguage,
  inLanguage,
  languageOfRequest,
  originalOf,
} from "./chosen-language";
import { type EmbedTheme, renderEmbed } from "./embed";
import { DaySections, groupByDay, UPDATES_MAX } from "./entries";
import {
  arrowsOf,
  type EntriesPart,
  renderHistoryPage,
  renderIncidentPage,
  renderMaintenancePage,
} from "./entry-pages";
import { contextOf, formatCursor, monthOf, parseCursor, type Rendering } from "./page-context";
import { renderPage } from "./page-document";
import {
  accessPath,
  createPasswordPages,
  HOME_ACCESS_PATH,
  NEXT_MAX_LENGTH,
} from "./password-page";
import type { Visitors } from "./visitors";

/** Number of cached further documents of one status page in all its languages, such as its history. */
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
  /** True for a path without a slug, for the page at `/`. */
  isHome?: true;
  /** True for a document that private pages do not have. */
  isPublicOnly?: true;
  /** True for a monthly report, which the page may have for signed-in users alone, or not at all. */
  isReport?: true;
  request: Request;
  requestContext: RequestContext;
}

/** Answers requests for the documents of status pages. */
interface Site {
  /**
   * Answers with the status page itself or a page below it, which `make` renders. It is kept until the
   * status page changes. An earlier slug redirects to the current one. A visitor whom nothing lets in sees
   * the form for the password of a private page that has one. Throws `not_found`.
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
  /** Redirects to the page, which has another address. Under the same conditions as the page itself. */
  redirect(
    pageRequest: PageRequest,
    pathOf: (slug: string) => string,
  ): Response | Promise<Response>;
  /** Answers with the version of the page's content. Throws `not_found`, also where a form would be shown. */
  answerVersion(pageRequest: PageRequest): Response | Promise<Response>;
}

/** Documents of one snapshot: the status page by its language, and the further ones by language and path. */
interface DocumentCache {
  pages: Map<string, Representation>;
  others: Map<string, Representation>;
}

/**
 * Creates the answers, with a cache for each snapshot. Without it, an unchanged page takes 20 to 100 times
 * the processor time.
 */
export function createSite(ctx: Ctx, snapshots: Snapshots, visitors: Visitors): Site {
  const passwordPage = createPasswordPages();
  const cache = new WeakMap<Snapshot, DocumentCache>();

  /** Returns the cache with the document of a path, and its key there. All languages of a page share its caches. */
  function placeOf(snapshot: Snapshot, rest: string) {
    const original = originalOf(snapshot);
    let kept = cache.get(original);
    if (!kept) cache.set(original, (kept = { pages: new Map(), others: new Map() }));
    const language = chosenLanguage(snapshot) ?? "";
    return rest === ""
      ? { documents: kept.pages, key: language }
      : { documents: kept.others, key: `${language} ${rest}` };
  }

  function findCached(snapshot: Snapshot, rest: string): Representation | undefined {
    const { documents, key } = placeOf(snapshot, rest);
    return documents.get(key);
  }

  function cached(snapshot: Snapshot, rest: string, make: () => SentPage): Representation {
    const { documents, key } = placeOf(snapshot, rest);
    let document = documents.get(key);
    if (!document) {
      document = htmlRepresentation(make());
      const [oldest] = documents.keys();
      // The status page itself stays, in each language.
      const isFull = rest !== "" && documents.size >= CACHED_MAX;
      if (isFull && oldest !== undefined) documents.delete(oldest);
      documents.set(key, document);
    }
    return document;
  }

  const preparing = new WeakMap<Snapshot, Map<string, Promise<void>>>();

  /** Runs the steps of a page, once for all requests that wait for it. */
  function prepare(
    snapshot: Snapshot,
    rest: string,
    stepsOf: (snapshot: Snapshot) => Generator<number, void>,
  ): Promise<void> {
    let runs = preparing.get(snapshot);
    if (!runs) preparing.set(snapshot, (runs = new Map()));
    const running =
      runs.get(rest) ?? runInSlices(stepsOf(snapshot)).finally(() => runs.delete(rest));
    runs.set(rest, running);
    return running;
  }

  const versionTextOf = representOnce(
    (snapshot: Snapshot) =>
      new Representation(versionOf(snapshot, ctx.clock.now(), ctx.shownAsOf), {
        mediaType: "text/plain;charset=utf-8",
        cacheControl: PUBLIC_CACHE,
      }),
  );

  /** Returns the snapshot that the visitor sees at `now`, else the form for its password. */
  function open(pageRequest: PageRequest, now: number): Snapshot | Response {
    const { slug, rest, isHome, isPublicOnly, isReport, request, requestContext } = pageRequest;
    const found = visitors.find(slug, requestContext, now);
    // The answer does not reveal that there is a private page.
    if (!found || (isPublicOnly && !found.isPublic)) throw notFound("status page");
    const { snapshot, isAdmitted } = found;
    if (isAdmitted && isReport) requireReport(snapshot, requestContext, now);
    if (isAdmitted) return snapshot;
    if (!visitors.hasPassword(snapshot.document.page)) throw notFound("status page");
    const language = languageOfRequest(request, snapshot.document.page);
    const form = {
      locale: language ?? snapshot.document.page.locale,
      address: requestContext.address.ip,
    };
    if (isHome)
      return passwordPage(request, {
        ...form,
        action: HOME_ACCESS_PATH,
        next: withLanguage("/", language),
      });
    // With the slug that was asked for: of a page with another one, a stranger must not learn it.
    const path = `/status/${slug}`;
    const next = path + (rest.length < NEXT_MAX_LENGTH - path.length ? rest : "");
    return passwordPage(request, {
      ...form,
      action: accessPath(slug),
      next: withLanguage(next, language),
    });
  }

  /** Throws `not_found` if the visitor may not see the reports of a page. Caches then store neither answer. */
  function requireReport(snapshot: Snapshot, context: RequestContext, now: number): void {
    const { report } = snapshot.document.page;
    if (report === "public") return;
    context.noteShown(undefined);
    if (report === "off" || !visitors.isUser(context, now)) throw notFound("report");
  }

  /** Returns the redirect from an earlier slug; undefined for the current one. */
  function moveFrom(
    { slug, rest, request }: PageRequest,
    { document: { page } }: Snapshot,
  ): Response | undefined {
    if (page.slug === slug) return undefined;
    const path = withLanguage(`/status/${page.slug}${rest}`, languageOfRequest(request, page));
    return movedTo(path, PUBLIC_CACHE);
  }

  return {
    answer(pageRequest, make, stepsOf) {
      const { slug, rest, variant = "", request, requestContext } = pageRequest;
      const { now } = requestContext;
      const cacheKey = variant === "" ? rest : `${rest} ${variant}`;
      const current = snapshots.current(slug, now);
      const held = current && findCached(shownIn(current, request), cacheKey);
      // Pages are cached under their current slug. Who sees a private one is decided at each request.
      const { visibility, report } = current?.document.page ?? {};
      if (held && visibility === "public" && (report === "public" || !pageRequest.isReport)) {
        requestContext.shownPageId = current?.document.page.id;
        return held.respond(request, requestContext);
      }
      let prepared: Snapshot | undefined;
      let preparationsLeft = PREPARATIONS_MAX;
      /** Answers as of `now`, in unix ms. */
      function answerAt(now: number): Response | Promise<Response> {
        const found = open(pageRequest, now);
        if (found instanceof Response) return found;
        const moved = moveFrom(pageRequest, found);
        if (moved) return moved;
        const snapshot = shownIn(found, request);
        const isReady = snapshot === prepared || findCached(snapshot, cacheKey) !== undefined;
        if (stepsOf && preparationsLeft > 0 && !isReady) {
          prepared = snapshot;
          preparationsLeft -= 1;
          return prepare(snapshot, cacheKey, stepsOf).then(answerReady);
        }
        return cached(snapshot, cacheKey, () => make(snapshot)).respond(request, requestContext);
      }
      /** Answers as of the time at which the parts of the page are prepared. */
      function answerReady(): Response | Promise<Response> {
        const now = ctx.clock.now();
        return snapshots.whenReady(slug, now, () => answerAt(now));
      }
      return snapshots.whenReady(slug, now, () => answerAt(now));
    },

    redirect(pageRequest, pathOf) {
      const { now } = pageRequest.requestContext;
      return snapshots.whenReady(pageRequest.slug, now, () => {
        const snapshot = open(pageRequest, now);
        if (snapshot instanceof Response) return snapshot;
        return movedTo(pathOf(snapshot.document.page.slug), PUBLIC_CACHE);
      });
    },

    answerVersion(pageRequest) {
      const { slug, request, requestContext } = pageRequest;
      return snapshots.whenReady(slug, requestContext.now, () => {
        const snapshot = visitors.get(slug, requestContext);
        const moved = moveFrom(pageRequest, snapshot);
        return moved ?? versionTextOf(snapshot).respond(request, requestContext);
      });
    },
  };
}

/** Returns a snapshot in the language that a request chooses. */
function shownIn(snapshot: Snapshot, request: Request): Snapshot {
  return inLanguage(snapshot, languageOfRequest(request, snapshot.document.page));
}

/** The same for a file, which is kept with the snapshot that is returned. */
function filesShownIn(
  snapshot: Snapshot,
  { request, requestContext }: Pick<Call, "request" | "requestContext">,
): Snapshot {
  const language = languageOfRequest(request, snapshot.document.page);
  return filesInLanguage(snapshot, language, { hasLink: requestContext.link !== undefined });
}

/** Number of entries of one page of a month's history. */
const ENTRIES_MAX = 100;

/**
 * Creates the functions that render the documents below a status page. `renderingOf` returns the rendering
 * of a document that an open tab refreshes.
 */
export function createDocuments(ctx: Ctx, renderingOf: (snapshot: Snapshot) => Rendering) {
  /** Throws `not_found` where the page has no such incident, or only a draft of it. */
  function incidentPage(id: string, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    const { record, isMore } = getIncidentPart(ctx.db, id, { before, limit: UPDATES_MAX });
    if (record.row.pageId !== document.page.id) throw notFound("incident");
    const incident = presentIncident(record, ctx.baseUrl);
    return renderIncidentPage(document, incident, { before, isMore }, renderingOf(snapshot));
  }

  function maintenancePage(id: string, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    const { record, isMore } = getMaintenancePart(ctx.db, id, { before, limit: UPDATES_MAX });
    if (record.row.pageId !== document.page.id) throw notFound("maintenance");
    const maintenance = presentMaintenance(record, ctx.baseUrl);
    return renderMaintenancePage(document, maintenance, { before, isMore }, renderingOf(snapshot));
  }

  /**
   * Throws `not_found` for a month before 1970 or in the future, and on a page that hides its history. Without a name it is
   * the present month.
   */
  function historyPage(name: string | undefined, before: string | undefined, snapshot: Snapshot) {
    const { document } = snapshot;
    if (document.page.look.hide_history) throw notFound("history");
    const rendering = renderingOf(snapshot);
    const month = monthOf(name, ctx.clock.now(), contextOf(document, rendering).times);
    if (!month) throw notFound("month");
    const { id, created_at: createdAt } = document.page;
    const page = { id, createdAt: Date.parse(createdAt) };
    const first = historyStartOf(ctx.db, page);
    const span = { pageId: id, from: month.from, to: month.to, before: parseCursor(before) };
    const { entries, next } = readHistory(ctx.db, span, ENTRIES_MAX);
    const previous = month.from > first ? month.previous : undefined;
    const hasReport =
      document.page.report === "public" &&
      before === undefined &&
      findReportMonth(ctx.db, page, month.name, ctx.clock.now()) !== undefined;
    const part = { entries, before, next: next && formatCursor(next) };
    return renderHistoryPage(document, { ...month, previous, hasReport }, part, rendering);
  }

  function openPage(before: string | undefined, snapshot: Snapshot) {
    const { document, openIncidentCount } = snapshot;
    const query = { pageId: document.page.id, before: parseCursor(before) };
    const { entries, next } = readOpenIncidents(ctx.db, query, OPEN_SHOWN);
    const part = { entries, before, next: next && formatCursor(next) };
    return renderOpenPage(document, openIncidentCount, part, renderingOf(snapshot));
  }

  function embedPage(theme: EmbedTheme | undefined, snapshot: Snapshot) {
    return renderEmbed(snapshot, theme, renderingOf(snapshot));
  }

  return { incidentPage, maintenancePage, historyPage, openPage, embedPage };
}

/** Time for which results of an unchanged page are sent again. */
const HOLD_MS = 15 * SECOND_MS;
/** Number of cached variants of one page's document. */
const VARIANTS_MAX = 10;

/** One making of a document. */
interface Making<Query> {
  snapshot: Snapshot;
  query: Query;
  until: number;
}

/**
 * Returns a function to a JSON document that also shows results of checks, which change without the page. It is
 * made in slices, for each query, and again after 15 seconds.
 */
export function holdDocument<Query>(
  ctx: Ctx,
  make: (snapshot: Snapshot, query: Query) => Generator<number, unknown>,
): (snapshot: Snapshot, query: Query) => Representation | Promise<Representation> {
  const makings = new WeakMap<Snapshot, Map<string, Making<Query>>>();
  const documentOf = makeInSlices(function* ({ snapshot, query }: Making<Query>) {
    return jsonRepresentation(yield* make(snapshot, query), RESULTS_CACHE);
  });
  return (snapshot, query) => {
    const now = ctx.clock.now();
    let variants = makings.get(snapshot);
    if (!variants) makings.set(snapshot, (variants = new Map()));
    const name = JSON.stringify(query);
    let making = variants.get(name);
    if (!making || now >= making.until) {
      const [oldest] = variants.keys();
      if (variants.size >= VARIANTS_MAX && oldest !== undefined) variants.delete(oldest);
      making = { snapshot, query, until: now + HOLD_MS };
      variants.set(name, making);
    }
    return documentOf(making);
  };
}

/** Number of incidents of one part of the list. */
const OPEN_SHOWN = 25;

/** Renders one part of the list of all open incidents, newest start first. */
function renderOpenPage(
  document: StatusDocument,
  count: number,
  { entries, before, next }: EntriesPart,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const { paths, words } = context;
  const { t, say } = words;
  const [back, on] = arrowsOf(words);
  return renderPage({
    context,
    title: t("open.title"),
    path: paths.open(before),
    children: (
      <>
        <header class="title">
          <h1>{say("open.title")}</h1>
          {count > 0 ? <span class="muted">{say("open.count", { count })}</span> : null}
        </header>
        {entries.length === 0 ? (
          <p class="card empty">{say(before ? "open.none_earlier" : "open.none")}</p>
        ) : (
          <DaySections sections={groupByDay(entries, context.times)} context={context} hasYears />
        )}
        {next || before ? (
          <nav class="months" aria-label={t("open.parts")}>
            {before ? (
              <a href={paths.open()}>
                {back} {say("open.newest")}
              </a>
            ) : (
              <span />
            )}
            {next ? (
              <a href={paths.open(next)}>
                {say("open.earlier")} {on}
              </a>
            ) : null}
          </nav>
        ) : null}
      </>
    ),
  });
}

/** Returns the snapshot of a public page at `now`, in unix ms, for a copy of it. Throws `not_found`. */
export function readPublic(snapshots: Snapshots, slug: string, { now }: { now: number }): Snapshot {
  const snapshot = snapshots.read(slug, now);
  if (snapshot?.document.page.visibility !== "public") throw notFound("status page");
  return snapshot;
}

/** Creates the JSON of a page once per snapshot. Every origin may read it, unless the page is private. */
export function publicJson(
  make: (snapshot: Snapshot) => unknown,
): (snapshot: Snapshot) => Representation {
  return representOnce((snapshot: Snapshot) => jsonRepresentation(make(snapshot)));
}

/** Returns the representation of JSON that every origin may read and caches may store. */
export function jsonRepresentation(
  content: unknown,
  cacheControl: string = PUBLIC_CACHE,
): Representation {
  return new Representation(JSON.stringify(content), {
    mediaType: "application/json",
    cacheControl,
    isCrossOrigin: true,
  });
}

/** Declarations shared by the routes of public JSON. */
export const PUBLIC_JSON = {
  tag: "Status",
  access: { kind: "public" },
  onCustomDomain: "page",
  errors: ["not_found"],
  conditional: "etag",
  isCrossOrigin: true,
} as const;

/** An HTML page as the answer of a route. */
export const HTML_ANSWER = { description: "HTML.", mediaType: "text/html" } as const;

/** The answer to an earlier slug of a page. */
export const MOVED = {
  description: "The page now has another slug.",
  headers: { Location: "Path with the current slug." },
} as const;

/** Returns the representation of an HTML page that caches may store. */
export function htmlRepresentation(document: SentPage): Representation {
  return new Representation(document.html, {
    mediaType: "text/html;charset=utf-8",
    cacheControl: PUBLIC_CACHE,
    headers: { "Content-Security-Policy": document.policy },
  });
}

/** Returns the representation of a file, or a promise while it is created. */
export type RepresentationOf = (snapshot: Snapshot) => Representation | Promise<Representation>;

/**
 * Answers with a document, also one that takes time. `look` throws `not_found` if the visitor no longer sees the page
 * then: it may have become private, or the visitor's rule may have ended.
 */
function respond(
  representation: Representation | Promise<Representation>,
  { request, requestContext }: Pick<Call, "request" | "requestContext">,
  look: () => unknown,
): Response | Promise<Response> {
  if (representation instanceof Representation) {
    return representation.respond(request, requestContext);
  }
  return representation.then(
    (made) => {
      look();
      return made.respond(request, requestContext);
    },
    (error: unknown) => {
      look();
      requestContext.shownPageId = undefined;
      throw error;
    },
  );
}

/** Request for a file of a page. */
export interface Call {
  params: { slug: string };
  request: Request;
  requestContext: RequestContext;
}

/**
 * Returns the handler of a file of a page, such as `feed.atom`. An earlier slug redirects. `get` finds the page. Throws
 * `not_found`.
 */
export function createFileServer(ctx: Ctx, snapshots: Snapshots, visitors: Visitors) {
  return (file: string, representationOf: RepresentationOf, get = visitors.getForPrograms) =>
    (call: Call) => {
      const { params, requestContext } = call;
      return snapshots.whenReady(params.slug, requestContext.now, () => {
        const snapshot = filesShownIn(get(params.slug, requestContext), call);
        const { slug } = snapshot.document.page;
        if (slug !== params.slug) return moved(slug, withLanguage(file, chosenLanguage(snapshot)));
        return respond(representationOf(snapshot), call, () =>
          get(slug, requestContext, ctx.clock.now()),
        );
      });
    };
}

/** Returns a function that answers with a document of a page by any of its slugs. It throws `not_found`. */
export function createDocumentSender(ctx: Ctx, snapshots: Snapshots, visitors: Visitors) {
  return (slug: string, call: Omit<Call, "params">, representationOf: RepresentationOf) => {
    const { requestContext } = call;
    const look = (now: number) => visitors.getForPrograms(slug, requestContext, now);
    return snapshots.whenReady(slug, requestContext.now, () => {
      const snapshot = filesShownIn(look(requestContext.now), call);
      return respond(representationOf(snapshot), call, () => look(ctx.clock.now()));
    });
  };
}

/** Declares the route of a file. */
export function document(
  id: string,
  summary: string,
  mediaType: string,
  description: string,
  more: Operation["answers"] = { 308: MOVED },
) {
  const answer = { description: "The document.", schema: Type.String(), mediaType };
  return operation({
    ...PUBLIC_JSON,
    id,
    summary,
    description,
    answers: { 200: answer, ...more },
  });
}

/** Returns a file that every origin may read and caches may store. */
export function represent(
  content: string,
  mediaType: string,
  {
    headers = {},
    cacheControl = PUBLIC_CACHE,
  }: { headers?: Record<string, string>; cacheControl?: string } = {},
) {
  return new Representation(content, {
    mediaType: `${mediaType};charset=utf-8`,
    cacheControl,
    isCrossOrigin: true,
    headers,
  });
}

/** Redirects from an earlier slug, with a cache limit, since the slug may be used again. */
export function moved(slug: string, file: string): Response {
  const headers = { Location: `/status/${slug}/${file}`, "Cache-Control": PUBLIC_CACHE };
  return new Response(null, { status: 308, headers });
}

/** Time after which an unchanged page has another version, since response times change with time. */
const VERSION_MS = 5 * MINUTE_MS;
/** Decimals of an uptime share that pages show: a hundredth of a per cent. */
const UPTIME_DECIMALS = 4;
const VERSION_LENGTH = 16;

const versions = new WeakMap<Snapshot, string>();

/**
 * Returns the version of a page: a hash that changes with its content, at midnight in UTC, every five minutes,
 * and if the data is old (`shownAsOf`). It is computed once per snapshot; snapshots with the same content have
 * the same one. `now` is in unix ms.
 */
export function versionOf(shown: Snapshot, now: number, shownAsOf?: number): string {
  const snapshot = originalOf(shown);
  let version = versions.get(snapshot);
  if (version === undefined) {
    const facts = [
      shownBy(snapshot),
      Math.floor((snapshot.sharedAt ?? now) / VERSION_MS),
      shownAsOf,
    ];
    version = sha256Hex(JSON.stringify(facts)).slice(0, VERSION_LENGTH);
    versions.set(snapshot, version);
  }
  return version;
}

/** Returns the facts that pages show: of components, and of texts in place of their updates, the versions. */
function shownBy({ document, openIncidentCount }: Snapshot) {
  // Every change of a component raises its version.
  const components = document.components.map(({ id, version, status, uptime_90d: uptime }) => [
    id,
    version,
    status,
    uptime?.toFixed(UPTIME_DECIMALS),
  ]);
  const incidents = document.incidents.map(withoutUpdates);
  const maintenance = document.maintenance.map(withoutUpdates);
  return { ...document, components, incidents, maintenance, openIncidentCount };
}

/** Returns an object without its updates. Every change of an update raises the version of its object. */
function withoutUpdates(entry: { updates: unknown }): unknown {
  const { updates: _, ...facts } = entry;
  return facts;
}
