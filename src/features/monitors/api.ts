import { Type } from "@sinclair/typebox";
import { MonitorGroupFilter, TagFilter } from "../../base/tags";
import type { Ctx } from "../../context";
import { sendList, sendResource } from "../../http/answers";
import { createChanges, createOnce } from "../../http/changes";
import { declareRoutes } from "../../http/elysia";
import { jsonBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { actorOf } from "../../http/request-context";
import { ComponentFilter, readComponentFilter } from "../components/references";
import { PageFilter, readPageFilter } from "../pages/filter";
import { createMonitorErrors, updateMonitorErrors } from "./body-errors";
import { heartbeatRoutes } from "./heartbeat-routes";
import type { Monitoring } from "./monitoring";
import { createMonitor } from "./monitors";
import { getMonitorByReference, listMonitors } from "./records";
import { deleteMonitor, updateMonitor } from "./update";
import { verbRoutes } from "./verb-routes";
import {
  concealMonitor,
  CreatedMonitor,
  CreateMonitorBody,
  Monitor,
  MonitorStateText,
  MonitorTypeText,
  presentMonitor,
  revealMonitor,
  UpdateMonitorBody,
} from "./wire";

const ListQuery = Type.Object(
  {
    ...PageFilter,
    ...ComponentFilter,
    state: Type.Optional(MonitorStateText),
    type: Type.Optional(MonitorTypeText),
    tag: Type.Optional(TagFilter),
    group: Type.Optional(MonitorGroupFilter),
    ...PageQuery,
  },
  { additionalProperties: false },
);

const DECLARED = { tag: "Monitors", access: scope("manage:monitors") };

/** `/api/v1/monitors` and `/api/v1/heartbeats`. */
export function monitorRoutes(ctx: Ctx, monitoring: Monitoring) {
  const { change, remove } = createChanges(ctx, (tx, id) => getMonitorByReference(tx, id).row);
  return declareRoutes("/api/v1")
    .use(verbRoutes(ctx, monitoring))
    .use(heartbeatRoutes(monitoring))
    .get(
      "/monitors",
      ({ query, request, requestContext }) => {
        const { limit, after: before } = readPageRequest(query, "string");
        const { state, type, tag, group } = query;
        const records = listMonitors(ctx.db, {
          pageId: readPageFilter(ctx.db, query),
          componentId: readComponentFilter(ctx.db, query),
          state,
          type,
          tag,
          group,
          before,
          limit: limit + 1,
        });
        const page = toPage(records, limit, ({ row }) => row.id, presentMonitor);
        const self = listAddress(`${ctx.baseUrl}/api/v1/monitors`, query, limit);
        return sendList(request, requestContext, page, self);
      },
      {
        query: ListQuery,
        ...operation({
          ...DECLARED,
          id: "listMonitors",
          summary: "List monitors",
          description: "Newest first. `page` matches the monitors of any component of that page.",
          answers: { 200: { description: "A page of the list.", schema: ListOf(Monitor) } },
          conditional: "etag",
        }),
      },
    )
    .post(
      "/monitors",
      ({ body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext, tag: "version" }, (tx) => {
          const { record, token } = createMonitor(ctx, tx, body, actorOf(requestContext));
          const resource = revealMonitor(record, token, ctx.baseUrl);
          const location = `/api/v1/monitors/${record.row.id}`;
          return { resource, location, replay: concealMonitor(resource) };
        }),
      {
        ...jsonBody(CreateMonitorBody, (valid, { isInvalid }) =>
          createMonitorErrors(ctx.db, valid, isInvalid),
        ),
        ...operation({
          ...DECLARED,
          id: "createMonitor",
          summary: "Create a monitor",
          description:
            "It is checked at once. Header values and bodies are never returned. Only this answer and that of a rotation show the `token` of a push monitor.",
          answers: { 201: { description: "The monitor.", schema: CreatedMonitor } },
          errors: ["conflict"],
          idempotent: true,
        }),
      },
    )
    .get(
      "/monitors/:id",
      ({ params, request }) =>
        sendResource(request, presentMonitor(getMonitorByReference(ctx.db, params.id))),
      operation({
        ...DECLARED,
        id: "getMonitor",
        summary: "Read a monitor",
        description:
          "Its ETag also changes with the results of checks. If-Match compares only the version, which checks do not raise.",
        answers: { 200: { description: "The monitor.", schema: Monitor } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .patch(
      "/monitors/:id",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) =>
          presentMonitor(updateMonitor(ctx, tx, id, body, actor)),
        ),
      {
        ...jsonBody(UpdateMonitorBody, (valid, { id, isInvalid }) =>
          updateMonitorErrors(ctx.db, id, valid, isInvalid),
        ),
        ...operation({
          ...DECLARED,
          id: "updateMonitor",
          summary: "Change a monitor",
          description:
            "Omitted fields keep their values, also inside `config`. The type cannot be changed. Of an unsupported monitor, only name, components, group, tags and notes can be changed.",
          answers: { 200: { description: "The monitor as it is now.", schema: Monitor } },
          errors: ["not_found"],
          conditional: "if-match",
        }),
      },
    )
    .delete(
      "/monitors/:id",
      ({ params, request, requestContext }) =>
        remove({ params, request, requestContext }, (tx, { id }, actor) =>
          deleteMonitor(ctx, tx, id, actor),
        ),
      operation({
        ...DECLARED,
        id: "deleteMonitor",
        summary: "Delete a monitor",
        description:
          "The component statuses that it set end. The history of the components is kept.",
        answers: { 204: { description: "The monitor was deleted." } },
        errors: ["not_found"],
        conditional: "if-match",
      }),
    );
}
