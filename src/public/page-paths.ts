/** Paths of the documents of a status page, without a host. */
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

function beforeQuery(before: string | undefined): string {
  return before === undefined ? "" : `?before=${before}`;
}
