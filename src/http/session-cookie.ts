import type { AppContext } from "../context";
import { isSecure, type LiveSession, SESSION_LIFETIME_MS, type Sessions } from "../features/auth";
import { SECOND_MS } from "../kernel/time";

/** Cookies are kept as long as a session can last at most; its end is judged by the server. */
const MAX_AGE_SECONDS = SESSION_LIFETIME_MS / SECOND_MS;

/** Number of cookies with the session's name that are read. */
const COOKIES_MAX = 4;

type PublicAddress = Pick<AppContext, "baseUrl">;

/**
 * The cookie that carries a session's token. Behind HTTPS it is `__Host-` and `Secure`, so that no
 * other host and no plain connection can set it; a home network without HTTPS can have neither.
 */
function cookieName({ baseUrl }: PublicAddress): string {
  return isSecure(baseUrl) ? "__Host-allclear" : "allclear_session";
}

/**
 * The live session of the browser that a request comes from, if it has one; `now` in unix ms. For
 * routes that everybody may call; the front door asks by itself where a route declares a role.
 */
export function findCurrentSession(
  address: PublicAddress,
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
 * The first few of all cookies of the name. On plain HTTP another program on the same host can set one
 * for a longer path, which browsers send first: it must not hide the live one.
 */
function sessionTokens(address: PublicAddress, request: Request): string[] {
  const header = request.headers.get("cookie");
  if (header === null) return [];
  const start = `${cookieName(address)}=`;
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .slice(0, COOKIES_MAX)
    .map((pair) => pair.slice(start.length));
}

/** `Set-Cookie` for a session that begins. */
export function sessionCookie(address: PublicAddress, token: string): string {
  return `${cookieName(address)}=${token}; Max-Age=${MAX_AGE_SECONDS}; ${attributes(address)}`;
}

/** `Set-Cookie` for one that has ended. */
export function endedSessionCookie(address: PublicAddress): string {
  return `${cookieName(address)}=; Max-Age=0; ${attributes(address)}`;
}

function attributes({ baseUrl }: PublicAddress): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure(baseUrl) ? "; Secure" : ""}`;
}
