import { runInSlices, WHOLE_TURN } from "../../base/in-slices";
import { toIso } from "../../base/time";
import type { Ctx } from "../../context";
import { isUnreadable } from "../../db/errors";
import type { Reader } from "../../db/statements";
import { listOpenCausesOfPage } from "../components/cause-store";
import type { DayOf } from "../components/rules";
import {
  type ComponentRow,
  countStatuses,
  findComponentAt,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../components/store";
import { presentComponent, presentGroup } from "../components/wire";
import {
  createIncidentCache,
  type IncidentRecord,
  listOpenIncidents,
  type ReadRecords,
} from "../incidents/records";
import { countOpenImpacts, listOpenImpacts } from "../incidents/store";
import { presentIncident } from "../incidents/wire";
import { listMaintenanceForPage, nextEdge } from "../maintenance/records";
import { UPCOMING_MS } from "../maintenance/rules";
import type { MaintenanceRecord } from "../maintenance/store";
import { presentMaintenance } from "../maintenance/wire";
import { type Because, becauseOf } from "../monitors/because";
import { listUpstreamTroubles } from "../monitors/store";
import { isServed } from "../pages/addresses";
import { findDefaultPage, findPageBySlug, type PageRow } from "../pages/store";
import { noticeEndOf } from "../pages/look";
import { presentPage } from "../pages/wire";
import {
  createHistoryCache,
  type DayEntries,
  holdsUntil,
  readComponentHistories,
  type ReadHistories,
  SHARED_STEP_MS,
  sharedTime,
  stepStart,
} from "./histories";
import { type Headline, type HeadlineFacts, headlineOf } from "./rules";
import type { StatusDocument } from "./wire";

/** Number of components whose histories are read together with the snapshot. */
const READ_AT_ONCE = 200;
/** Maximum number of preparations of one snapshot. A page that changes during each is then read as it is. */
const PREPARATIONS_MAX = 3;

export interface Snapshots {
  /**
   * Returns the snapshot of the page with a slug at `now`, in unix ms; undefined without one. An outdated one while the
   * database is unavailable.
   */
  read(slug: string, now: number): Snapshot | undefined;
  /** Returns the snapshot in memory that `read` would return; undefined if it must be built. */
  current(slug: string, now: number): Snapshot | undefined;
  /**
   * Prepares `read` for a page of more than 200 components that must be built: the histories of its components are
   * read in several turns of the event loop. Undefined if there is nothing to prepare. Never rejects.
   */
  prepare(slug: string, now: number): Promise<void> | undefined;
  /** Calls `answer`, which reads the snapshot, at once or after what `prepare` returns. */
  whenReady<Answer>(
    slug: string,
    now: number,
    answer: () => Answer | Promise<Answer>,
  ): Answer | Promise<Answer>;
  /** Returns the default page; undefined if there is no page. */
  defaultPage(): DefaultPage | undefined;
  /** True if a page is in memory, which is served also while the database is unavailable. */
  isHolding(): boolean;
}

/** The default page. A change of a page makes another object, so `Visits` can keep its rules by it. */
interface DefaultPage {
  id: string;
  slug: string;
  isPublic: boolean;
  isServed: boolean;
}

/**
 * Creates snapshots by slug. They are dropped by a change of the page, here or in another process,
 * by a change of the public address, which links start with, and by time: at midnight in UTC, every
 * five minutes for uptime figures, when planned maintenance comes within 30 days, starts or ends, and
 * when a notice ends. In a fleet, the five minutes end on all nodes together. The next read builds a new one; no
 * write does. Unknown slugs are not cached. The default page is kept until any page changes.
 */
export function createSnapshots(
  ctx: Ctx,
  readIncidents: ReadRecords = createIncidentCache(),
): Snapshots {
  const bySlug = new Map<string, Snapshot>();
  const isShared = ctx.config.fleetStore !== undefined;
  const histories = createHistoryCache();
  const options = { readHistories: histories.read, readIncidents, isShared };
  const preparing = new Map<string, Promise<void>>();
  let byDefault: { page: DefaultPage | undefined } | undefined;
  ctx.signals.pageChanged.on((pageId) => {
    byDefault = undefined;
    for (const [slug, snapshot] of bySlug) {
      if (snapshot.document.page.id === pageId) bySlug.delete(slug);
    }
  });
  ctx.signals.settingsChanged.on(() => bySlug.clear());

  function build(slug: string, now: number): Snapshot | undefined {
    const page = findPageBySlug(ctx.db, { slug });
    if (!page) {
      bySlug.delete(slug);
      return undefined;
    }
    const snapshot = buildSnapshot(ctx.db, page, ctx.baseUrl, now, options);
    bySlug.set(slug, snapshot);
    return snapshot;
  }

  function* historySteps(slug: string, now: number): Generator<number, void> {
    // A change meanwhile can concern all components, so these are read in turns again.
    let page = findPageBySlug(ctx.db, { slug });
    for (let left = PREPARATIONS_MAX; page && left > 0; left -= 1) {
      const { id: pageId, contentVersion } = page;
      const components = listComponentsOfPage(ctx.db, { pageId });
      yield WHOLE_TURN;
      const open = openCausesByComponent(ctx.db, pageId);
      yield* histories.steps(ctx.db, { page, components, open, now, isShared });
      page = findPageBySlug(ctx.db, { slug });
      if (page?.id !== pageId) histories.drop(pageId);
      if (page?.contentVersion === contentVersion) return;
    }
  }

  /** Reads the histories of a large page. Those that cannot be read are read again with the snapshot. */
  async function readHistoriesOf(slug: string, now: number): Promise<void> {
    try {
      await runInSlices(historySteps(slug, now));
    } catch (error) {
      ctx.log.warn({ err: error }, "the histories of a page could not be read in advance");
    }
  }

  /** Returns true for a large page, and false for all others and if that is not known. */
  function isLarge(slug: string): boolean {
    try {
      const page = findPageBySlug(ctx.db, { slug });
      return !!page && !!findComponentAt(ctx.db, { pageId: page.id, offset: READ_AT_ONCE });
    } catch {
      // The snapshot may be in memory, although it is outdated.
      return false;
    }
  }

  function current(slug: string, now: number): Snapshot | undefined {
    const cached = bySlug.get(slug);
    return cached && now < cached.staleAt ? cached : undefined;
  }

  function prepare(slug: string, now: number): Promise<void> | undefined {
    if (current(slug, now)) return undefined;
    const running = preparing.get(slug);
    if (running) return running;
    if (!isLarge(slug)) return undefined;
    const started = readHistoriesOf(slug, now).finally(() => preparing.delete(slug));
    preparing.set(slug, started);
    return started;
  }

  return {
    current,
    prepare,
    whenReady: (slug, now, answer) => prepare(slug, now)?.then(answer) ?? answer(),
    read(slug, now) {
      const cached = bySlug.get(slug);
      if (cached && now < cached.staleAt) return cached;
      try {
        return build(slug, now);
      } catch (error) {
        // An outdated page is better than none.
        if (cached && isUnreadable(error)) return cached;
        throw error;
      }
    },
    defaultPage() {
      if (!byDefault) {
        const row = findDefaultPage(ctx.db, {});
        byDefault = { page: row && describeDefault(row) };
      }
      return byDefault.page;
    },
    isHolding: () => bySlug.size > 0,
  };
}

function describeDefault(row: PageRow): DefaultPage {
  const { id, slug, visibility } = row;
  return { id, slug, isPublic: visibility === "public", isServed: isServed(row) };
}

/**
 * Everything that a page shows, built once per change. Representations are made from it once as
 * well.
 */
export interface Snapshot {
  document: StatusDocument;
  /** Records of the document's groups, incidents and maintenance, in the same order. */
  records: {
    groups: readonly GroupRow[];
    incidents: readonly IncidentRecord[];
    maintenance: readonly MaintenanceRecord[];
  };
  /**
   * UTC days up to today by component id, oldest first, as many as the page's `history_days`, for
   * all components of the document. Folded on first use.
   */
  readonly days: ReadonlyMap<string, readonly DayOf[]>;
  /** Returns the days of one component of the document, without folding those of others. */
  daysOf(componentId: string): readonly DayOf[];
  /** Returns the incidents and maintenances of these days, by start of the day; only of affected days. */
  entriesOf(componentId: string): ReadonlyMap<number, DayEntries>;
  /** Number of published open incidents. The document has at most 50 of them. */
  openIncidentCount: number;
  /**
   * Time to which it applies on all nodes of a fleet, in unix ms: documents made from it at any time have equal bytes.
   * Undefined on one machine, whose documents apply to the time at which they are made.
   */
  sharedAt: number | undefined;
  /** Time from which it is outdated without any change, in unix ms. */
  staleAt: number;
}

/**
 * Readers may use caches; without them a snapshot reads the database. Caches are valid for
 * committed data only.
 */
interface SnapshotOptions {
  /** True in a fleet. */
  isShared?: boolean;
  readHistories?: ReadHistories;
  readIncidents?: ReadRecords;
}

/** Reads the open causes of a page's components by component id. */
function openCausesByComponent(reader: Reader, pageId: string) {
  return Map.groupBy(listOpenCausesOfPage(reader, { pageId }), ({ componentId }) => componentId);
}

/** Reads the providers that give components of a page their status, by component id, as far as visitors may know. */
function readTroubles(reader: Reader, pageId: string): Map<string, Because> {
  const named = listUpstreamTroubles(reader, { pageId }).flatMap(
    ({ componentId, config, message }): [string, Because][] => {
      const because = becauseOf(config, message);
      return because ? [[componentId, because]] : [];
    },
  );
  return new Map(named);
}

/** Builds the snapshot of one page from the database, as it stands at `now` (unix ms). */
export function buildSnapshot(
  reader: Reader,
  page: PageRow,
  baseUrl: string,
  now: number,
  { readHistories = readComponentHistories, readIncidents, isShared = false }: SnapshotOptions = {},
): Snapshot {
  const pageId = page.id;
  const rows = listComponentsOfPage(reader, { pageId });
  const open = openCausesByComponent(reader, pageId);
  const openOf = (row: ComponentRow) => open.get(row.id) ?? [];
  const troubles = readTroubles(reader, pageId);
  const histories = readHistories(reader, { page, components: rows, open, now, isShared });
  const records = {
    groups: listGroups(reader, { pageId }),
    incidents: listOpenIncidents(reader, { pageId }, readIncidents),
    maintenance: listMaintenanceForPage(reader, { pageId, now, until: now + UPCOMING_MS }),
  };
  const impacts = listOpenImpacts(reader, { pageId }).map(({ impact }) => impact);
  const daysOf = (id: string) => histories.get(id)?.days ?? [];
  let days: Snapshot["days"] | undefined;
  return {
    document: {
      page: presentPage(page, baseUrl, now),
      status: headlineOf(
        rows.map((row) => row.status),
        impacts,
      ),
      groups: records.groups.map(presentGroup),
      components: rows.map((row) => ({
        ...presentComponent(row, page.slug, openOf(row)),
        uptime_90d: histories.get(row.id)?.uptime ?? null,
        because: row.status === "operational" ? null : (troubles.get(row.id) ?? null),
      })),
      incidents: records.incidents.map((record) => presentIncident(record, baseUrl)),
      maintenance: records.maintenance.map((record) => presentMaintenance(record, baseUrl)),
      updated_at: toIso(page.contentChangedAt),
    },
    records,
    get days() {
      return (days ??= new Map(rows.map(({ id }) => [id, daysOf(id)])));
    },
    daysOf,
    entriesOf: (id) => histories.get(id)?.entries ?? new Map(),
    openIncidentCount: impacts.length,
    sharedAt: isShared ? sharedTime(now, page.contentChangedAt) : undefined,
    staleAt: Math.min(
      isShared
        ? stepStart(now) + SHARED_STEP_MS
        : holdsUntil(Math.min(now, ...Array.from(histories.values(), ({ readAt }) => readAt))),
      nextEdge(reader, { pageId, now }) ?? Number.POSITIVE_INFINITY,
      nextNoticeEnd(page, now),
    ),
  };
}

/** Returns the end of a notice that is shown at `now` (unix ms); infinity without one. */
function nextNoticeEnd(page: PageRow, now: number): number {
  const end = noticeEndOf(page);
  return end !== undefined && now < end ? end : Number.POSITIVE_INFINITY;
}

/** Reads the current headline of a page from the database, for messages about it. */
export function readHeadline(reader: Reader, pageId: string): Headline {
  return headlineOf(
    listComponentsOfPage(reader, { pageId }).map(({ status }) => status),
    listOpenImpacts(reader, { pageId }).map(({ impact }) => impact),
  );
}

/* Headlines of all pages, for the dashboard. Those of one page are in its snapshot. */

/** Headline of a page with the statuses and impacts that it is computed from. */
export interface PageHeadline extends HeadlineFacts {
  componentCount: number;
  /** Number of published open incidents. */
  openIncidentCount: number;
}

/** Headline of a page without components and open incidents. */
export const EMPTY_HEADLINE: PageHeadline = {
  status: headlineOf([]),
  components: [],
  incidents: [],
  componentCount: 0,
  openIncidentCount: 0,
};

/** Reads the headlines of all pages by id, with two statements. A page without components and open incidents has no entry. */
export function readHeadlines(reader: Reader): ReadonlyMap<string, PageHeadline> {
  const components = Map.groupBy(countStatuses(reader, {}), ({ pageId }) => pageId);
  const incidents = Map.groupBy(countOpenImpacts(reader, {}), ({ pageId }) => pageId);
  const headlines = new Map<string, PageHeadline>();
  for (const pageId of new Set([...components.keys(), ...incidents.keys()])) {
    const counts = components.get(pageId) ?? [];
    const open = incidents.get(pageId) ?? [];
    const statuses = counts.flatMap(({ status, count }) =>
      Array.from({ length: count }, () => status),
    );
    const impacts = open.map(({ impact }) => impact);
    headlines.set(pageId, {
      status: headlineOf(statuses, impacts),
      components: counts,
      incidents: open,
      componentCount: statuses.length,
      openIncidentCount: open.reduce((total, { count }) => total + count, 0),
    });
  }
  return headlines;
}
