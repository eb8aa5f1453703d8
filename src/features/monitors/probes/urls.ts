import { headerError } from "../../../egress/http-headers";
import { hostError, monitorPolicy } from "../../../egress/policy";
import { type FieldError, pointer } from "../../../base/errors";
import { Text } from "../../../base/schema";

/* Parts of the configs that name a URL. */

const LONGEST_TARGET = 200;

type Scheme = "http" | "https" | "ws" | "wss";

export const HTTP_SCHEMES = ["http", "https"] as const;

/** Returns the schema of a URL with one of two schemes. */
export function Url(schemes: readonly [Scheme, Scheme], example: string) {
  return Text({
    minLength: 1,
    maxLength: 2_000,
    description: `${listed(schemes)}, without user name and password.`,
    examples: [example],
  });
}

export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Returns the error of a URL; undefined for a valid one. `advice` says where credentials belong. */
export function urlError(
  text: string,
  schemes: readonly [Scheme, Scheme],
  advice = "send them in an Authorization header",
): string | undefined {
  const url = parseUrl(text);
  // URL parsers drop or escape these characters, so that the shown URL would differ from the used one.
  // oxlint-disable-next-line no-control-regex
  const hasUnsafeCharacters = /[\s\u0000-\u001f\u007f]/.test(text);
  if (hasUnsafeCharacters) return "must not contain white space or control characters";
  if (!url) return `must be a URL, such as ${schemes[1]}://example.com/health`;
  if (!schemes.some((scheme) => url.protocol === `${scheme}:`)) {
    return `must begin with ${listed(schemes)}`;
  }
  if (url.username !== "" || url.password !== "") {
    return `must not contain a user name or password: ${advice}`;
  }
  const problem = hostError(url.hostname, monitorPolicy);
  return problem?.startsWith("is ") ? `names an address that ${problem}` : problem;
}

function listed(schemes: readonly Scheme[]): string {
  return schemes.map((scheme) => `${scheme}://`).join(" or ");
}

/** Returns errors of headers. `hostAdvice` is that of a header Host. */
export function validateHeaders(
  headers: Readonly<Record<string, string | null>>,
  hostAdvice?: string,
): FieldError[] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]) => {
    const key = name.toLowerCase();
    const ofHost = key === "host" ? hostAdvice : undefined;
    const problem = seen.has(key) ? "is named twice" : (ofHost ?? headerError(name, value ?? ""));
    seen.add(key);
    return problem ? [{ pointer: pointer("headers", name), detail: problem }] : [];
  });
}

/** Returns host and path of a URL for lists, without its query, which may hold a secret. */
export function urlTarget({ url }: { url: string }): string {
  const parsed = parseUrl(url);
  if (!parsed) return "";
  const path = parsed.pathname === "/" ? "" : parsed.pathname;
  return `${parsed.host}${path}`.slice(0, LONGEST_TARGET);
}
