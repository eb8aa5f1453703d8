import { ERRORS, Problem, unavailable } from "../base/errors";
import { sha256Hex } from "../base/hash";
import { isResourceFailure } from "../db/errors";
import type { ListPage } from "./pagination";
import {
  acceptsGzip,
  contentTag,
  matchesIfNoneMatch,
  NO_STORE,
  Representation,
  type VersionedResource,
  versionTag,
} from "./representation";
import { type RequestContext, splitUrl } from "./request-context";

const JSON_TYPE = "application/json";

/** Sends one resource, uncompressed, with a content tag. */
export function sendResource(request: Request, resource: VersionedResource): Response {
  return sendTagged(request, resource, contentTag(resource));
}

/**
 * Sends one resource with its version as its entity tag. For answers that change only with the version,
 * and for answers that show a secret once.
 */
export function sendWithVersionTag(request: Request, resource: VersionedResource): Response {
  return sendTagged(request, resource, versionTag(resource.version));
}

function sendTagged(request: Request, resource: VersionedResource, etag: string): Response {
  const headers = { "Content-Type": JSON_TYPE, "Cache-Control": NO_STORE, ETag: etag };
  const ifNoneMatch = request.method === "GET" ? request.headers.get("if-none-match") : null;
  if (ifNoneMatch !== null && matchesIfNoneMatch(ifNoneMatch, etag)) {
    return new Response(null, { status: 304, headers: { "Cache-Control": NO_STORE, ETag: etag } });
  }
  return Response.json(resource, { headers });
}

/** Sends one page of a list under `/api/v1`. Its entity tag is a hash of the bytes. */
export function sendList(
  request: Request,
  requestContext: RequestContext,
  page: ListPage<unknown>,
  self: string,
): Response {
  const headers: Record<string, string> = {};
  if (page.next_cursor !== null) {
    const next = new URL(self);
    next.searchParams.set("cursor", page.next_cursor);
    headers["Link"] = `<${next.href}>; rel="next"`;
  }
  return new Representation(JSON.stringify(page), {
    mediaType: JSON_TYPE,
    cacheControl: NO_STORE,
    headers,
  }).respond(request, requestContext);
}

/** An HTML page, as text or bytes, with its Content-Security-Policy. */
export interface SentPage {
  html: string | Uint8Array<ArrayBuffer>;
  policy: string;
}

/** Sends a page that no cache stores: a screen of the dashboard, a preview or a private status page. */
export function sendHtml(
  request: Request,
  document: SentPage,
  more: { status?: number; headers?: Record<string, string>; isSecret?: boolean } = {},
): Response {
  const headers: Record<string, string> = {
    "Content-Type": "text/html;charset=utf-8",
    "Cache-Control": NO_STORE,
    "Content-Security-Policy": document.policy,
    Vary: "Accept-Encoding",
    ...more.headers,
  };
  const status = more.status ?? 200;
  // The length of a compressed page could reveal its secrets if it also contains text of an attacker.
  // Errors under load are not compressed, since that would cost more than the rest of the answer.
  const isCompressible = status < 429 && !more.isSecret;
  const isCompressed = isCompressible && acceptsGzip(request.headers.get("accept-encoding") ?? "");
  if (!isCompressed) return new Response(document.html, { status, headers });
  headers["Content-Encoding"] = "gzip";
  return new Response(Bun.gzipSync(document.html), { status, headers });
}

/** Returns 308 to a path of the same host, with a lifetime: a slug or the default page may change. */
export function movedTo(path: string, cacheControl: string): Response {
  const headers = { Location: path, "Cache-Control": cacheControl };
  return new Response(null, { status: 308, headers });
}

/** Redirects after a form (303), so that reloading the page does not send the form again. */
export function seeOther(path: string, headers: Record<string, string> = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { ...headers, Location: path, "Cache-Control": NO_STORE },
  });
}

/** Sends JSON without an entity tag, which no cache stores. */
export function sendUntagged(body: unknown): Response {
  return Response.json(body, {
    headers: { "Content-Type": JSON_TYPE, "Cache-Control": NO_STORE },
  });
}

/** Sends a short text that no cache stores. */
export function sendPlainText(
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Response {
  const fixed = { "Content-Type": "text/plain;charset=utf-8", "Cache-Control": NO_STORE };
  return new Response(text, { status, headers: { ...fixed, ...headers } });
}

/** Returns true if a request comes from a browser that shows pages. */
export function acceptsHtml({ headers }: Request): boolean {
  return headers.get("accept")?.includes("text/html") ?? false;
}

/** Converts an error to the Problem that the caller gets. Details for the operator's log stay in `cause`. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isResourceFailure(error)) {
    return unavailable("The database cannot answer now; try again.", 5, error);
  }
  // A problem without a cause is not logged.
  const cause = error === undefined ? new Error("undefined was thrown") : error;
  return new Problem("internal_error", ERRORS.internal_error.example, { cause });
}

/**
 * Returns the result of a write, or the Problem `unavailable` if the database takes no writes now, so that a form
 * can be shown again with what was typed. Throws for other failures.
 */
export async function unlessUnavailable<T>(
  write: Promise<T>,
): Promise<{ result: T } | { unavailable: Problem }> {
  try {
    return { result: await write };
  } catch (error) {
    const failure = toProblem(error);
    if (failure.code !== "unavailable") throw error;
    return { unavailable: failure };
  }
}

/** Returns the listed errors of a problem, and an entry without a pointer that counts the unlisted ones. */
function errorsIn({ fields, unlisted }: Problem): readonly { pointer?: string; detail: string }[] {
  if (unlisted === 0) return fields;
  const more = unlisted.toLocaleString("en");
  const detail = unlisted === 1 ? "1 more field is wrong" : `${more} more fields are wrong`;
  return [...fields, { detail }];
}

/**
 * Returns the answer for a problem (RFC 9457), without the headers of every answer. It names the request by its id,
 * or by its path if a CDN may store the answer.
 */
export function problemResponse(problem: Problem, context: RequestContext): Response {
  const requestId = context.shownRequestId(problem.status);
  const body = {
    type: `/docs/errors#${problem.code}`,
    title: ERRORS[problem.code].title,
    status: problem.status,
    code: problem.code,
    detail: problem.message,
    instance:
      requestId === undefined ? splitUrl(context.request.url)?.path : `urn:request:${requestId}`,
    ...(problem.fields.length > 0 ? { errors: errorsIn(problem) } : {}),
  };
  return new Response(JSON.stringify(body), {
    status: problem.status,
    headers: {
      ...problem.headers,
      "Content-Type": "application/problem+json",
      "Cache-Control": "no-store",
    },
  });
}

/** Header of requests with which the dashboard's script refreshes the open screen. */
const LIVE_HEADER = "allclear-live";
const TAG_LENGTH = 32;

/** Parts that differ in every answer: the bar with the clock, and hidden fields such as form tokens. */
const VOLATILE = /<div class="bar"[^>]*>[\s\S]*?<\/div>|<input type="hidden"[^>]*>/g;

/**
 * Returns true for a request that a script sends without an action of a person. It does not count as a use
 * of the session and does not take pending messages.
 */
export function isLiveRefresh({ method, headers }: Request): boolean {
  return method === "GET" && headers.has(LIVE_HEADER);
}

/** Sends an open screen again, or 304 if only its clock and its hidden fields have changed. */
export function sendLive(request: Request, document: SentPage & { html: string }): Response {
  const etag = `"${sha256Hex(document.html.replace(VOLATILE, "")).slice(0, TAG_LENGTH)}"`;
  const ifNoneMatch = request.headers.get("if-none-match");
  if (ifNoneMatch !== null && matchesIfNoneMatch(ifNoneMatch, etag)) {
    return new Response(null, { status: 304, headers: { "Cache-Control": NO_STORE, ETag: etag } });
  }
  return sendHtml(request, document, { headers: { ETag: etag } });
}
