import { Type } from "@sinclair/typebox";
import { headerError, hostError, monitorPolicy } from "../../../egress";
import { type FieldError, pointer } from "../../../errors";
import { Nullable, OneOf, Text } from "../../../kernel/schema";
import { type Assertion, AssertionBody, validateAssertions } from "../assertions";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const IP_FAMILIES = ["any", "ipv4", "ipv6"] as const;

const HEADERS_MAX = 30;
const ASSERTIONS_MAX = 30;

/**
 * Request of an HTTP check and its conditions on the response. Null and absent both mean the
 * default.
 */
export interface HttpConfig {
  url: string;
  method?: (typeof METHODS)[number] | null;
  /** Header values by name. Secret: values are never shown. */
  headers?: Record<string, string | null> | null;
  /** Secret. */
  body?: string | null;
  follow_redirects?: boolean | null;
  ip_family?: (typeof IP_FAMILIES)[number] | null;
  verify_tls?: boolean | null;
  assertions?: Assertion[] | null;
  certificate_warning_days?: number | null;
}

const FOLLOW_REDIRECTS = "True to follow up to 10 redirects.";
const VERIFY_TLS = "False accepts any certificate.";
const WARNING_DAYS =
  "Days before the expiry of a certificate from which a check warns, without failing. Default: 14; 0 for never.";

const Url = Text({
  minLength: 1,
  maxLength: 2_000,
  description: "http:// or https://, without user name and password.",
  examples: ["https://example.com/health"],
});
const WarningDays = Type.Integer({ minimum: 0, maximum: 365, description: WARNING_DAYS });

export const HttpConfigBody = Type.Object(
  {
    url: Url,
    method: Type.Optional(OneOf(METHODS, { description: "Default: GET." })),
    headers: Type.Optional(
      Type.Record(Type.String(), Nullable(Text({ maxLength: 4_000 })), {
        maxProperties: HEADERS_MAX,
        description:
          "Headers of each request, by name. Values are secrets and are never returned. In a change, an omitted name keeps its value and null removes it.",
      }),
    ),
    body: Type.Optional(
      Text({
        maxLength: 64_000,
        description: "Body of each request. It is a secret and is never returned.",
      }),
    ),
    follow_redirects: Type.Optional(
      Type.Boolean({ description: `${FOLLOW_REDIRECTS} Default: true.` }),
    ),
    ip_family: Type.Optional(
      OneOf(IP_FAMILIES, { description: "Address family for connections. Default: any." }),
    ),
    verify_tls: Type.Optional(Type.Boolean({ description: `${VERIFY_TLS} Default: true.` })),
    assertions: Type.Optional(
      Type.Array(AssertionBody, {
        maxItems: ASSERTIONS_MAX,
        description:
          "Conditions that the response must all meet. Without one about the status, the status must be 2xx.",
      }),
    ),
    certificate_warning_days: Type.Optional(WarningDays),
  },
  { additionalProperties: false, title: "HttpConfig" },
);

export const HttpConfigShown = Type.Object(
  {
    url: Type.String(),
    method: OneOf(METHODS),
    header_names: Type.Array(Type.String(), {
      description: "Names of the headers. Their values are never returned.",
    }),
    has_body: Type.Boolean({ description: "True if a body is sent. It is never returned." }),
    follow_redirects: Type.Boolean({ description: FOLLOW_REDIRECTS }),
    ip_family: OneOf(IP_FAMILIES),
    verify_tls: Type.Boolean({ description: VERIFY_TLS }),
    assertions: Type.Array(AssertionBody),
    certificate_warning_days: WarningDays,
  },
  { title: "HttpConfigShown" },
);

/** Returns the config with defaults and without removed headers. */
export function completed(config: HttpConfig) {
  return {
    url: config.url,
    method: config.method ?? ("GET" as const),
    headers: config.headers ? givenHeaders(config.headers) : {},
    body: config.body ?? null,
    follow_redirects: config.follow_redirects ?? true,
    ip_family: config.ip_family ?? ("any" as const),
    verify_tls: config.verify_tls ?? true,
    assertions: config.assertions ?? [],
    certificate_warning_days: config.certificate_warning_days ?? 14,
  };
}

function givenHeaders(headers: Record<string, string | null>): Record<string, string> {
  // Assignment would lose a header named __proto__.
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}

export function validateHttp(config: HttpConfig): FieldError[] {
  const url = parseUrl(config.url);
  const faults: FieldError[] = [];
  const problem = urlProblem(config.url, url);
  if (problem) faults.push({ pointer: "#/url", detail: problem });
  faults.push(...validateHeaders(config.headers ?? {}));
  const { method, body } = completed(config);
  if (body !== null && (method === "GET" || method === "HEAD")) {
    faults.push({ pointer: "#/body", detail: `cannot be sent with ${method}` });
  }
  // An invalid URL gets only the error of the URL.
  const isHttps = !url || url.protocol === "https:";
  faults.push(...validateAssertions(config.assertions ?? [], isHttps, "assertions"));
  return faults;
}

export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function urlProblem(text: string, url: URL | undefined): string | undefined {
  // URL parsers drop or escape these characters, so that the shown URL would differ from the used one.
  // oxlint-disable-next-line no-control-regex
  const hasUnsafeCharacters = /[\s\u0000-\u001f\u007f]/.test(text);
  if (hasUnsafeCharacters) return "must not contain white space or control characters";
  if (!url) return "must be a URL, such as https://example.com/health";
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return "must begin with http:// or https://";
  }
  if (url.username !== "" || url.password !== "") {
    return "must not contain a user name or password: send them in an Authorization header";
  }
  const problem = hostError(url.hostname, monitorPolicy);
  return problem?.startsWith("is ") ? `names an address that ${problem}` : problem;
}

function validateHeaders(headers: Record<string, string | null>): FieldError[] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]) => {
    const key = name.toLowerCase();
    const problem = seen.has(key) ? "is named twice" : headerError(name, value ?? "");
    seen.add(key);
    return problem ? [{ pointer: pointer("headers", name), detail: problem }] : [];
  });
}

/**
 * Returns the config after a change. If the URL has another origin, secrets that the change does
 * not name are dropped: otherwise anyone who may change a monitor could have them sent to another
 * server.
 */
export function mergeHttp(before: HttpConfig, change: Partial<HttpConfig>): HttpConfig {
  const kept: HttpConfig = movesAway(before, change)
    ? { ...before, headers: null, body: null }
    : before;
  const merged: HttpConfig = { ...kept, ...change };
  if (change.headers) merged.headers = mergeHeaders(kept.headers ?? {}, change.headers);
  return withoutNulls(merged);
}

/**
 * Returns errors for secrets that a change would drop; the caller must give them again, or null to
 * remove them.
 */
export function validateHttpChange(before: HttpConfig, change: Partial<HttpConfig>): FieldError[] {
  if (!movesAway(before, change)) return [];
  const given = new Set(Object.keys(change.headers ?? {}).map((name) => name.toLowerCase()));
  const areHeadersSettled =
    change.headers === null ||
    Object.keys(before.headers ?? {}).every((name) => given.has(name.toLowerCase()));
  const isBodySettled = change.body !== undefined || before.body == null;
  const detail = "is a secret for another server: enter it again, or set it to null to remove it";
  return [
    ...(areHeadersSettled ? [] : [{ pointer: "#/headers", detail }]),
    ...(isBodySettled ? [] : [{ pointer: "#/body", detail }]),
  ];
}

function movesAway(before: HttpConfig, change: Partial<HttpConfig>): boolean {
  return change.url !== undefined && parseUrl(before.url)?.origin !== parseUrl(change.url)?.origin;
}

/** Merges headers by name, case-insensitively; null removes one. */
function mergeHeaders(
  before: Record<string, string | null>,
  change: Record<string, string | null>,
): Record<string, string | null> {
  const changed = new Set(Object.keys(change).map((name) => name.toLowerCase()));
  const kept = Object.entries(before).filter(([name]) => !changed.has(name.toLowerCase()));
  const given = Object.entries(change).filter(([, value]) => value !== null);
  return Object.fromEntries([...kept, ...given]);
}

function withoutNulls(config: HttpConfig): HttpConfig {
  const { url, ...rest } = config;
  const given = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  return { url, ...Object.fromEntries(given) };
}
