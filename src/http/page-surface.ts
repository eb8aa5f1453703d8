import type { DomainPage } from "../features/pages";
import type { Match, Route, RouteTable } from "./route-table";

const NOTHING: Match = { route: undefined, allowed: [] };
const SLUG = /^\/status\/([^/]*)/;

/**
 * What a request to a page's custom domain may meet: the page's own public surface and the files that
 * every page needs. All else is not there, whatever its method, and neither is a private page.
 */
export function matchCustomDomain(
  page: DomainPage,
  routes: RouteTable,
  { method, path }: { method: string; path: string },
): Match {
  const match = routes.match(method, path);
  // A path that is there says which methods it has; all of the surface is read by GET.
  const { route } = match.route ? match : routes.match("GET", path);
  return route && isThere(page, route, path) ? match : NOTHING;
}

function isThere(page: DomainPage, { operation }: Route, path: string): boolean {
  if (operation.onCustomDomain === "shared") return true;
  if (operation.onCustomDomain !== "page" || !page.isPublic) return false;
  const [, slug] = SLUG.exec(path) ?? [];
  return slug === undefined || page.slugs.has(slug);
}
