import { sha256Hex } from "../kernel/hash";
import type { RequestContext } from "./request-context";
import { matchesAny } from "./etag";
import { ReusedHeaders, setFixedHeaders } from "./response-headers";

/** Smaller answers do not gain from compression. */
const COMPRESS_FROM_BYTES = 1_024;
/**
 * Larger content is compressed at a quicker level: a page of hundreds of components becomes a seventh
 * larger, and is compressed in two thirds of the time, which its first reader waits.
 */
const QUICK_FROM_BYTES = 256 * 1_024;
const QUICK_LEVEL = 4;

interface Variant {
  /** Its bytes, which a Response shares where it would copy an array. */
  body: Blob;
  etag: string;
  headers: ReusedHeaders;
}

export interface RepresentationOptions {
  mediaType: string;
  cacheControl: string;
  /** True if browsers of other origins may read it. */
  isCrossOrigin?: boolean;
  /** True if the bytes are already compressed by their format, such as pictures. */
  isCompressed?: boolean;
  /** More headers that every answer with these bytes carries. */
  headers?: Record<string, string>;
}

export const NO_STORE = "no-store";
export const PUBLIC_CACHE = "public, max-age=15, stale-while-revalidate=60, stale-if-error=86400";
/** For an asset whose name holds a hash of its bytes. */
export const IMMUTABLE = "public, max-age=31536000, immutable";

/**
 * Bytes made once and sent many times: a document, a page, an asset. It knows its entity tag, one per
 * encoding, keeps its compressed form beside the plain one, and answers `304` by itself.
 */
export class Representation {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #options: RepresentationOptions;
  readonly #isWorthIt: boolean;
  // Each made when somebody first asks for it: of a page that changes often, nobody may ask for both.
  #plain: Variant | undefined;
  #gzip: Variant | undefined;

  constructor(content: string | Uint8Array<ArrayBuffer>, options: RepresentationOptions) {
    this.bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.#options = options;
    this.#isWorthIt = !options.isCompressed && this.bytes.byteLength >= COMPRESS_FROM_BYTES;
  }

  /** The answer to one request: the bytes in the best encoding, or 304 where the caller has them. */
  respond(request: Request, requestContext: RequestContext): Response {
    const chosen = this.#choose(request.headers.get("accept-encoding"));
    const headers = chosen.headers.for(requestContext);
    requestContext.hasRequestHeaders = true;
    const known = request.headers.get("if-none-match");
    if (known !== null && matchesAny(known, chosen.etag)) {
      return new Response(null, { status: 304, headers: withoutContent(headers) });
    }
    return new Response(chosen.body, { headers });
  }

  #choose(acceptEncoding: string | null): Variant {
    if (!this.#isWorthIt || acceptEncoding === null || !acceptsGzip(acceptEncoding)) {
      this.#plain ??= variant(this.bytes, this.#options, this.#isWorthIt);
      return this.#plain;
    }
    this.#gzip ??= variant(
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
 * Representations that live exactly as long as what they are made from: each source is represented
 * once, at its first sending, and forgotten with it.
 */
export function representOnce<Source extends object>(
  make: (source: Source) => Representation,
): (source: Source) => Representation {
  const made = new WeakMap<Source, Representation>();
  return (source) => {
    let representation = made.get(source);
    if (!representation) {
      representation = make(source);
      made.set(source, representation);
    }
    return representation;
  };
}

function variant(
  bytes: Uint8Array<ArrayBuffer>,
  options: RepresentationOptions,
  varies: boolean,
): Variant {
  const etag = `"${sha256Hex(bytes).slice(0, 32)}"`;
  const headers = new Headers({
    "Content-Type": options.mediaType,
    "Cache-Control": options.cacheControl,
    ETag: etag,
    ...(varies ? { Vary: "Accept-Encoding" } : {}),
    ...options.headers,
  });
  setFixedHeaders(headers, options.isCrossOrigin ?? false);
  return { body: new Blob([bytes]), etag, headers: new ReusedHeaders(headers) };
}

function withoutContent(headers: Headers): Headers {
  const rest = new Headers(headers);
  rest.delete("Content-Type");
  rest.delete("Content-Encoding");
  return rest;
}

/**
 * Returns true if an Accept-Encoding header (RFC 9110) accepts gzip, by name or by `*`, and prefers
 * it to no encoding.
 */
export function acceptsGzip(header: string): boolean {
  if (header === "gzip") return true;
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
