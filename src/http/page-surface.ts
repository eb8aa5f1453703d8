import type { DomainPage } from "../features/pages";
import type { Match, Route, RouteTable } from "./route-table";

const NOTHING: Match = { route: undefined, allowed: [] };
const SLUG = /^\/status\/([^/]*)/;

/**
 * Matches a request to a page's custom domain, which serves the page's public routes and the files
 * that every page needs. Everything else is `not_found`, as is a private page.
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
