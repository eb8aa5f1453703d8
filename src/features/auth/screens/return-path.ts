import { hostOf } from "../../../http/caller";
import type { RouteTable } from "../../../http/route-table";
import { HOME_PATH } from "../../../ui/frame/paths";

// A path of the dashboard without scheme, host, backslash (which browsers treat as a slash), and
// segments `.` or `..`, which could lead out of the dashboard.
const DASHBOARD_PATH = /^\/admin(?:\/(?!\.{1,2}(?:[/?]|$))[\w.~-]+)*(?:\?[\w.~%&=+-]*)?$/;

/** Returns true for a path of the dashboard, with its query. */
export function isDashboardPath(path: string): boolean {
  return DASHBOARD_PATH.test(path);
}

/**
 * Returns the path to open after signing in: the requested one if it is a dashboard screen, else the
 * overview.
 */
export function safeReturnPath(path: string | null | undefined): string {
  return path && isDashboardPath(path) && !path.startsWith("/admin/sign-") ? path : HOME_PATH;
}

/**
 * Returns the path to open after signing in again, for a form that was posted to `path`: the screen that held
 * the form if the browser names it, else the screen at `path`, else the overview.
 */
export function returnPathOf(
  request: Request,
  path: string,
  { routes, baseUrl }: { routes: RouteTable; baseUrl: string },
): string {
  const isScreen = (candidate: string) =>
    routes.match("GET", candidate.split("?", 1)[0] ?? "").route?.operation.tag === "Dashboard";
  return safeReturnPath(
    [refererPath(request, baseUrl), path].find((at) => at !== undefined && isScreen(at)),
  );
}

/** Returns path and query of the page that sent a request, if it is of the same host or the public address. */
function refererPath({ headers, url }: Request, baseUrl: string): string | undefined {
  const referer = headers.get("referer");
  const host = hostOf(referer);
  if (referer === null || host === undefined) return undefined;
  const { pathname, search } = new URL(referer);
  return [url, baseUrl].some((own) => hostOf(own) === host) ? pathname + search : undefined;
}
