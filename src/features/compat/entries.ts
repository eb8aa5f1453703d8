import { type CompatProduct, gatusKeyOf } from "../../base/compat";
import type { Reader } from "../../db/statements";
import type { DomainPage } from "../pages/addresses";
import type { Snapshot, Snapshots } from "../status/snapshots";
import {
  findNumbered,
  listKeptKeys,
  listNumbers,
  listPagesWith,
  listResults,
  listWatchers,
} from "./store";

/** Monitor of a component, as far as other products show it. */
type Watcher = ReturnType<typeof listWatchers>[number];

/** A component of a page, as an entry of another product's page. */
export interface CompatEntry {
  component: Snapshot["document"]["components"][number];
  /** Number of its only monitor if no other component of the page has that monitor, else its own. */
  number: number;
  /** Monitor whose results are shown: of several the oldest. */
  watcher: Watcher | undefined;
}

/** Host of a request, and its arrival in unix ms. */
interface At {
  domain: DomainPage | undefined;
  now: number;
}

/**
 * Finds a public page that can be read in the format of a product, by a current or an earlier slug. On a
 * custom domain, only its page is found.
 */
export function findCompatPage(
  snapshots: Snapshots,
  product: CompatProduct,
  slug: string,
  { domain, now }: At,
): Snapshot | undefined {
  if (domain && !domain.slugs.has(slug)) return undefined;
  const snapshot = snapshots.read(slug, now);
  const page = snapshot?.document.page;
  return page?.visibility === "public" && page.compat.includes(product) ? snapshot : undefined;
}

/** Calls `answer`, which finds the page of a slug, when its snapshot is prepared. */
export function whenCompatReady<Answer>(
  snapshots: Snapshots,
  slug: string | undefined,
  { domain, now }: At,
  answer: () => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  if (slug === undefined || (domain && !domain.slugs.has(slug))) return answer();
  return snapshots.whenReady(slug, now, answer);
}

/** Calls `answer`, which finds an entry by its number, when the snapshots of its pages are prepared. */
export function whenEntryReady<Answer>(
  reader: Reader,
  snapshots: Snapshots,
  number: number,
  at: At,
  answer: () => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const object = findNumbered(reader, { number });
  const pages = object ? listPagesWith(reader, object) : [];
  const ready = pages.reduce<() => Answer | Promise<Answer>>(
    (next, { slug }) =>
      () =>
        whenCompatReady(snapshots, slug, at, next),
    answer,
  );
  return ready();
}

/** Reads the entries of a page in the order of its components. */
export function readEntries(reader: Reader, { document }: Snapshot): CompatEntry[] {
  const watchers = listWatchers(reader, { pageId: document.page.id });
  const byComponent = Map.groupBy(watchers, ({ componentId }) => componentId);
  const byMonitor = Map.groupBy(watchers, ({ id }) => id);
  const ids = [...document.components.map(({ id }) => id), ...byMonitor.keys()];
  const numbers = numbersOf(reader, ids);
  return document.components.map((component) => {
    const own = byComponent.get(component.id) ?? [];
    const [watcher] = own;
    const isAlone = watcher && own.length === 1 && byMonitor.get(watcher.id)?.length === 1;
    return { component, number: numbers(isAlone ? watcher.id : component.id), watcher };
  });
}

/** Reads the numbers of objects. Returns a function from an id to its number. */
export function numbersOf(reader: Reader, ids: readonly string[]): (id: string) => number {
  const numbers = new Map(
    listNumbers(reader, { ids: JSON.stringify(ids) }).map(({ id, number }) => [id, number]),
  );
  return (id) => numbers.get(id) ?? 0;
}

/**
 * Returns the keys of a page's components by id, as Gatus makes them of group and name. A kept key wins; of
 * equal ones, later components get `-2` and so on.
 */
export function keysOf(reader: Reader, { document, records }: Snapshot): Map<string, string> {
  const groups = new Map(records.groups.map(({ id, name }) => [id, name]));
  const keys = new Map(
    listKeptKeys(reader, { pageId: document.page.id }).map(({ componentId, key }) => [
      componentId,
      key,
    ]),
  );
  const taken = new Set(keys.values());
  const used = new Map<string, number>();
  for (const { id, name, group_id } of document.components) {
    if (keys.has(id)) continue;
    const key = gatusKeyOf(groups.get(group_id ?? "") ?? "", name);
    let n = (used.get(key) ?? 0) + 1;
    while (taken.has(numbered(key, n))) n += 1;
    used.set(key, n);
    const free = numbered(key, n);
    taken.add(free);
    keys.set(id, free);
  }
  return keys;
}

function numbered(key: string, n: number): string {
  return n === 1 ? key : `${key}-${n}`;
}

/** Finds the entry with a number on the oldest page that shows it, with the snapshot of that page. */
export function findEntry(
  reader: Reader,
  snapshots: Snapshots,
  number: number,
  at: At,
): { entry: CompatEntry; snapshot: Snapshot } | undefined {
  const object = findNumbered(reader, { number });
  if (!object) return undefined;
  for (const { slug } of listPagesWith(reader, object)) {
    const snapshot = findCompatPage(snapshots, "uptime-kuma", slug, at);
    const entry = snapshot && readEntries(reader, snapshot).find((one) => one.number === number);
    if (entry) return { entry, snapshot };
  }
  return undefined;
}

/** Status of a beat, in the numbers of Uptime Kuma. */
export const BEAT = { down: 0, up: 1, pending: 2, maintenance: 3 } as const;

/** One result of an entry. */
interface Beat {
  status: (typeof BEAT)[keyof typeof BEAT];
  /** Unix ms. */
  at: number;
  /** Response time in ms; null without one, or if the page does not show it. */
  latencyMs: number | null;
}

/**
 * Reads at most `limit` beats of an entry, oldest first. There is always one: the newest has the status of
 * the component, and without a result the time of its last change. Earlier ones are results of the monitor,
 * where failures below the threshold are pending. With `skipped`, that many of the newest are left out.
 */
export function readBeats(reader: Reader, entry: CompatEntry, limit: number, skipped = 0): Beat[] {
  const { component, watcher } = entry;
  const results = watcher
    ? listResults(reader, { monitorNum: watcher.num, limit, skipped }).toReversed()
    : [];
  const showsLatency = component.show_latency && watcher?.type !== "push";
  // Failures before the first result are unknown and taken as enough.
  let failures = watcher?.failureThreshold ?? 0;
  const beats = results.map(({ at, outcome, latencyMs }): Beat => {
    failures = outcome === "failed" ? failures + 1 : 0;
    const isConfirmed = failures >= (watcher?.failureThreshold ?? 0);
    const status = outcome === "ok" ? BEAT.up : isConfirmed ? BEAT.down : BEAT.pending;
    return { status, at, latencyMs: showsLatency && outcome === "ok" ? latencyMs : null };
  });
  if (skipped > 0) return beats;
  const newest = beats.at(-1);
  const status = statusOf(entry, newest);
  const at = newest?.at ?? Date.parse(component.updated_at);
  return [...beats.slice(0, -1), { status, at, latencyMs: newest?.latencyMs ?? null }];
}

/** Returns the status of the newest beat: that of the component, or pending while a failure is not confirmed. */
function statusOf({ component, watcher }: CompatEntry, newest: Beat | undefined): Beat["status"] {
  switch (component.status) {
    case "under_maintenance":
      return BEAT.maintenance;
    case "partial_outage":
    case "major_outage":
      return BEAT.down;
    default: {
      const hasFailed = newest !== undefined && newest.status !== BEAT.up;
      return hasFailed && watcher?.state !== "down" ? BEAT.pending : BEAT.up;
    }
  }
}
