import type { AppContext } from "../../context";
import { DAY_MS, MINUTE_MS, startOfDay } from "../../kernel/time";
import { findPageBySlug } from "../pages";
import { buildStatusDocument } from "./document";
import type { StatusDocument } from "./model";

const UPTIME_REFRESH_MS = 5 * MINUTE_MS;

/** What one page shows, made once per change; what is sent is made from it once, too. */
export interface Snapshot {
  document: StatusDocument;
  /** The moment from which time alone makes it stale, in unix ms. */
  staleAt: number;
}

export interface Snapshots {
  /** What the page that answers to a slug shows at `now`, in unix ms; undefined if there is none. */
  read(slug: string, now: number): Snapshot | undefined;
}

/**
 * Snapshots by slug. A change of the page, here or in another process, drops them, and so do a change
 * of the public address, which their links begin with, and time: midnight in UTC, and every five
 * minutes for the uptime figures. The next read builds anew; no write
 * ever does. A slug that no page answers to is not remembered.
 */
export function createSnapshots(ctx: AppContext): Snapshots {
  const bySlug = new Map<string, Snapshot>();
  ctx.signals.pageChanged.on((pageId) => {
    for (const [slug, snapshot] of bySlug) {
      if (snapshot.document.page.id === pageId) bySlug.delete(slug);
    }
  });
  ctx.signals.settingsChanged.on(() => bySlug.clear());
  ctx.signals.databaseChangedElsewhere.on(() => bySlug.clear());

  function build(slug: string, now: number): Snapshot | undefined {
    const page = findPageBySlug(ctx.db, { slug });
    if (!page) {
      bySlug.delete(slug);
      return undefined;
    }
    const document = buildStatusDocument(ctx.db, page, ctx.baseUrl, now);
    const snapshot: Snapshot = {
      document,
      staleAt: Math.min(startOfDay(now) + DAY_MS, now + UPTIME_REFRESH_MS),
    };
    bySlug.set(slug, snapshot);
    return snapshot;
  }

  return {
    read(slug, now) {
      const known = bySlug.get(slug);
      return known && now < known.staleAt ? known : build(slug, now);
    },
  };
}
