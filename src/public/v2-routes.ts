import { Elysia } from "elysia";
import type { Ctx } from "../context";
import { notFound } from "../base/errors";
import type { ReadRecords } from "../features/incidents/records";
import type { Snapshots } from "../features/status/snapshots";
import type { RequestContext } from "../http/request-context";
import type { RequestContexts } from "../http/elysia";
import { operation } from "../http/operation";
import { PUBLIC_JSON, publicJson, readPublic } from "./answers";
import { V2_DOCUMENTS, type V2Document } from "./v2/documents";

/**
 * Atlassian Statuspage's public JSON: `/api/v2/` for the default page or the page of the custom domain,
 * `/status/{slug}/api/v2/` for every public page. Earlier slugs answer too, without a redirect, as under
 * `/api/v1`.
 */
export function v2Routes(
  ctx: Ctx,
  requestContexts: RequestContexts,
  snapshots: Snapshots,
  readIncidents: ReadRecords,
) {
  const answer = (
    json: ReturnType<typeof publicJson>,
    slug: string,
    request: Request,
    at: RequestContext,
  ) =>
    snapshots.whenReady(slug, at.now, () =>
      json(readPublic(snapshots, slug, at)).respond(request, at),
    );
  const routes = new Elysia().use(requestContexts.plugin);
  for (const document of V2_DOCUMENTS) {
    const json = publicJson((snapshot) =>
      document.make({ snapshot, reader: ctx.db, readIncidents, now: ctx.clock.now() }),
    );
    routes.get(
      `/api/v2/${document.path}`,
      ({ request, requestContext }) => {
        const page = requestContext.domain ?? snapshots.defaultPage();
        if (!page) throw notFound("status page");
        return answer(json, page.slug, request, requestContext);
      },
      declare(document, "Default", "of the default page"),
    );
    routes.get(
      `/status/:slug/api/v2/${document.path}`,
      ({ params, request, requestContext }) => answer(json, params.slug, request, requestContext),
      declare(document, "", "of a page"),
    );
  }
  return routes;
}

function declare({ name, summary, schema }: V2Document, scope: string, page: string) {
  return operation({
    ...PUBLIC_JSON,
    id: `getV2${scope}${name}`,
    summary: `${summary}, ${page}`,
    description: "In the shape of Atlassian Statuspage's public API, version 2.",
    answers: { 200: { description: `${summary}.`, schema } },
  });
}
