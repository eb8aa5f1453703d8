import { Type } from "@sinclair/typebox";
import { NEWEST } from "../../base/ids";
import type { Ctx } from "../../context";
import { sendList } from "../../http/answers";
import { declareRoutes } from "../../http/elysia";
import { operation, scope } from "../../http/operation";
import { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { PageFilter, readPageFilter } from "../pages/pages";
import { listTemplates } from "./templates";
import { IncidentTemplate, presentTemplate } from "./wire";

/** `/api/v1/incident-templates`: for programs that open incidents. The dashboard and `apply` write them. */
export function incidentTemplateRoutes(ctx: Ctx) {
  return declareRoutes("/api/v1").get(
    "/incident-templates",
    ({ query, request, requestContext }) => {
      const { limit, after: before = NEWEST } = readPageRequest(query, "string");
      const pageId = readPageFilter(ctx.db, query) ?? null;
      const records = listTemplates(ctx.db, { pageId, before, limit: limit + 1 });
      const page = toPage(records, limit, ({ row }) => row.id, presentTemplate);
      const self = listAddress(`${ctx.baseUrl}/api/v1/incident-templates`, query, limit);
      return sendList(request, requestContext, page, self);
    },
    {
      query: Type.Object({ ...PageFilter, ...PageQuery }, { additionalProperties: false }),
      ...operation({
        id: "listIncidentTemplates",
        summary: "List incident templates",
        description:
          "The templates that users wrote, newest first. With `page`, those of this page and those for all pages. To use one, send its `title` as `name`, and its other fields as they are, to `POST /api/v1/incidents`.",
        tag: "Incidents",
        access: scope("write:incidents"),
        answers: { 200: { description: "A page of the list.", schema: ListOf(IncidentTemplate) } },
        conditional: "etag",
      }),
    },
  );
}
