import { headerError } from "../../../egress/http-headers";
import type { HttpAnswer } from "../../../egress/model";
import { lazy } from "../../../base/lazy";

/** Cookies that a check takes, at most: as many as browsers keep for a site. */
const COOKIES_MAX = 180;

// Loaded with the first cookie of a redirect: its list of public suffixes takes some ms to read.
const library = lazy(() => require("tough-cookie") as typeof import("tough-cookie"));

/** Cookies that one check receives while it follows redirects. They are sent as browsers would (RFC 6265). */
export class CheckCookies {
  #jar: import("tough-cookie").CookieJar | undefined;
  #taken = 0;

  /** Takes the cookies of an answer. */
  take({ lines = [] }: Pick<HttpAnswer, "lines">, url: URL): void {
    const at = withoutFinalDot(url);
    for (const [name, value] of lines) {
      if (name !== "set-cookie" || this.#taken === COOKIES_MAX) continue;
      if (headerError("Cookie", value) !== undefined) continue;
      this.#taken += 1;
      const { Cookie, CookieJar, getPublicSuffix } = library();
      const cookie = Cookie.parse(value, LOOSE);
      if (!cookie) continue;
      // For browsers, the domain of a public suffix means its host alone. A name without dots counts as one.
      const isOfHost = cookie.domain === at.hostname;
      if (isOfHost && getPublicSuffix(at.hostname, ANY_NAME) === undefined) cookie.domain = null;
      this.#jar ??= new CookieJar(undefined, { looseMode: LOOSE.loose });
      this.#jar.setCookieSync(cookie, at, { ignoreError: true });
    }
  }

  /** Returns headers with the cookies for a URL. One of a given Cookie header stays unless it was set again. */
  addTo(headers: Readonly<Record<string, string>>, url: URL): Readonly<Record<string, string>> {
    const received = this.#jar?.getCookieStringSync(withoutFinalDot(url)) ?? "";
    if (received === "") return headers;
    const others = Object.entries(headers).filter(([name]) => !isCookie(name));
    const own = Object.entries(headers).find(([name]) => isCookie(name))?.[1] ?? "";
    const names = new Set(received.split("; ").map(nameOf));
    const kept = own.split(";").filter((pair) => pair.trim() !== "" && !names.has(nameOf(pair)));
    const cookies = [...kept.map((pair) => pair.trim()), received].join("; ");
    return Object.fromEntries([...others, ["Cookie", cookies]]);
  }
}

/** Browsers take cookies without a name. */
const LOOSE = { loose: true };
/** Allows names such as `shop.test`, which are for special uses. */
const ANY_NAME = { allowSpecialUseDomain: true, ignoreError: true };

/** Returns a URL whose host has no final dot, which cookies do not distinguish. */
function withoutFinalDot(url: URL): URL {
  if (!url.hostname.endsWith(".")) return url;
  const at = new URL(url);
  at.hostname = url.hostname.slice(0, -1);
  return at;
}

function isCookie(name: string): boolean {
  return name.toLowerCase() === "cookie";
}

function nameOf(pair: string): string {
  return (pair.split("=", 1)[0] ?? "").trim();
}
