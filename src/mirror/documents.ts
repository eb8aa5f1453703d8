import { sha256Hex } from "../base/hash";
import { WHOLE_TURN } from "../base/in-slices";
import type { Ctx } from "../context";
import { listNewestIncidents, type ReadRecords } from "../features/incidents/records";
import { mailReadiness } from "../features/mail/settings";
import { findMaintenances } from "../features/maintenance/records";
import { findPicture } from "../features/pages/logo";
import { takesSubscribers } from "../features/pages/mail";
import { findPage } from "../features/pages/store";
import { createEntryNamesCache, readOpenIncidents } from "../features/status/entries";
import type { Snapshot, Snapshots } from "../features/status/snapshots";
import type { SentPage } from "../http/answers";
import { IMMUTABLE, PUBLIC_CACHE, WIDGET_CACHE } from "../http/cdn";
import { componentBadge, endpointBadge, pageBadge, renderBadge } from "../public/badges";
import { V2_DOCUMENTS } from "../public/compat/statuspage";
import { languageRendering } from "../public/chosen-language";
import { createRowCache } from "../public/component-list";
import { renderWidget } from "../public/embed";
import {
  FEED_NAMES,
  FEEDS,
  listCalendar,
  listEntries,
  renderEntries,
  writeCalendar,
} from "../public/feeds";
import { manifestOf } from "../public/manifest";
import { monthNameOf, type Rendering, type StaticCopy } from "../public/page-context";
import { createPageTimes, createTimesCache } from "../public/page-times";
import { createDocuments, readPublic } from "../public/site";
import { readPageExtras, renderStatusPage, statusPageSteps } from "../public/status-page";
import { renderSubscribePage } from "../public/subscribe";
import { EMPTY_FORM } from "../public/subscription-form";
import { summarize } from "../public/summary";
import { createMarkdownCache } from "../public/text";
import { MANIFEST_TYPE } from "../ui/assets";

/** Number of the newest incidents and of the newest maintenances that are copied, in addition to open ones. */
const NEWEST_MAX = 50;
/** Number of open incidents read by one query. */
const OPEN_PART = 500;

/** A document of the mirror. */
export interface MirrorDocument {
  /** Path of the live document without its leading slash. Pages end with `/index.html`. */
  path: string;
  mediaType: string;
  cacheControl: string;
  /** Hash that changes with everything but the time of the copy. */
  fingerprint: string;
  /** Returns the bytes to write. */
  make(): Uint8Array<ArrayBuffer>;
}

/** A document, or the cost of a step as for `runInSlices`. */
type Steps = Generator<MirrorDocument | number, void>;

interface Dependencies {
  ctx: Ctx;
  snapshots: Snapshots;
  readIncidents: ReadRecords;
}

/**
 * Returns a function that makes all documents of a public page, the most important first. Each is made from the
 * snapshot of its moment. With `isDefault`, those at the root are made as well. Throws `not_found` if the page is
 * deleted or made private meanwhile, or an entry is.
 */
export function createPageDocuments({ ctx, snapshots, readIncidents }: Dependencies) {
  return function* documentsOf(slug: string, { isDefault }: { isDefault: boolean }): Steps {
    const read = () => readPublic(snapshots, slug, { now: ctx.clock.now() });
    const root = `status/${slug}`;
    // The first turn builds the snapshot, as for a feed.
    const month = monthNameOf(createPageTimes(read().document.page).dayOf(ctx.clock.now()));
    yield WHOLE_TURN;
    const ids = listEntryIds(read());
    yield WHOLE_TURN;
    const copy = { month, entries: new Set([...ids.incidents, ...ids.maintenances]) };
    // Caches for this copy alone: between it and the next one, most of a large page changes.
    const rendering: Rendering = {
      renderText: createMarkdownCache(),
      timesOf: createTimesCache(),
    };
    const rows = createRowCache();
    const readNames = createEntryNamesCache();

    /** Renders a page as a copy. Its fingerprint is that of a copy made in 1970. */
    function page(path: string, render: (snapshot: Snapshot, more: Rendering) => SentPage) {
      const snapshot = read();
      const at = (madeAt: number) =>
        bytesOf(
          render(snapshot, {
            ...rendering,
            ...languageRendering(snapshot),
            copy: { ...copy, madeAt },
          }).html,
        );
      return {
        path,
        mediaType: "text/html;charset=utf-8",
        cacheControl: PUBLIC_CACHE,
        fingerprint: sha256Hex(at(0)),
        make: () => at(ctx.clock.now()),
      };
    }

    const statusPage = (snapshot: Snapshot, more: Rendering) => {
      const now = ctx.clock.now();
      const extras = readPageExtras(ctx.db, snapshot, now, readNames);
      return rows.render((renderRow) =>
        renderStatusPage(snapshot, extras, now, { ...more, renderRow }),
      );
    };
    const below = (more: Rendering) => createDocuments(ctx, () => more);

    const copyNow: StaticCopy = { ...copy, madeAt: 0 };
    const steps = { ...rendering, copy: copyNow, prepareRow: rows.prepare, readNames };
    yield* statusPageSteps(ctx.db, read(), ctx.clock.now(), steps);
    yield WHOLE_TURN;
    yield* picturesOf(read());
    yield fixed(`${root}/manifest.webmanifest`, manifestOf(read()), MANIFEST_TYPE);
    yield page(`${root}/index.html`, statusPage);
    if (isDefault) yield page("index.html", statusPage);
    yield* dataOf(read(), root);
    if (isDefault) yield* v2Of(read(), "");
    yield* feedsOf(read, root, isDefault);
    if (!read().document.page.look.hide_history) {
      yield page(`${root}/history/index.html`, (snapshot, more) =>
        below(more).historyPage(month, undefined, snapshot),
      );
    }
    yield page(`${root}/incidents/index.html`, (snapshot, more) =>
      below(more).openPage(undefined, snapshot),
    );
    yield page(`${root}/subscribe/index.html`, ({ document }, more) => {
      const row = findPage(ctx.db, { id: document.page.id });
      const hasForm = row !== undefined && takesSubscribers(row) && mailReadiness(ctx).ready;
      return renderSubscribePage(document, hasForm ? EMPTY_FORM : undefined, more);
    });
    yield page(`${root}/embed/index.html`, (snapshot, more) =>
      below(more).embedPage(undefined, snapshot),
    );
    for (const id of ids.incidents) {
      yield page(`${root}/incidents/${id}/index.html`, (snapshot, more) =>
        below(more).incidentPage(id, undefined, snapshot),
      );
    }
    for (const id of ids.maintenances) {
      yield page(`${root}/maintenance/${id}/index.html`, (snapshot, more) =>
        below(more).maintenancePage(id, undefined, snapshot),
      );
    }
  };

  /** Lists the entries of a page with a copy: all open ones, and the newest others. */
  function listEntryIds({ document }: Snapshot): { incidents: string[]; maintenances: string[] } {
    const pageId = document.page.id;
    const incidents = new Set(document.incidents.map(({ id }) => id));
    let before: Parameters<typeof readOpenIncidents>[1]["before"];
    do {
      const { entries, next } = readOpenIncidents(ctx.db, { pageId, before }, OPEN_PART);
      for (const { subject } of entries) {
        if (subject.kind === "incident") incidents.add(subject.incident.id);
      }
      before = next;
    } while (before);
    for (const { row } of listNewestIncidents(
      ctx.db,
      { pageId, limit: NEWEST_MAX },
      readIncidents,
    )) {
      incidents.add(row.id);
    }
    const maintenances = new Set(document.maintenance.map(({ id }) => id));
    for (const { row } of findMaintenances(ctx.db, {
      pageId,
      isOccurrence: 0,
      limit: NEWEST_MAX,
    })) {
      maintenances.add(row.id);
    }
    return { incidents: [...incidents], maintenances: [...maintenances] };
  }

  /** Makes the logo and the favicon, which the pages name. */
  function* picturesOf({ document: { page } }: Snapshot): Steps {
    for (const kind of ["logo", "favicon"] as const) {
      const file = page[kind]?.split("/").at(-1);
      const picture = findPicture(ctx.db, kind, page.id, file);
      if (!picture) continue;
      const { mediaType, bytes } = picture;
      const path = `status/${page.slug}/${kind}/${file}`;
      yield fixed(path, new Uint8Array(bytes), mediaType, IMMUTABLE);
    }
  }

  /** Makes the data that programs read. */
  function* dataOf(snapshot: Snapshot, root: string): Steps {
    const { document } = snapshot;
    yield* v2Of(snapshot, `${root}/`);
    yield json(`${root}/summary.json`, summarize(snapshot));
    yield json(`${root}/badge.json`, endpointBadge(pageBadge(document)));
    yield fixed(`${root}/badge.svg`, renderBadge(pageBadge(document)), SVG);
    yield fixed(
      `${root}/widget.js`,
      renderWidget(snapshot),
      "text/javascript;charset=utf-8",
      WIDGET_CACHE,
    );
    for (const component of document.components) {
      const path = `${root}/badge/${component.id}.svg`;
      yield fixed(path, renderBadge(componentBadge(component, document.page.locale)), SVG);
    }
  }

  function* v2Of(snapshot: Snapshot, prefix: string): Steps {
    const source = { snapshot, reader: ctx.db, readIncidents, now: ctx.clock.now() };
    for (const document of V2_DOCUMENTS) {
      yield json(`${prefix}api/v2/${document.path}`, document.make(source));
    }
  }

  function* feedsOf(read: () => Snapshot, root: string, isDefault: boolean): Steps {
    const renderText = createMarkdownCache();
    const entries = listEntries(ctx.db, read(), ctx.baseUrl, readIncidents);
    yield WHOLE_TURN;
    for (const { ending, mediaType, write } of FEEDS) {
      const rendered = yield* renderEntries(entries, renderText);
      const feed = write(read(), rendered);
      for (const name of FEED_NAMES) {
        yield fixed(`${root}/${name}.${ending}`, feed, `${mediaType};charset=utf-8`);
      }
      if (isDefault) yield fixed(`history.${ending}`, feed, `${mediaType};charset=utf-8`);
    }
    const snapshot = read();
    const planned = listCalendar(ctx.db, snapshot, ctx.baseUrl);
    const calendar = writeCalendar(snapshot, planned);
    yield fixed(`${root}/calendar.ics`, calendar, "text/calendar;charset=utf-8");
  }
}

const SVG = "image/svg+xml;charset=utf-8";

/** Returns a document whose bytes do not depend on the time of the copy. */
export function fixed(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
  mediaType: string,
  cacheControl: string = PUBLIC_CACHE,
): MirrorDocument {
  const bytes = bytesOf(content);
  return { path, mediaType, cacheControl, fingerprint: sha256Hex(bytes), make: () => bytes };
}

function json(path: string, content: unknown): MirrorDocument {
  return fixed(path, JSON.stringify(content), "application/json");
}

function bytesOf(content: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
