import { HOME_PATH } from "../paths";

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
