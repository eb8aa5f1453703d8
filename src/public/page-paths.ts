/** A copy of a status page that is sent without a server. */
export interface StaticCopy {
  /** Time at which the copy was made, in unix ms. */
  madeAt: number;
  /** Month of the history that is copied: `YYYY-MM`. */
  month: string;
  /** Ids of the incidents and maintenances that are copied. */
  entries: ReadonlySet<string>;
}

/**
 * Paths of the documents of a status page, without a host. In a copy, documents that are not copied have their
 * whole address.
 */
export interface PagePaths {
  home: string;
  history: string;
  /** Path of a month of the history: its newest entries, or those after the cursor `before`. */
  month(month: string, before?: string): string;
  /** Path of the list of open incidents: the newest, or those after the cursor `before`. */
  open(before?: string): string;
  /** Path of an incident: its newest updates, or those before the update with this id. */
  incident(id: string, before?: string): string;
  maintenance(id: string, before?: string): string;
  /** Path of the page that lists all ways to subscribe; only of public pages. */
  subscribe: string;
  atom: string;
  rss: string;
  calendar: string;
  json: string;
}

/** Returns the paths of the page with this slug. */
export function pathsOf(slug: string): PagePaths {
  const home = `/status/${slug}`;
  return {
    home,
    history: `${home}/history`,
    month: (month, before) => `${home}/history?month=${month}${before ? `&before=${before}` : ""}`,
    open: (before) => `${home}/incidents${beforeQuery(before)}`,
    incident: (id, before) => `${home}/incidents/${id}${beforeQuery(before)}`,
    maintenance: (id, before) => `${home}/maintenance/${id}${beforeQuery(before)}`,
    subscribe: `${home}/subscribe`,
    atom: `${home}/feed.atom`,
    rss: `${home}/feed.rss`,
    calendar: `${home}/calendar.ics`,
    json: `${home}/summary.json`,
  };
}

/**
 * Returns the paths of a copy. What it lacks has the address of the live document, which begins with `origin`:
 * all parts of a list but the first, other months, and older entries.
 */
export function pathsOfCopy(paths: PagePaths, origin: string, copy: StaticCopy): PagePaths {
  const isCopied = (id: string, before?: string) => before === undefined && copy.entries.has(id);
  return {
    ...paths,
    month(month, before) {
      const isFirstPart = month === copy.month && before === undefined;
      return isFirstPart ? paths.history : origin + paths.month(month, before);
    },
    open: (before) => (before === undefined ? paths.open() : origin + paths.open(before)),
    incident: (id, before) => (isCopied(id, before) ? "" : origin) + paths.incident(id, before),
    maintenance: (id, before) =>
      (isCopied(id, before) ? "" : origin) + paths.maintenance(id, before),
  };
}

function beforeQuery(before: string | undefined): string {
  return before === undefined ? "" : `?before=${before}`;
}
