/** The paths of a page's public surface, without their host. */
export interface PagePaths {
  home: string;
  history: string;
  /** A month of the history: from its end, or from behind a place in it. */
  month(month: string, before?: string): string;
  /** Path of an incident: its newest updates, or those before the update with this id. */
  incident(id: string, before?: string): string;
  maintenance(id: string, before?: string): string;
  atom: string;
  rss: string;
  calendar: string;
  json: string;
}

export function pathsOf(slug: string): PagePaths {
  const home = `/status/${slug}`;
  return {
    home,
    history: `${home}/history`,
    month: (month, before) => `${home}/history?month=${month}${before ? `&before=${before}` : ""}`,
    incident: (id, before) => `${home}/incidents/${id}${behind(before)}`,
    maintenance: (id, before) => `${home}/maintenance/${id}${behind(before)}`,
    atom: `${home}/feed.atom`,
    rss: `${home}/feed.rss`,
    calendar: `${home}/calendar.ics`,
    json: `${home}/summary.json`,
  };
}

function behind(before: string | undefined): string {
  return before === undefined ? "" : `?before=${before}`;
}
