import { Type } from "@sinclair/typebox";
import { OneOf } from "../../base/schema";
import { MAINTENANCE_STATUSES } from "../../base/status";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { sendList, sendResource, sendWithVersionTag } from "../../http/answers";
import { createChanges, createOnce } from "../../http/changes";
import { declareRoutes } from "../../http/elysia";
import { jsonBody, optionalJsonBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { actorOf } from "../../http/request-context";
import { ComponentFilter, readComponentFilter } from "../components/references";
import { PageFilter, readPageFilter } from "../pages/pages";
import {
  changedAnswer,
  createdAnswer,
  type MailOf,
  requireUpdate,
  withMail,
  WrittenMail,
} from "../timeline/updates";
import {
  addMaintenanceUpdate,
  cancelMaintenance,
  planMaintenance,
  readDisplayTime,
  readMaintenanceChange,
  readNewMaintenance,
  updateMaintenance,
} from "./maintenance";
import {
  countForPage,
  findMaintenanceRecord,
  findMaintenances,
  getMaintenance,
  getMaintenanceRecord,
  readRecords,
} from "./records";
import { OCCURRENCES_MAX } from "./schedules/rules";
import {
  addScheduleErrors,
  createSchedule,
  deleteSchedule,
  SCHEDULES_PER_PAGE_MAX,
  updateSchedule,
} from "./schedules/schedules";
import { getSchedule, listSchedules } from "./schedules/store";
import {
  CreateScheduleBody,
  MaintenanceSchedule,
  presentSchedule,
  UpdateScheduleBody,
} from "./schedules/wire";
import {
  AddMaintenanceUpdateBody,
  CancelMaintenanceBody,
  Maintenance,
  MaintenanceUpdate,
  PlanMaintenanceBody,
  presentMaintenance,
  presentSingleUpdate,
  SingleMaintenanceUpdate,
  UpdateMaintenanceBody,
} from "./wire";

const PATH = "/api/v1/maintenance";

const YesOrNo = (description: string) => Type.Optional(OneOf(["true", "false"], { description }));

const ListQuery = Type.Object(
  {
    ...PageFilter,
    ...ComponentFilter,
    status: Type.Optional(OneOf(MAINTENANCE_STATUSES)),
    upcoming: YesOrNo("True for scheduled maintenance."),
    active: YesOrNo("True for maintenance that is in_progress or verifying."),
    ...PageQuery,
  },
  { additionalProperties: false },
);

/* Answers to requests that write, with the mail about what they wrote. */
const PlannedMaintenance = createdAnswer(Maintenance, MaintenanceUpdate, "PlannedMaintenance");
const ChangedMaintenance = changedAnswer(Maintenance, MaintenanceUpdate, "ChangedMaintenance");
const WrittenMaintenanceUpdate = Type.Object(
  { ...SingleMaintenanceUpdate.properties, mail: WrittenMail },
  { title: "WrittenMaintenanceUpdate" },
);

/** Routes of `/api/v1/maintenance`. */
export function maintenanceRoutes(ctx: Ctx, mailOf: MailOf) {
  const { change } = createChanges(ctx, (tx, id) => getMaintenanceRecord(tx, id).row);
  const mailOfResource = (tx: Tx, { id, page_id: pageId }: Maintenance) =>
    mailOf(tx, { id, pageId });
  return declareRoutes("/api/v1")
    .use(scheduleRoutes(ctx))
    .get(
      "/maintenance",
      ({ query, request, requestContext }) => {
        const { limit, after } = readPageRequest(query, "string");
        const maintenances = findMaintenances(ctx.db, {
          pageId: readPageFilter(ctx.db, query),
          componentId: readComponentFilter(ctx.db, query) ?? null,
          status: query.status ?? null,
          isUpcoming: toFlag(query.upcoming),
          isActive: toFlag(query.active),
          before: after,
          limit: limit + 1,
        });
        const page = toPage(
          maintenances,
          Math.min(limit, countForPage(ctx.db, maintenances)),
          ({ row }) => row.id,
          (each) => each,
        );
        const data = readRecords(ctx.db, page.data).map((record) =>
          presentMaintenance(record, ctx.baseUrl),
        );
        const self = listAddress(ctx.baseUrl + PATH, query, limit);
        return sendList(request, requestContext, { ...page, data }, self);
      },
      {
        query: ListQuery,
        ...operation({
          id: "listMaintenance",
          summary: "List maintenance",
          description:
            "Maintenance of one page or all pages, the last planned first. Only maintenance that matches all filters is listed. A page ends before `limit` if its maintenances have more than 10,000 components, or 2.5 MB of texts, in total; `next_cursor` leads to the rest.",
          tag: "Maintenance",
          access: scope("read:status"),
          answers: { 200: { description: "A page of the list.", schema: ListOf(Maintenance) } },
          conditional: "etag",
        }),
      },
    )
    .post(
      "/maintenance",
      ({ body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext }, (tx) => {
          const resource = planMaintenance(ctx, tx, body, actorOf(requestContext));
          return {
            resource: withMail(resource, mailOfResource(tx, resource)),
            location: `${PATH}/${resource.id}`,
          };
        }),
      {
        ...jsonBody(PlanMaintenanceBody, (valid, { errors }) => {
          readNewMaintenance(ctx.db, valid, errors);
        }),
        ...operation({
          id: "planMaintenance",
          summary: "Plan a maintenance",
          description:
            "By default it starts and ends automatically at its planned times. If these lie in the past, it is recorded as started and completed at these times.",
          tag: "Maintenance",
          access: scope("write:maintenance"),
          answers: { 201: { description: "The maintenance.", schema: PlannedMaintenance } },
          idempotent: true,
        }),
      },
    )
    .get(
      "/maintenance/:id",
      ({ params, request }) => sendResource(request, getMaintenance(ctx, ctx.db, params.id)),
      operation({
        id: "getMaintenance",
        summary: "Read a maintenance",
        description: "With all of its updates.",
        tag: "Maintenance",
        access: scope("read:status"),
        answers: { 200: { description: "The maintenance.", schema: Maintenance } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .patch(
      "/maintenance/:id",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) => {
          const maintenance = updateMaintenance(ctx, tx, id, body, actor);
          return withMail(maintenance, mailOfResource(tx, maintenance));
        }),
      {
        ...jsonBody(UpdateMaintenanceBody, (valid, { errors, id, isInvalid }) => {
          const record = findMaintenanceRecord(ctx.db, id);
          // A time is not compared with a stored one in place of the other, invalid one.
          const isTimeInvalid = isInvalid("scheduled_for") || isInvalid("scheduled_until");
          const { scheduled_for: _from, scheduled_until: _until, ...others } = valid;
          if (record) readMaintenanceChange(ctx.db, record, isTimeInvalid ? others : valid, errors);
        }),
        ...operation({
          id: "updateMaintenance",
          summary: "Change a maintenance",
          description:
            "Its name and components until it is over, its times and flags while it is scheduled. The end can be moved to a later time while it is in progress or verifying, without notifications unless `notify` is true. While it is in progress, added components are under maintenance at once, and removed ones no longer. Its status changes only through updates.",
          tag: "Maintenance",
          access: scope("write:maintenance"),
          answers: { 200: { description: "The changed maintenance.", schema: ChangedMaintenance } },
          errors: ["not_found", "conflict"],
          conditional: "if-match",
        }),
      },
    )
    .post(
      "/maintenance/:id/updates",
      ({ params, body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext, tag: "version" }, (tx) => {
          const actor = actorOf(requestContext);
          const { maintenance, update } = addMaintenanceUpdate(ctx, tx, params.id, body, actor);
          const mail = mailOfResource(tx, maintenance);
          const resource = { ...presentSingleUpdate(maintenance, update), mail };
          return { resource, location: `${PATH}/${params.id}/updates/${update.id}` };
        }),
      {
        ...jsonBody(AddMaintenanceUpdateBody, (valid, { errors, id }) => {
          const record = findMaintenanceRecord(ctx.db, id);
          if (record) readDisplayTime(valid, record.updates, ctx.clock.now(), errors);
        }),
        ...operation({
          id: "addMaintenanceUpdate",
          summary: "Add an update to a maintenance",
          description:
            "It can change the status: scheduled → in_progress or cancelled; in_progress and verifying → each other, completed or cancelled. Completed or cancelled maintenance takes no more updates. A maintenance has at most 250 updates; one more is a conflict unless it completes or cancels the maintenance.",
          tag: "Maintenance",
          access: scope("write:maintenance"),
          answers: { 201: { description: "The update.", schema: WrittenMaintenanceUpdate } },
          errors: ["not_found", "conflict"],
          idempotent: true,
        }),
      },
    )
    .get(
      "/maintenance/:id/updates/:update_id",
      ({ params, request }) => {
        const maintenance = getMaintenance(ctx, ctx.db, params.id);
        const update = requireUpdate(maintenance.updates, params.update_id);
        return sendWithVersionTag(request, presentSingleUpdate(maintenance, update));
      },
      operation({
        id: "getMaintenanceUpdate",
        summary: "Read an update of a maintenance",
        tag: "Maintenance",
        access: scope("read:status"),
        answers: { 200: { description: "The update.", schema: SingleMaintenanceUpdate } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .post(
      "/maintenance/:id/cancel",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) => {
          const maintenance = cancelMaintenance(ctx, tx, id, actor, body);
          return withMail(maintenance, mailOfResource(tx, maintenance));
        }),
      {
        ...optionalJsonBody(CancelMaintenanceBody),
        ...operation({
          id: "cancelMaintenance",
          summary: "Cancel a maintenance",
          description:
            "Maintenance in progress can be cancelled too. The body is optional and becomes the last update.",
          tag: "Maintenance",
          access: scope("write:maintenance"),
          answers: {
            200: { description: "The cancelled maintenance.", schema: ChangedMaintenance },
          },
          errors: ["not_found", "conflict"],
          conditional: "if-match",
        }),
      },
    );
}

function toFlag(text: "true" | "false" | undefined): number | null {
  return text === undefined ? null : Number(text === "true");
}

const SCHEDULES_PATH = "/api/v1/maintenance-schedules";

const READ = { tag: "Maintenance", access: scope("read:status") };
const WRITE = { tag: "Maintenance", access: scope("write:maintenance") };

/** Routes of `/api/v1/maintenance-schedules`, within those of `/api/v1`. */
function scheduleRoutes(ctx: Ctx) {
  const { change, remove } = createChanges(ctx, (tx, id) => getSchedule(tx, id).row);
  return declareRoutes()
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
        ...jsonBody(CreateScheduleBody, (valid, { errors }) =>
          addScheduleErrors(ctx, errors, valid),
        ),
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
        ...jsonBody(UpdateScheduleBody, (valid, { errors, id }) =>
          addScheduleErrors(ctx, errors, valid, id),
        ),
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
