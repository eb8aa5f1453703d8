import type { Page } from "./pagination";
import type { Admission } from "./admission";
import { matchesAny, versionTag } from "./etag";
import { NO_STORE, Representation } from "./representation";

const JSON_TYPE = "application/json";

/**
 * One resource under `/api/v1`: its version is its entity tag, so it is sent uncompressed. 201 names
 * the resource's place in `location`.
 */
export function sendResource(
  request: Request,
  resource: { version: number },
  created?: { location: string },
): Response {
  const etag = versionTag(resource.version);
  const headers = { "Content-Type": JSON_TYPE, "Cache-Control": NO_STORE, ETag: etag };
  if (created) {
    return Response.json(resource, {
      status: 201,
      headers: { ...headers, Location: created.location },
    });
  }
  const known = request.method === "GET" ? request.headers.get("if-none-match") : null;
  if (known !== null && matchesAny(known, etag)) {
    return new Response(null, { status: 304, headers: { "Cache-Control": NO_STORE, ETag: etag } });
  }
  return Response.json(resource, { headers });
}

/** One page of a list under `/api/v1`. Its entity tag is a hash of the bytes sent. */
export function sendList(
  request: Request,
  admission: Admission,
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
  }).respond(request, admission);
}

/** JSON that belongs to its caller and has no entity tag. */
export function sendUntagged(body: unknown): Response {
  return Response.json(body, {
    headers: { "Content-Type": JSON_TYPE, "Cache-Control": NO_STORE },
  });
}
