import { sha256Hex } from "../base/hash";
import { matchesIfNoneMatch } from "./entity-tags";
import type { RequestContext } from "./request-context";
import { ReusedHeaders, setFixedHeaders } from "./response-headers";

/** Size from which content is compressed. Smaller content gains nothing. */
const COMPRESS_FROM_BYTES = 1_024;
/**
 * Size from which content is compressed with `QUICK_LEVEL` instead of the default level of zlib. A status page
 * with hundreds of components then becomes a seventh larger. With the default level, it takes 1.08 times the
 * processor time after a change (200 components, 1,000 incidents).
 */
const QUICK_FROM_BYTES = 256 * 1_024;
const QUICK_LEVEL = 4;

/** The content in one encoding: plain or compressed. */
interface Variant {
  /** A Blob, since a Response would copy an array, which takes 3.4 to 4.0 µs more per request. */
  body: Blob;
  etag: string;
  headers: ReusedHeaders;
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
  #plain: Variant | undefined;
  #gzip: Variant | undefined;

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
    if (!this.#isCompressible || acceptEncoding === null || !acceptsGzip(acceptEncoding)) {
      this.#plain ??= createVariant(
        requestContext,
        this.bytes,
        this.#options,
        this.#isCompressible,
      );
      return this.#plain;
    }
    this.#gzip ??= createVariant(
      requestContext,
      Bun.gzipSync(
        this.bytes,
        this.bytes.byteLength < QUICK_FROM_BYTES ? {} : { level: QUICK_LEVEL },
      ),
      {
        ...this.#options,
        headers: { ...this.#options.headers, "Content-Encoding": "gzip" },
      },
      true,
    );
    return this.#gzip;
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
  { cdn, shownPageId }: RequestContext,
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
  const isShared = cdn?.share(headers, shownPageId) ?? false;
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
