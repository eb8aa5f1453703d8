import type { AppContext } from "../context";
import type { LiveSession, Sessions } from "../features/auth";

/** Cookies are kept as long as a session can last at most; its end is judged by the server. */
const MAX_AGE_SECONDS = 14 * 24 * 60 * 60;

type PublicAddress = Pick<AppContext, "baseUrl">;

/**
 * The cookie that carries a session's token. Behind HTTPS it is `__Host-` and `Secure`, so that no
 * other host and no plain connection can set it; a home network without HTTPS can have neither.
 */
function cookieName({ baseUrl }: PublicAddress): string {
  return isSecure(baseUrl) ? "__Host-allclear" : "allclear_session";
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}

/**
 * The live session of the browser that a request comes from, if it has one; `now` in unix ms. For
 * routes that everybody may call; the front door asks by itself where a route declares a role.
 */
export function presentSession(
  address: PublicAddress,
  sessions: Sessions,
  request: Request,
  now: number,
): LiveSession | undefined {
  const token = sessionToken(address, request);
  return token === undefined ? undefined : sessions.find(token, now);
}

function sessionToken(address: PublicAddress, request: Request): string | undefined {
  const header = request.headers.get("cookie");
  if (header === null) return undefined;
  const start = `${cookieName(address)}=`;
  const found = header
    .split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(start));
  return found?.slice(start.length) || undefined;
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
