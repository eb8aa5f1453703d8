import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../../context";
import { actorOf } from "../../http/request-context";
import { createChanges } from "../../http/change";
import { createOnce } from "../../http/create-once";
import { jsonBody } from "../../http/json-body";
import { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { operation, scope } from "../../http/operation";
import type { RequestContexts } from "../../http/elysia";
import { sendList, sendResource } from "../../http/answers";
import { PageFilter, readPageFilter } from "../pages/filter";
import { scheduleErrors } from "./schedules/body-errors";
import {
  CreateScheduleBody,
  MaintenanceSchedule,
  presentSchedule,
  UpdateScheduleBody,
} from "./schedules/model";
import { getSchedule, listSchedules } from "./schedules/records";
import { OCCURRENCES_MAX } from "./schedules/rules";
import {
  createSchedule,
  deleteSchedule,
  SCHEDULES_PER_PAGE_MAX,
  updateSchedule,
} from "./schedules/service";

const SCHEDULES_PATH = "/api/v1/maintenance-schedules";

const READ = { tag: "Maintenance", access: scope("read:status") };
const WRITE = { tag: "Maintenance", access: scope("write:maintenance") };

/** Routes of `/api/v1/maintenance-schedules`, within those of `/api/v1`. */
export function scheduleRoutes(ctx: Ctx, requestContexts: RequestContexts) {
  const { change, remove } = createChanges(ctx, (tx, id) => getSchedule(tx, id).row);
  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/maintenance-schedules",
      ({ query, request, requestContext }) => {
        const { limit, after: before } = readPageRequest(query, "string");
        const pageId = readPageFilter(ctx.db, query);
        const records = listSchedules(ctx.db, { pageId, before, limit: limit + 1 });
        const page = toPage(records, limit, ({ row }) => row.id, presentSchedule);
        const self = listAddress(ctx.baseUrl + SCHEDULES_PATH, query, limit);
        return sendList(request, requestContext, page, self);
      },
      {
        query: Type.Object({ ...PageFilter, ...PageQuery }, { additionalProperties: false }),
        ...operation({
          ...READ,
          id: "listMaintenanceSchedules",
          summary: "List maintenance schedules",
          description: "Schedules of one page or all pages, newest first.",
          answers: {
            200: { description: "A page of the list.", schema: ListOf(MaintenanceSchedule) },
          },
          conditional: "etag",
        }),
      },
    )
    .post(
      "/maintenance-schedules",
      ({ body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext }, (tx) => {
          const resource = presentSchedule(createSchedule(ctx, tx, body, actorOf(requestContext)));
          return { resource, location: `${SCHEDULES_PATH}/${resource.id}` };
        }),
      {
        ...jsonBody(CreateScheduleBody, (valid) => scheduleErrors(ctx, valid)),
        ...operation({
          ...WRITE,
          id: "createMaintenanceSchedule",
          summary: "Create a maintenance schedule",
          description: `Its occurrences of the next 30 days are maintenance with \`schedule_id\` and \`occurrence_at\`, which can be changed and cancelled one by one. They are planned without notifications; people get the reminder. Status pages show the next one only. A schedule occurs at most ${OCCURRENCES_MAX} times in 30 days, and a page has at most ${SCHEDULES_PER_PAGE_MAX} schedules.`,
          answers: { 201: { description: "The schedule.", schema: MaintenanceSchedule } },
          errors: ["conflict"],
          idempotent: true,
        }),
      },
    )
    .get(
      "/maintenance-schedules/:id",
      ({ params, request }) =>
        sendResource(request, presentSchedule(getSchedule(ctx.db, params.id))),
      operation({
        ...READ,
        id: "getMaintenanceSchedule",
        summary: "Read a maintenance schedule",
        answers: { 200: { description: "The schedule.", schema: MaintenanceSchedule } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .patch(
      "/maintenance-schedules/:id",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) =>
          presentSchedule(updateSchedule(ctx, tx, id, body, actor)),
        ),
      {
        ...jsonBody(UpdateScheduleBody, (valid, { id }) => scheduleErrors(ctx, valid, id)),
        ...operation({
          ...WRITE,
          id: "updateMaintenanceSchedule",
          summary: "Change a maintenance schedule",
          description:
            "Its occurrences to come are made anew, except those that were changed or cancelled, or that have started. One whose reminder was sent stays if its time does, and is cancelled if not.",
          answers: { 200: { description: "The changed schedule.", schema: MaintenanceSchedule } },
          errors: ["not_found", "conflict"],
          conditional: "if-match",
        }),
      },
    )
    .delete(
      "/maintenance-schedules/:id",
      ({ params, request, requestContext }) =>
        remove({ params, request, requestContext }, (tx, { id }, actor) =>
          deleteSchedule(ctx, tx, id, actor),
        ),
      operation({
        ...WRITE,
        id: "deleteMaintenanceSchedule",
        summary: "Delete a maintenance schedule",
        description:
          "Its occurrences to come are removed, except those that were changed. One whose reminder was sent is cancelled. Others stay as maintenance.",
        answers: { 204: { description: "The schedule was deleted." } },
        errors: ["not_found"],
        conditional: "if-match",
      }),
    );
}
