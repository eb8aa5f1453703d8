import {
  contentTag,
  matchesIfNoneMatch,
  type TagKind,
  type VersionedResource,
  versionTag,
} from "./entity-tags";
import type { Page } from "./pagination";
import { acceptsGzip, NO_STORE, Representation } from "./representation";
import type { RequestContext } from "./request-context";

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

/** Sends the resource that a POST created, in the bytes of the first answer. `location` is a URL. */
export function sendCreated(created: {
  status: number;
  location: string;
  body: string;
  isReplayed: boolean;
  tag: TagKind;
}): Response {
  const resource = JSON.parse(created.body) as Partial<VersionedResource>;
  const headers: Record<string, string> = {
    "Content-Type": JSON_TYPE,
    "Cache-Control": NO_STORE,
    Location: created.location,
  };
  if (hasVersion(resource)) {
    headers["ETag"] =
      created.tag === "version" ? versionTag(resource.version) : contentTag(resource);
  }
  if (created.isReplayed) headers["Idempotency-Replayed"] = "true";
  return new Response(created.body, { status: created.status, headers });
}

function hasVersion(resource: Partial<VersionedResource>): resource is VersionedResource {
  return resource.version !== undefined;
}

/** Sends one page of a list under `/api/v1`. Its entity tag is a hash of the bytes. */
export function sendList(
  request: Request,
  requestContext: RequestContext,
  page: Page<unknown>,
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
