import type { AppContext } from "../../context";
import { isResourceFailure } from "../../db";
import { Problem } from "../../errors";
import { createIncidentCache, type ReadRecords } from "../incidents";
import { findDefaultPage, findPageBySlug } from "../pages";
import { createHistoryCache } from "./history-cache";
import { buildSnapshot, type Snapshot } from "./snapshot";

export interface Snapshots {
  /**
   * Returns the snapshot of the page with a slug at `now`, in unix ms; undefined without one. An outdated one while the
   * database is unavailable.
   */
  read(slug: string, now: number): Snapshot | undefined;
  /** Returns the default page; undefined if there is no page. */
  defaultPage(): DefaultPage | undefined;
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
  ctx: AppContext,
  readIncidents: ReadRecords = createIncidentCache(),
): Snapshots {
  const bySlug = new Map<string, Snapshot>();
  const isShared = ctx.config.fleetStore !== undefined;
  const options = { readHistories: createHistoryCache(), readIncidents, isShared };
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

  return {
    read(slug, now) {
      const cached = bySlug.get(slug);
      if (cached && now < cached.staleAt) return cached;
      try {
        return build(slug, now);
      } catch (error) {
        // An outdated page is better than none.
        if (cached && isUnavailable(error)) return cached;
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
  };
}

/** True for errors of a database that cannot be read now, such as one whose disk fails. */
function isUnavailable(error: unknown): boolean {
  return isResourceFailure(error) || (error instanceof Problem && error.code === "unavailable");
}
