import { Type } from "@sinclair/typebox";
import type { Snapshot } from "../features/status/snapshot";
import type { Snapshots } from "../features/status/snapshots";
import { type Operation, operation } from "../http/operation";
import { PUBLIC_CACHE } from "../http/cdn";
import { Representation } from "../http/representation";
import type { RequestContext } from "../http/request-context";
import { MOVED, PUBLIC_JSON, readPublic } from "./answers";

/** Returns the representation of a file, or a promise while it is created. */
export type RepresentationOf = (snapshot: Snapshot) => Representation | Promise<Representation>;

export function respond(
  representation: Representation | Promise<Representation>,
  request: Request,
  requestContext: RequestContext,
): Response | Promise<Response> {
  if (representation instanceof Representation) {
    return representation.respond(request, requestContext);
  }
  return representation.then(
    (made) => made.respond(request, requestContext),
    (error: unknown) => {
      // The page may have become private meanwhile.
      requestContext.shownPageId = undefined;
      throw error;
    },
  );
}

/** Request for a file of a page. */
export interface Call {
  params: { slug: string };
  request: Request;
  requestContext: RequestContext;
}

/**
 * Returns the handler of a file of a public page, such as `feed.atom`. An earlier slug redirects. Throws
 * `not_found` for a private page.
 */
export function createFileServer(snapshots: Snapshots) {
  return (file: string, representationOf: RepresentationOf) =>
    ({ params, request, requestContext }: Call) =>
      snapshots.whenReady(params.slug, requestContext.now, () => {
        const snapshot = readPublic(snapshots, params.slug, requestContext);
        const { slug } = snapshot.document.page;
        return slug === params.slug
          ? respond(representationOf(snapshot), request, requestContext)
          : moved(slug, file);
      });
}

/** Declares the route of a file. */
export function document(
  id: string,
  summary: string,
  mediaType: string,
  description: string,
  more: Operation["answers"] = { 308: MOVED },
) {
  const answer = { description: "The document.", schema: Type.String(), mediaType };
  return operation({
    ...PUBLIC_JSON,
    id,
    summary,
    description,
    answers: { 200: answer, ...more },
  });
}

/** Returns a file that every origin may read and caches may store. */
export function represent(
  content: string,
  mediaType: string,
  {
    headers = {},
    cacheControl = PUBLIC_CACHE,
  }: { headers?: Record<string, string>; cacheControl?: string } = {},
) {
  return new Representation(content, {
    mediaType: `${mediaType};charset=utf-8`,
    cacheControl,
    isCrossOrigin: true,
    headers,
  });
}

/** Redirects from an earlier slug, with a cache limit, since the slug may be used again. */
export function moved(slug: string, file: string): Response {
  const headers = { Location: `/status/${slug}/${file}`, "Cache-Control": PUBLIC_CACHE };
  return new Response(null, { status: 308, headers });
}
