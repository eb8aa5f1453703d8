import { HOME_PATH } from "../paths";

// One path of this dashboard: no host, no scheme, no backslash (which browsers take for a slash), no
// `.` or `..` that leads out of it, and nothing before or after it.
const DASHBOARD_PATH = /^\/admin(?:\/(?!\.{1,2}(?:[/?]|$))[\w.~-]+)*(?:\?[\w.~%&=+-]*)?$/;

/**
 * Returns the path to open after signing in: the given one if it is a dashboard screen, else the
 * overview.
 */
export function safeReturnPath(given: string | null | undefined): string {
  return given && DASHBOARD_PATH.test(given) && !given.startsWith("/admin/sign-")
    ? given
    : HOME_PATH;
}
