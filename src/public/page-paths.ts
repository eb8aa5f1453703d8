/** The paths of a page's public surface, without their host. */
export interface PagePaths {
  home: string;
  history: string;
  month(month: string): string;
  incident(id: string): string;
  maintenance(id: string): string;
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
    month: (month) => `${home}/history?month=${month}`,
    incident: (id) => `${home}/incidents/${id}`,
    maintenance: (id) => `${home}/maintenance/${id}`,
    atom: `${home}/feed.atom`,
    rss: `${home}/feed.rss`,
    calendar: `${home}/calendar.ics`,
    json: `${home}/summary.json`,
  };
}
