import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { AppContext } from "../../context";
import { conflict } from "../../errors";
import {
  type RequestContexts,
  ListOf,
  noBody,
  operation,
  PageQuery,
  readPageRequest,
  scope,
  sendList,
  sendUntagged,
  toPage,
} from "../../http";
import { listChecksBefore } from "./checks-store";
import { Check, presentCheck } from "./model";
import type { Monitoring } from "./monitoring";
import { getMonitorByReference } from "./records";

const ListQuery = Type.Object(PageQuery, { additionalProperties: false });

const DECLARED = { tag: "Monitors", access: scope("manage:monitors") };

/** `/api/v1/monitors/{id}/check` and `/checks`: what is found, now and so far. */
export function checkRoutes(
  ctx: AppContext,
  requestContexts: RequestContexts,
  monitoring: Monitoring,
) {
  return new Elysia()
    .use(requestContexts.plugin)
    .post(
      "/monitors/:id/check",
      async ({ params }) => {
        const { row } = getMonitorByReference(ctx.db, params.id);
        if (row.type === "push") {
          throw conflict("A push monitor cannot be checked: its job calls by itself.");
        }
        if (row.paused) throw conflict("The monitor is paused. Resume it to have it checked.");
        return sendUntagged(presentCheck(await monitoring.checkNow(row.id)));
      },
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "checkMonitor",
          summary: "Check now",
          description:
            "Runs a check, whether it is due or not, and answers with its result, which counts as any other. That may take as long as the monitor's timeout.",
          answers: { 200: { description: "The result.", schema: Check } },
          errors: ["not_found", "conflict"],
        }),
      },
    )
    .get(
      "/monitors/:id/checks",
      ({ params, query, request, requestContext }) => {
        const { row } = getMonitorByReference(ctx.db, params.id);
        const { limit, after: before = Number.MAX_SAFE_INTEGER } = readPageRequest(query, "number");
        const rows = listChecksBefore(ctx.db, { monitorNum: row.num, before, limit: limit + 1 });
        const page = toPage(rows, limit, ({ at }) => at, presentCheck);
        const self = `${ctx.baseUrl}/api/v1/monitors/${row.id}/checks?limit=${limit}`;
        return sendList(request, requestContext, page, self);
      },
      {
        query: ListQuery,
        ...operation({
          ...DECLARED,
          id: "listMonitorChecks",
          summary: "List what checks found",
          description:
            "Newest first, as long as single results are kept: 48 hours unless the server is set otherwise.",
          answers: { 200: { description: "A page of the list.", schema: ListOf(Check) } },
          errors: ["not_found"],
          conditional: "etag",
        }),
      },
    );
}
