import { Problem } from "../base/errors";
import { sha256Hex } from "../base/hash";
import type { Ctx } from "../context";
import type { PolicyName } from "../features/limits/limiter";
import { type DomainPage, hostNameOf } from "../features/pages/addresses";
import type { Operation } from "./operation";
import type { RequestContext } from "./request-context";

/** Size from which content is compressed. Smaller content gains nothing. */
const COMPRESS_FROM_BYTES = 1_024;
/**
 * Size from which content is compressed by zlib at `QUICK_LEVEL`, which does not hold the event loop as long. A status page
 * with hundreds of components then becomes a seventh larger. With the default level, it takes 1.08 times the
 * processor time after a change (200 components, 1,000 incidents).
 */
const QUICK_BYTES = 256 * 1_024;
const QUICK_LEVEL = 4;

/** The content in one encoding: plain or compressed. */
interface Variant {
  /** A Blob, since a Response would copy an array, which takes 3.4 to 4.0 µs more per request. */
  body: Blob;
  etag: string;
  headers: ReusedHeaders;
}

/** Variants of one content. */
interface Variants {
  plain?: Variant;
  gzip?: Variant;
}

interface RepresentationOptions {
  mediaType: string;
  cacheControl: string;
  /** True if scripts of other origins may read the answer (CORS). */
  isCrossOrigin?: boolean;
  /** True if the bytes are already compressed by their format, such as pictures. */
  isCompressed?: boolean;
  /** Additional headers of every answer. */
  headers?: Record<string, string>;
}

/** `Cache-Control` of answers that must not be stored. */
export const NO_STORE = "no-store";

/**
 * Content that is built once and sent many times, such as a status page or an asset. It has a plain and a
 * compressed variant, each with its own entity tag.
 */
export class Representation {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #options: RepresentationOptions;
  readonly #isCompressible: boolean;
  // Created at first use, since a page may change before one of them is requested.
  readonly #open: Variants = {};
  readonly #sealed: Variants = {};

  constructor(content: string | Uint8Array<ArrayBuffer>, options: RepresentationOptions) {
    this.bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.#options = options;
    this.#isCompressible = !options.isCompressed && this.bytes.byteLength >= COMPRESS_FROM_BYTES;
  }

  /** Returns the content in the best encoding for the request, or 304 if `If-None-Match` has its tag. */
  respond(request: Request, requestContext: RequestContext): Response {
    const variant = this.#variantFor(request.headers.get("accept-encoding"), requestContext);
    const headers = variant.headers.for(requestContext);
    // So that the gateway does not set them again.
    requestContext.hasRequestHeaders = true;
    const ifNoneMatch = request.headers.get("if-none-match");
    if (ifNoneMatch !== null && matchesIfNoneMatch(ifNoneMatch, variant.etag)) {
      return new Response(null, { status: 304, headers: withoutContent(headers) });
    }
    return new Response(variant.body, { headers });
  }

  #variantFor(acceptEncoding: string | null, requestContext: RequestContext): Variant {
    const variants = requestContext.isSealed ? this.#sealed : this.#open;
    if (!this.#isCompressible || acceptEncoding === null || !acceptsGzip(acceptEncoding)) {
      variants.plain ??= createVariant(
        requestContext,
        this.bytes,
        this.#options,
        this.#isCompressible,
      );
      return variants.plain;
    }
    variants.gzip ??= createVariant(
      requestContext,
      // libdeflate takes three quarters of the time of zlib for a status page of 120 kB, which becomes 4 % smaller.
      Bun.gzipSync(
        this.bytes,
        this.bytes.byteLength < QUICK_BYTES ? { library: "libdeflate" } : { level: QUICK_LEVEL },
      ),
      {
        ...this.#options,
        headers: { ...this.#options.headers, "Content-Encoding": "gzip" },
      },
      true,
    );
    return variants.gzip;
  }
}

/**
 * Returns a function that creates the representation of a source object at its first call and returns the same
 * one later. It is freed with its source. Without it, an unchanged status document takes 6 times the processor
 * time.
 */
export function representOnce<Source extends object>(
  create: (source: Source) => Representation,
): (source: Source) => Representation {
  const representations = new WeakMap<Source, Representation>();
  return (source) => {
    let representation = representations.get(source);
    if (!representation) {
      representation = create(source);
      representations.set(source, representation);
    }
    return representation;
  };
}

/** Creates a variant at the first request for it. Content of a page is requested as such by each request. */
function createVariant(
  { cdn, shownPageId, isSealed }: RequestContext,
  bytes: Uint8Array<ArrayBuffer>,
  options: RepresentationOptions,
  variesByEncoding: boolean,
): Variant {
  const etag = `"${sha256Hex(bytes).slice(0, 32)}"`;
  const headers = new Headers({
    "Content-Type": options.mediaType,
    "Cache-Control": options.cacheControl,
    ETag: etag,
    ...(variesByEncoding ? { Vary: "Accept-Encoding" } : {}),
    ...options.headers,
  });
  setFixedHeaders(headers, { isCrossOrigin: options.isCrossOrigin ?? false });
  if (isSealed) seal(headers, false);
  const isShared = !isSealed && (cdn?.share(headers, shownPageId) ?? false);
  return { body: new Blob([bytes]), etag, headers: new ReusedHeaders(headers, isShared) };
}

function withoutContent(headers: Headers): Headers {
  const rest = new Headers(headers);
  rest.delete("Content-Type");
  rest.delete("Content-Encoding");
  return rest;
}

/** Accept-Encoding header that names gzip or `*`. Weights are ignored. */
const NAMES_GZIP = /(^|,)\s*((x-)?gzip|\*)\s*(,|$)/i;

/**
 * Returns true if an Accept-Encoding header (RFC 9110) accepts gzip, by name or by `*`, and prefers
 * it to no encoding. Headers without weights, which browsers send, take a quicker way: reading weights costs
 * 1.0 to 1.4 µs per request (of 13 to 16 µs).
 */
export function acceptsGzip(header: string): boolean {
  if (!header.includes(";")) return NAMES_GZIP.test(header);
  const weights = new Map(
    header
      .toLowerCase()
      .split(",")
      .map((part) => {
        const [coding = "", ...parameters] = part.split(";").map((piece) => piece.trim());
        const weight = parameters.find((parameter) => parameter.startsWith("q="));
        return [coding, weight === undefined ? 1 : Number(weight.slice(2))];
      }),
  );
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzip > 0 && gzip >= (weights.get("identity") ?? 0);
}

const EXPOSED =
  "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id";

const AS_OF = "Allclear-As-Of";
const HSTS = "Strict-Transport-Security";
/** Lifetime of HSTS by default, in seconds: a year. */
const HSTS_SECONDS = 31_536_000;

/** Matches public addresses whose host may serve other programs at other ports. */
const SHARED_HOST = /:\d+$|[/.]localhost$/;

/**
 * Returns the function that decides about Strict-Transport-Security. It is sent on the host of an https public address
 * and on custom domains, which have its scheme, but not on other names of the machine. It is never sent for their
 * subdomains. Without the option, localhost and a public address with a port get none, since it would hold for all
 * ports of the host.
 */
export function createHsts(ctx: Ctx) {
  const { hsts } = ctx.config;
  let base = "";
  let host = "";
  let value: string | undefined;
  return (url: string, domain: DomainPage | undefined): string | undefined => {
    if (ctx.baseUrl !== base) {
      base = ctx.baseUrl;
      host = hostNameOf(base);
      const seconds = hsts ?? (SHARED_HOST.test(base) ? "off" : HSTS_SECONDS);
      value = base.startsWith("https:") && seconds !== "off" ? `max-age=${seconds}` : undefined;
    }
    if (value === undefined) return undefined;
    return domain !== undefined || hostNameOf(url) === host ? value : undefined;
  };
}

/**
 * Headers of one answer: the id of the request, the state of the charged bucket, and at a replica the time of
 * its data. The bucket is described as draft-ietf-httpapi-ratelimit-headers says, and by the older X-RateLimit
 * headers, whose Reset is in epoch seconds.
 *
 * A representation reuses one object for all its answers. `Response` copies it at once, so answers do not
 * mix. Unchanged values are not set again. Either all answers of one object are charged or none (files), so
 * no answer keeps the bucket of another caller. Without reuse, a request takes 1.1 to 1.6 µs more (of 13 to
 * 16 µs).
 */
class ReusedHeaders {
  readonly #headers: Headers;
  readonly #isShared: boolean;
  #policy: PolicyName | undefined;
  #limit = 0;
  #resetAt = 0;
  #asOf: string | undefined;
  #hsts: string | undefined;

  /** `isShared`: a CDN sends the answers to all visitors, so they have no headers of one request. */
  constructor(headers: Headers, isShared = false) {
    this.#headers = headers;
    this.#isShared = isShared;
  }

  /** Returns the headers of one answer, valid until the next call. */
  for({ requestId, charge, now, asOf, hsts }: RequestContext): Headers {
    const headers = this.#headers;
    if (hsts !== this.#hsts) {
      this.#hsts = hsts;
      if (hsts === undefined) headers.delete(HSTS);
      else headers.set(HSTS, hsts);
    }
    if (asOf !== this.#asOf) {
      this.#asOf = asOf;
      if (asOf === undefined) headers.delete(AS_OF);
      else headers.set(AS_OF, asOf);
    }
    if (this.#isShared) return headers;
    headers.set("X-Request-Id", requestId);
    if (!charge) return headers;
    const { policy, decision } = charge;
    if (policy !== this.#policy || decision.limit !== this.#limit) {
      this.#policy = policy;
      this.#limit = decision.limit;
      headers.set("RateLimit-Policy", `"${policy}";q=${decision.limit};w=60`);
      headers.set("X-RateLimit-Limit", String(decision.limit));
    }
    const remaining = String(decision.remaining);
    headers.set("RateLimit", `"${policy}";r=${remaining};t=${decision.refillInSeconds}`);
    headers.set("X-RateLimit-Remaining", remaining);
    const resetAt = Math.ceil(now / 1_000) + decision.refillInSeconds;
    if (resetAt !== this.#resetAt) {
      this.#resetAt = resetAt;
      headers.set("X-RateLimit-Reset", String(resetAt));
    }
    return headers;
  }
}

/** Sets the headers of `ReusedHeaders` for one answer. */
export function setRequestHeaders(
  headers: Headers,
  requestContext: RequestContext,
  isShared: boolean,
): void {
  new ReusedHeaders(headers, isShared).for(requestContext);
}

/** Sets the `Date` of an answer to HEAD, in unix ms. The runtime sets it for all other methods. */
export function setDateOfHead({ method }: Request, answer: Response, now: number): void {
  if (method === "HEAD") answer.headers.set("Date", new Date(now).toUTCString());
}

/** Declarations of a route on which the fixed headers of its answers depend. */
type HeaderDeclarations = Partial<Pick<Operation, "access" | "isCrossOrigin">>;

/** Sets the headers that are the same for all requests to a route. The token of a link is sent to no other page. */
export function setFixedHeaders(
  headers: Headers,
  { access, isCrossOrigin = false }: HeaderDeclarations = {},
): void {
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Referrer-Policy", access?.kind === "link" ? "no-referrer" : "same-origin");
  if (access?.kind === "link") headers.set("X-Robots-Tag", "noindex");
  if (isCrossOrigin) {
    headers.set("Access-Control-Allow-Origin", "*");
    headers.set("Access-Control-Expose-Headers", EXPOSED);
  }
}

const RESOURCE_POLICY = "Cross-Origin-Resource-Policy";

/**
 * Seals an answer about a private page: no cache stores it, no script of another origin reads it, no search engine lists
 * it, and other sites do not learn its address. A path with a token is never sent as a referrer.
 */
export function seal(headers: Headers, hasToken: boolean): void {
  headers.set("Cache-Control", NO_STORE);
  headers.set("X-Robots-Tag", "noindex");
  headers.set("Referrer-Policy", hasToken ? "no-referrer" : "same-origin");
  // Other sites could measure pictures to learn that the visitor's network is admitted. Documents below a link are made
  // for other sites, so they stay readable.
  if (hasToken) headers.delete(RESOURCE_POLICY);
  else headers.set(RESOURCE_POLICY, "same-origin");
  headers.delete("Access-Control-Allow-Origin");
  headers.delete("Access-Control-Expose-Headers");
  headers.delete("Surrogate-Key");
  headers.delete("Cache-Tag");
}

/** Kind of entity tag: made by `versionTag` or by `contentTag`. */
export type TagKind = "version" | "content";

/** A resource as the API shows it. A change of its updates raises its version, too. */
export interface VersionedResource {
  version: number;
  updates?: unknown;
}

/** Returns the entity tag of a resource that changes only with its version. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/**
 * Returns the entity tag of a resource that also shows facts that its version does not cover, such as its
 * page's slug: the version and a hash of all fields except the updates.
 */
export function contentTag(resource: VersionedResource): string {
  const { updates: _, ...shown } = resource;
  return `"${shown.version}-${sha256Hex(JSON.stringify(shown)).slice(0, 16)}"`;
}

/** Hash at the end of a tag from `contentTag`. */
const CONTENT_HASH = /-[0-9a-f]{16}"$/;

/** Returns true if an If-None-Match header names a tag or `*`. The comparison is weak (RFC 9110). */
export function matchesIfNoneMatch(header: string, etag: string): boolean {
  return tagsIn(header).some((tag) => tag === "*" || tag === etag || tag === `W/${etag}`);
}

/**
 * Throws `precondition_failed` unless If-Match names the version. Called in the transaction of the change.
 * Tags of both kinds match by their version. A weak tag matches as its strong twin: proxies that compress weaken
 * tags, and the version in them is exact.
 */
export function requireIfMatch(header: string | null, version: number): void {
  if (header === null) return;
  const etag = versionTag(version);
  const versions = tagsIn(header).map((tag) =>
    tag.replace(/^W\/(?=")/, "").replace(CONTENT_HASH, '"'),
  );
  if (versions.some((tag) => tag === "*" || tag === etag)) return;
  throw new Problem(
    "precondition_failed",
    `The resource is at version ${etag}, not at the version that If-Match names.`,
    { headers: { ETag: etag } },
  );
}

function tagsIn(header: string): string[] {
  return header.split(",").map((tag) => tag.trim());
}
