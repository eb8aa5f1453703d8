import { Type } from "@sinclair/typebox";
import { notFound } from "../../base/errors";
import { NEWEST } from "../../base/ids";
import type { Ctx } from "../../context";
import { sendList } from "../../http/answers";
import { declareRoutes } from "../../http/elysia";
import { operation, scope } from "../../http/operation";
import { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { NO_STORE, Representation, representOnce } from "../../http/representation";
import { listComponentsOfPage } from "../components/store";
import { listOpenImpacts } from "../incidents/store";
import { listPagesBefore } from "../pages/store";
import { presentPage } from "../pages/wire";
import { headlineOf } from "./rules";
import type { Snapshot, Snapshots } from "./snapshots";
import { PageStatus, StatusDocument } from "./wire";

/** `GET /api/v1/status` and `GET /api/v1/status/{slug}`. */
export function statusRoutes(ctx: Ctx, snapshots: Snapshots) {
  const jsonOf = representOnce(
    (snapshot: Snapshot) =>
      new Representation(JSON.stringify(snapshot.document), {
        mediaType: "application/json",
        cacheControl: NO_STORE,
      }),
  );

  return declareRoutes("/api/v1")
    .get(
      "/status/:slug",
      ({ params: { slug }, request, requestContext }) =>
        snapshots.whenReady(slug, requestContext.now, () => {
          const snapshot = snapshots.read(slug, requestContext.now);
          if (!snapshot) throw notFound("status page");
          return jsonOf(snapshot).respond(request, requestContext);
        }),
      operation({
        id: "getStatus",
        summary: "Read a status page",
        description: "Everything that the page shows. Earlier slugs of the page work too.",
        tag: "Status",
        access: scope("read:status"),
        answers: { 200: { description: "The page's status document.", schema: StatusDocument } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .get(
      "/status",
      ({ query, request, requestContext }) => {
        const { limit, after = NEWEST } = readPageRequest(query, "string");
        const rows = listPagesBefore(ctx.db, { before: after, limit: limit + 1 });
        const page = toPage(
          rows,
          limit,
          (row) => row.id,
          (row) => ({
            page: presentPage(row, ctx.baseUrl, ctx.clock.now()),
            status: headlineOf(
              listComponentsOfPage(ctx.db, { pageId: row.id }).map((component) => component.status),
              listOpenImpacts(ctx.db, { pageId: row.id }).map(({ impact }) => impact),
            ),
          }),
        );
        const self = listAddress(`${ctx.baseUrl}/api/v1/status`, query, limit);
        return sendList(request, requestContext, page, self);
      },
      {
        query: Type.Object(PageQuery, { additionalProperties: false }),
        ...operation({
          id: "listStatus",
          summary: "List the status pages",
          description: "All pages, including private ones, with their headlines, newest first.",
          tag: "Status",
          access: scope("read:status"),
          answers: { 200: { description: "A page of the list.", schema: ListOf(PageStatus) } },
          conditional: "etag",
        }),
      },
    );
}
