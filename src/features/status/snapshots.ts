import type { Ctx } from "../../context";
import { isUnreadable } from "../../db/errors";
import { runInSlices, WHOLE_TURN } from "../../base/in-slices";
import { findComponentAt, listComponentsOfPage } from "../components/store";
import { createIncidentCache, type ReadRecords } from "../incidents/records";
import { findDefaultPage, findPageBySlug } from "../pages/store";
import { createHistoryCache } from "./history-cache";
import { buildSnapshot, openCausesByComponent, type Snapshot } from "./snapshot";

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

interface DefaultPage {
  slug: string;
  isPublic: boolean;
}

/**
 * Creates snapshots by slug. They are dropped by a change of the page, here or in another process,
 * by a change of the public address, which links start with, and by time: at midnight in UTC, every
 * five minutes for uptime figures, and when planned maintenance comes within 30 days, starts or
 * ends. In a fleet, the five minutes end on all nodes together. The next read builds a new one; no
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

  function prepare(slug: string, now: number): Promise<void> | undefined {
    const cached = bySlug.get(slug);
    if (cached && now < cached.staleAt) return undefined;
    const running = preparing.get(slug);
    if (running) return running;
    if (!isLarge(slug)) return undefined;
    const started = readHistoriesOf(slug, now).finally(() => preparing.delete(slug));
    preparing.set(slug, started);
    return started;
  }

  return {
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
        byDefault = { page: row && { slug: row.slug, isPublic: row.visibility === "public" } };
      }
      return byDefault.page;
    },
    isHolding: () => bySlug.size > 0,
  };
}
