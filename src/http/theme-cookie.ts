import type { Ctx } from "../context";
import { isHttps } from "../features/auth/rules";
import { DAY_MS, SECOND_MS } from "../base/time";

/** Themes of the dashboard. `system` follows the browser. */
export const THEMES = ["system", "light", "dark"] as const;

export type Theme = (typeof THEMES)[number];

const NAME = "allclear_theme";
/** Maximum age of a cookie in browsers. */
const THEME_MAX_AGE_SECONDS = (400 * DAY_MS) / SECOND_MS;

/** Returns a theme by its name; undefined for other text. */
export function themeOf(name: string): Theme | undefined {
  return THEMES.find((theme) => theme === name);
}

/** Returns the theme stored in the browser of a request. */
export function readTheme(request: Request): Theme {
  const pairs = request.headers.get("cookie")?.split(";") ?? [];
  const values = pairs.map((pair) => pair.trim().split("=", 2)).filter(([name]) => name === NAME);
  return themeOf(values[0]?.[1] ?? "") ?? "system";
}

/**
 * Returns the `Set-Cookie` header that stores the theme of a browser. Only the dashboard gets the cookie, so
 * no public page depends on it.
 */
export function themeCookie({ baseUrl }: Ctx, theme: Theme): string {
  const age = theme === "system" ? 0 : THEME_MAX_AGE_SECONDS;
  const secure = isHttps(baseUrl) ? "; Secure" : "";
  return `${NAME}=${theme}; Max-Age=${age}; Path=/admin; HttpOnly; SameSite=Lax${secure}`;
}
