import { Elysia } from "elysia";
import type { Ctx } from "../context";
import { notFound } from "../base/errors";
import type { ReadRecords } from "../features/incidents/records";
import type { Snapshot } from "../features/status/snapshot";
import type { Snapshots } from "../features/status/snapshots";
import type { RequestContexts } from "../http/elysia";
import { representOnce } from "../http/representation";
import { makeInSlices, WHOLE_TURN } from "../base/in-slices";
import { capitalised } from "../base/text";
import { readPublic } from "./answers";
import { listCalendar, writeCalendar } from "./feeds/calendar";
import { listEntries } from "./feeds/entries";
import { FEED_NAMES, FEEDS, renderEntries } from "./feeds/feed";
import { createMarkdownCache } from "./markdown-cache";
import {
  type Call,
  createFileServer,
  document,
  type RepresentationOf,
  represent,
  respond,
} from "./page-files";

const CALENDAR = "text/calendar";

/** Routes of feeds and calendars of public pages. */
export function feedRoutes(
  ctx: Ctx,
  requestContexts: RequestContexts,
  snapshots: Snapshots,
  readIncidents: ReadRecords,
) {
  const renderText = createMarkdownCache();
  /** Reads the snapshot of the same page again. Throws `not_found` if the page is no longer public. */
  const currentOf = ({ document }: Snapshot) =>
    readPublic(snapshots, document.page.slug, { now: ctx.clock.now() });
  const feeds = FEEDS.map(({ write, ...feed }) => ({
    ...feed,
    representationOf: makeInSlices(function* (snapshot: Snapshot) {
      // After a change, the first turn builds the snapshot and the second reads records.
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
  const serve = createFileServer(snapshots);

  /** Returns the handler of a feed of the default page, or of the page of a custom domain. */
  function serveDefault(representationOf: RepresentationOf) {
    return ({ request, requestContext }: Omit<Call, "params">) => {
      const page = requestContext.domain ?? snapshots.defaultPage();
      if (!page) throw notFound("status page");
      return snapshots.whenReady(page.slug, requestContext.now, () => {
        const snapshot = readPublic(snapshots, page.slug, requestContext);
        return respond(representationOf(snapshot), request, requestContext);
      });
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
  return routes.get(
    "/status/:slug/calendar.ics",
    serve("calendar.ics", calendarOf),
    document("getCalendar", "Read the maintenance calendar of a page", CALENDAR, PLANNED),
  );
}

const NEWEST =
  "The 50 most recently updated incidents and maintenances, each with its updates as content.";

const AS_STATUSPAGE = "The same feed at the path of Atlassian Statuspage.";

/** File names of a page's feed, in every format. */
const FEED_FILES = [
  {
    file: FEED_NAMES[0],
    idOf: (format: string) => `getHistory${format}`,
    suffix: " at the path of Statuspage",
    description: AS_STATUSPAGE,
  },
  {
    file: FEED_NAMES[1],
    idOf: (format: string) => `get${format}Feed`,
    suffix: "",
    description: NEWEST,
  },
] as const;

const PLANNED =
  "Upcoming and recently planned maintenance. UIDs are stable, SEQUENCE counts changes, and cancelled maintenance has that status.";
