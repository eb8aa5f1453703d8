import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { AppContext } from "../context";
import { notFound } from "../errors";
import { resolveComponentId } from "../features/components";
import type { ReadRecords } from "../features/incidents";
import type { Snapshot, Snapshots } from "../features/status";
import {
  type RequestContext,
  type RequestContexts,
  type Operation,
  operation,
  PUBLIC_CACHE,
  Representation,
  representOnce,
} from "../http";
import { makeInSlices, WHOLE_TURN } from "../kernel/in-slices";
import { capitalised } from "../kernel/text";
import { type Badge, componentBadge, endpointBadge, pageBadge, renderBadge } from "./badges";
import { listCalendar, writeCalendar } from "./feeds/calendar";
import { listEntries } from "./feeds/entries";
import { renderEntries, writeAtom, writeRss } from "./feeds/feed";
import { createMarkdownCache } from "./markdown-cache";
import { PUBLIC_JSON, publicJson, readPublic } from "./answers";

const ATOM = "application/atom+xml";
const RSS = "application/rss+xml";
const CALENDAR = "text/calendar";
const SVG = "image/svg+xml";

type PageComponent = Snapshot["document"]["components"][number];

const EndpointBadge = Type.Object(
  {
    schemaVersion: Type.Literal(1),
    label: Type.String({ examples: ["Acme"] }),
    message: Type.String({ examples: ["All Systems Operational"] }),
    color: Type.String({ examples: ["1a7f4b"] }),
  },
  { title: "EndpointBadge" },
);

/** Routes of feeds, calendars and badges of public pages. */
export function feedRoutes(
  ctx: AppContext,
  requestContexts: RequestContexts,
  snapshots: Snapshots,
  readIncidents: ReadRecords,
) {
  const renderText = createMarkdownCache();
  /** Reads the snapshot of the same page again. Throws `not_found` if the page is no longer public. */
  const currentOf = ({ document }: Snapshot) =>
    readPublic(snapshots, document.page.slug, ctx.clock.now());
  const feeds = FEEDS.map(({ write, ...feed }) => ({
    ...feed,
    representationOf: makeInSlices(function* (snapshot: Snapshot) {
      // After a change the snapshot is built in the first turn, and records are read in the second.
      yield WHOLE_TURN;
      // The page may have changed or become private between the turns.
      const current = currentOf(snapshot);
      const entries = listEntries(ctx.db, current, ctx.baseUrl, readIncidents);
      yield WHOLE_TURN;
      const rendered = yield* renderEntries(entries, renderText);
      // Caches may keep the answer, so the page must still be public.
      currentOf(current);
      return represent(write(current.document.page, rendered), feed.mediaType);
    }),
  }));
  const calendarOf = representOnce((snapshot: Snapshot) => {
    const maintenances = listCalendar(ctx.db, snapshot, ctx.baseUrl);
    return represent(writeCalendar(snapshot.document.page, maintenances), CALENDAR);
  });
  const badgeOf = representOnce((snapshot: Snapshot) => picture(pageBadge(snapshot.document)));
  const endpointOf = publicJson((snapshot) => endpointBadge(pageBadge(snapshot.document)));
  const componentBadgeOf = representOnce((component: PageComponent) =>
    picture(componentBadge(component)),
  );

  /** Returns the handler of a file of a page. */
  function serve(file: string, representationOf: RepresentationOf) {
    return ({ params, request, requestContext }: Call) => {
      const snapshot = readPublic(snapshots, params.slug, requestContext.now);
      const { slug } = snapshot.document.page;
      return slug === params.slug
        ? respond(representationOf(snapshot), request, requestContext)
        : moved(slug, file);
    };
  }

  /** Returns the handler of a feed of the default page, or of the page of a custom domain. */
  function serveDefault(representationOf: RepresentationOf) {
    return ({ request, requestContext }: Omit<Call, "params">) => {
      const page = requestContext.domain ?? snapshots.defaultPage();
      if (!page) throw notFound("status page");
      const snapshot = readPublic(snapshots, page.slug, requestContext.now);
      return respond(representationOf(snapshot), request, requestContext);
    };
  }

  const routes = new Elysia().use(requestContexts.plugin);
  for (const { name, ending, mediaType, representationOf } of feeds) {
    const summary = `Read the ${name} feed of the default page`;
    routes.get(
      `/history.${ending}`,
      serveDefault(representationOf),
      document(`getDefaultHistory${capitalised(ending)}`, summary, mediaType, AS_STATUSPAGE, {}),
    );
  }
  for (const { idOf, file, suffix, description } of FEED_FILES) {
    for (const { name, ending, mediaType, representationOf } of feeds) {
      const path = `${file}.${ending}` as const;
      const summary = `Read the ${name} feed of a page${suffix}`;
      routes.get(
        `/status/:slug/${path}`,
        serve(path, representationOf),
        document(idOf(capitalised(ending)), summary, mediaType, description),
      );
    }
  }
  return routes
    .get(
      "/status/:slug/calendar.ics",
      serve("calendar.ics", calendarOf),
      document("getCalendar", "Read the maintenance calendar of a page", CALENDAR, PLANNED),
    )
    .get(
      "/status/:slug/badge.svg",
      serve("badge.svg", badgeOf),
      document("getBadge", "Read the badge of a page", SVG, "Name and headline of the page."),
    )
    .get(
      "/status/:slug/badge.json",
      serve("badge.json", endpointOf),
      operation({
        ...PUBLIC_JSON,
        id: "getEndpointBadge",
        summary: "Read the badge of a page for shields.io",
        description: "In the format of shields.io's endpoint badge.",
        answers: { 200: { description: "The badge.", schema: EndpointBadge }, 308: MOVED },
      }),
    )
    .get(
      "/status/:slug/badge/:id.svg",
      ({ params, request, requestContext }) => {
        const snapshot = readPublic(snapshots, params.slug, requestContext.now);
        const { page, components } = snapshot.document;
        // The parameter is the whole segment, including its ending.
        const [, reference = ""] = /^(.+)\.svg$/.exec(params["id.svg"]) ?? [];
        const componentId = resolveComponentId(ctx.db, reference);
        const component = components.find(({ id }) => id === componentId);
        if (!component) throw notFound("component");
        return page.slug === params.slug
          ? componentBadgeOf(component).respond(request, requestContext)
          : moved(page.slug, `badge/${component.id}.svg`);
      },
      document(
        "getComponentBadge",
        "Read the badge of a component",
        SVG,
        "Name and status of the component.",
      ),
    );
}

/** Returns the representation of a file, or a promise while it is created. */
type RepresentationOf = (snapshot: Snapshot) => Representation | Promise<Representation>;

function respond(
  representation: Representation | Promise<Representation>,
  request: Request,
  requestContext: RequestContext,
): Response | Promise<Response> {
  return representation instanceof Representation
    ? representation.respond(request, requestContext)
    : representation.then((made) => made.respond(request, requestContext));
}

const NEWEST =
  "The 50 most recently updated incidents and maintenances, each with its updates as content.";

const AS_STATUSPAGE = "The same feed at the path of Atlassian Statuspage.";

/** Formats of feeds. */
const FEEDS = [
  { name: "Atom", ending: "atom", mediaType: ATOM, write: writeAtom },
  { name: "RSS", ending: "rss", mediaType: RSS, write: writeRss },
] as const;

/** File names of a page's feed, in every format. */
const FEED_FILES = [
  {
    file: "history",
    idOf: (format: string) => `getHistory${format}`,
    suffix: " at the path of Statuspage",
    description: AS_STATUSPAGE,
  },
  { file: "feed", idOf: (format: string) => `get${format}Feed`, suffix: "", description: NEWEST },
] as const;

interface Call {
  params: { slug: string };
  request: Request;
  requestContext: RequestContext;
}

const PLANNED =
  "Upcoming and recently planned maintenance. UIDs are stable, SEQUENCE counts changes, and cancelled maintenance has that status.";

const MOVED = { description: "The page now has another slug." };

function document(
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

function represent(content: string, mediaType: string, headers: Record<string, string> = {}) {
  return new Representation(content, {
    mediaType: `${mediaType};charset=utf-8`,
    cacheControl: PUBLIC_CACHE,
    isCrossOrigin: true,
    headers,
  });
}

/** Returns a badge, with a policy because browsers open SVG as a document. */
function picture(badge: Badge): Representation {
  return represent(renderBadge(badge), SVG, { "Content-Security-Policy": "default-src 'none'" });
}

/** Redirects from an earlier slug, with a cache limit, since the slug may be used again. */
function moved(slug: string, file: string): Response {
  const headers = { Location: `/status/${slug}/${file}`, "Cache-Control": PUBLIC_CACHE };
  return new Response(null, { status: 308, headers });
}
