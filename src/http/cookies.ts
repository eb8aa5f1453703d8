import { DAY_MS, SECOND_MS } from "../base/time";
import type { Ctx } from "../context";
import { isHttps, SESSION_LIFETIME_MS, STEP_MS } from "../features/auth/rules";
import type { LiveSession, Sessions } from "../features/auth/sessions";

/** The public address, which decides the name and the attributes of the cookie. */
export interface Address {
  baseUrl: string;
}

/** Age of cookies: the longest lifetime of a session. The server decides when a session ends. */
const MAX_AGE_SECONDS = SESSION_LIFETIME_MS / SECOND_MS;

/** Limit of cookies with one name that are read. */
const COOKIES_MAX = 4;

/**
 * Returns the name of the session cookie. With HTTPS it has the prefix `__Host-`, so that no other host
 * and no plain connection can set it. Without HTTPS, browsers do not accept the prefix.
 */
function cookieName({ baseUrl }: Address): string {
  return isHttps(baseUrl) ? "__Host-allclear" : "allclear_session";
}

/** Returns the name of the cookie of a sign-in that waits for a code. */
function stepCookieName({ baseUrl }: Address): string {
  return isHttps(baseUrl) ? "__Host-allclear_step" : "allclear_step";
}

/**
 * Returns the live session of a request at `now` (unix ms); undefined without one, and for one that can only set up a
 * second factor. For public routes; for routes with a role the gateway has already found the session.
 */
export function findFullSession(
  address: Address,
  sessions: Sessions,
  request: Request,
  now: number,
): LiveSession | undefined {
  const session = findAnySession(address, sessions, request, now);
  return session?.isForSetUpOnly ? undefined : session;
}

/** Returns the live session, including one that can only set up a second factor. */
export function findAnySession(
  address: Address,
  sessions: Sessions,
  request: Request,
  now: number,
): LiveSession | undefined {
  for (const token of sessionTokens(address, request)) {
    const session = sessions.find(token, now);
    if (session) return session;
  }
  return undefined;
}

/**
 * Returns the id of the user to whom the session of a request belongs or belonged; undefined if no trace of
 * the session is left.
 */
export function findSessionOwner(
  address: Address,
  sessions: Sessions,
  request: Request,
): string | undefined {
  for (const token of sessionTokens(address, request)) {
    const owner = sessions.ownerOf(token);
    if (owner !== undefined) return owner;
  }
  return undefined;
}

/** Returns the tokens of sign-ins that wait for a code, of which one is the browser's own. */
export function stepTokens(address: Address, request: Request): string[] {
  return cookieValues(request, stepCookieName(address));
}

function sessionTokens(address: Address, request: Request): string[] {
  return cookieValues(request, cookieName(address));
}

/**
 * Returns the values of the first cookies with a name. On plain HTTP, another program on the same host can
 * set one for a longer path, which browsers send first; it must not hide the live one.
 */
export function cookieValues({ headers }: Request, name: string): string[] {
  const header = headers.get("cookie");
  if (header === null) return [];
  const start = `${name}=`;
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .slice(0, COOKIES_MAX)
    .map((pair) => pair.slice(start.length));
}

/** Returns the `Set-Cookie` header of a new session. */
export function sessionCookie(address: Address, token: string): string {
  return setCookie(cookieName(address), token, MAX_AGE_SECONDS, isHttps(address.baseUrl));
}

/** Returns the `Set-Cookie` header of a sign-in that waits for a code. */
export function stepCookie(address: Address, token: string): string {
  const age = STEP_MS / SECOND_MS;
  return setCookie(stepCookieName(address), token, age, isHttps(address.baseUrl));
}

/** Adds the cookie of a session that a request has begun. A later session of the same answer precedes it. */
export function addSessionCookie(headers: Headers, address: Address, token: string): void {
  const later = headers.getSetCookie();
  headers.set("Set-Cookie", sessionCookie(address, token));
  for (const cookie of later) headers.append("Set-Cookie", cookie);
}

/** Returns the `Set-Cookie` header that removes the cookie of an ended session. */
export function endedSessionCookie(address: Address): string {
  return setCookie(cookieName(address), "", 0, isHttps(address.baseUrl));
}

/** Returns the `Set-Cookie` header of a cookie that no script reads and other sites do not send with their forms. */
export function setCookie(
  name: string,
  value: string,
  maxAgeSeconds: number,
  isSecure: boolean,
): string {
  const secure = isSecure ? "; Secure" : "";
  return `${name}=${value}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

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
  return themeOf(cookieValues(request, NAME)[0] ?? "") ?? "system";
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
