import type { AppContext } from "../context";
import { Problem } from "../errors";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * 403, if a form was sent by another site's page: a browser adds the cookie by itself, so the cookie
 * alone does not say that the user meant it. Browsers say in `Sec-Fetch-Site` who is asking, but not
 * over plain HTTP; there the `Origin` has to be this server, by the name that the request was sent to
 * or by the public address. Who says neither is refused.
 */
export function crossSiteProblem(
  { baseUrl }: Pick<AppContext, "baseUrl">,
  request: Request,
): Problem | undefined {
  if (SAFE_METHODS.has(request.method)) return undefined;
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none" ? undefined : rejection();
  const origin = hostOf(request.headers.get("origin"));
  if (origin === undefined) return rejection();
  return origin === hostOf(request.url) || origin === hostOf(baseUrl) ? undefined : rejection();
}

/** Host and port of a URL; undefined for none, and for what is no http URL, such as `null`. */
function hostOf(url: string | null): string | undefined {
  if (url === null || !/^https?:\/\//i.test(url)) return undefined;
  try {
    return new URL(url).host;
  } catch {
    return undefined;
  }
}

function rejection(): Problem {
  return new Problem(
    "cross_site_request",
    "This form was not sent from a page of this server, so nothing was changed. Open the dashboard and send it from there.",
  );
}
