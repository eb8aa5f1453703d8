import { type Static, Type } from "@sinclair/typebox";
import { NEWEST } from "../../base/ids";
import { InstantText, OneOf } from "../../base/schema";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { sendList, sendResource, sendWithVersionTag } from "../../http/answers";
import { createChanges, createOnce } from "../../http/changes";
import { declareRoutes } from "../../http/elysia";
import { jsonBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { actorOf, bearerOf, type RequestContext } from "../../http/request-context";
import { ComponentFilter, readComponentFilter } from "../components/references";
import { PageFilter, readPageFilter } from "../pages/pages";
import {
  changedAnswer,
  createdAnswer,
  type MailOf,
  toMs,
  withMail,
  WrittenMail,
} from "../timeline/updates";
import {
  addUpdate,
  createIncident,
  editUpdate,
  putPostmortem,
  readIncidentChange,
  readNewIncident,
  updateIncident,
  validateEditedTime,
} from "./incidents";
import {
  countForPage,
  getIncident,
  getIncidentRow,
  getUpdate,
  type IncidentRecord,
  type IncidentWithUpdates,
  listUpdateSummaries,
  readRecords,
} from "./records";
import { canReadDrafts } from "./rules";
import { readUpdate } from "./save";
import { findIncident, type IncidentRow, listIncidentRows } from "./store";
import {
  AddUpdateBody,
  CreateIncidentBody,
  EditUpdateBody,
  Incident,
  IncidentStatusText,
  IncidentUpdate,
  PostmortemFields,
  presentIncident,
  presentSingleUpdate,
  PutPostmortemBody,
  SingleUpdate,
  UpdateIncidentBody,
} from "./wire";

const ListQuery = Type.Object(
  {
    ...PageFilter,
    status: Type.Optional(IncidentStatusText),
    open: Type.Optional(
      OneOf(["true", "false"], {
        description: "True for unresolved incidents, false for resolved ones.",
      }),
    ),
    ...ComponentFilter,
    since: Type.Optional(InstantText({ description: "Earliest start." })),
    until: Type.Optional(InstantText({ description: "End of the span of starts, exclusive." })),
    ...PageQuery,
  },
  { additionalProperties: false },
);
type ListQuery = Static<typeof ListQuery>;

/* Answers to requests that write, with the mail about what they wrote. */
const CreatedIncident = createdAnswer(Incident, IncidentUpdate, "CreatedIncident");
const ChangedIncident = changedAnswer(Incident, IncidentUpdate, "ChangedIncident");
const IncidentWithPostmortem = Type.Object(
  {
    ...Incident.properties,
    postmortem: Type.Object({ ...PostmortemFields, mail: WrittenMail }),
  },
  { title: "IncidentWithPostmortem" },
);
const WrittenUpdate = Type.Object(
  { ...SingleUpdate.properties, mail: WrittenMail },
  { title: "WrittenIncidentUpdate" },
);

/** Routes of `/api/v1/incidents`. */
export function incidentRoutes(ctx: Ctx, mailOf: MailOf) {
  const { change } = createChanges(ctx, getVisibleIncident);
  const mailOfRecord = (tx: Tx, { row }: IncidentRecord) =>
    mailOf(tx, { ...row, isDraft: row.draft });
  return declareRoutes("/api/v1")
    .use(updateRoutes(ctx, mailOf))
    .get(
      "/incidents",
      ({ query, request, requestContext }) => {
        const { limit, after: before = NEWEST } = readPageRequest(query, "string");
        const canSeeDrafts = readsDrafts(requestContext);
        const incidents = listIncidentRows(ctx.db, {
          ...filtersOf(ctx, query),
          draftsToo: canSeeDrafts ? 1 : 0,
          before,
          limit: limit + 1,
        });
        const page = toPage(
          incidents,
          Math.min(limit, countForPage(ctx.db, incidents)),
          ({ row }) => row.id,
          (each) => each,
        );
        const data = readRecords(ctx.db, page.data).map((record) =>
          presentIncident(record, ctx.baseUrl, canSeeDrafts),
        );
        const self = listAddress(`${ctx.baseUrl}/api/v1/incidents`, query, limit);
        return sendList(request, requestContext, { ...page, data }, self);
      },
      {
        query: ListQuery,
        ...operation({
          id: "listIncidents",
          summary: "List incidents",
          description:
            "Newest first, each with its 20 newest updates. `component` matches every incident that ever named the component. A page ends before `limit` if its incidents have more than 10,000 updates and named components, or 2.5 MB of texts, in total; `next_cursor` leads to the rest. Keys with both read:status and write:incidents also see drafts.",
          tag: "Incidents",
          access: scope("read:status"),
          answers: { 200: { description: "A page of the list.", schema: ListOf(Incident) } },
          conditional: "etag",
        }),
      },
    )
    .post(
      "/incidents",
      ({ body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext }, (tx) => {
          const canSeeDrafts = readsDrafts(requestContext);
          const actor = actorOf(requestContext);
          const record = createIncident(ctx, tx, body, "api", actor, canSeeDrafts);
          const resource = presentIncident(record, ctx.baseUrl, true);
          return {
            resource: withMail(resource, mailOfRecord(tx, record)),
            location: `/api/v1/incidents/${record.row.id}`,
          };
        }),
      {
        ...jsonBody(CreateIncidentBody, (valid, { errors }) => {
          readNewIncident(ctx.db, valid, errors, ctx.clock.now());
        }),
        ...operation({
          id: "createIncident",
          summary: "Open an incident",
          description:
            "The statuses of components apply from `started_at` on. With `resolved_at` or the status resolved, it is recorded as over: the statuses apply until then, and the current ones stay. Times may lie in the past.",
          tag: "Incidents",
          access: scope("write:incidents"),
          answers: { 201: { description: "The incident.", schema: CreatedIncident } },
          errors: ["conflict"],
          idempotent: true,
        }),
      },
    )
    .get(
      "/incidents/:id",
      ({ params, request, requestContext }) => {
        const canSeeDrafts = readsDrafts(requestContext);
        const record = getIncident(ctx.db, params.id, canSeeDrafts);
        return sendResource(request, presentIncident(record, ctx.baseUrl, canSeeDrafts));
      },
      operation({
        id: "getIncident",
        summary: "Read an incident",
        description: "With all of its updates, newest first.",
        tag: "Incidents",
        access: scope("read:status"),
        answers: { 200: { description: "The incident.", schema: Incident } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .patch(
      "/incidents/:id",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) => {
          const canSeeDrafts = readsDrafts(requestContext);
          const record = updateIncident(ctx, tx, id, body, actor, canSeeDrafts);
          const resource = presentIncident(record, ctx.baseUrl, canSeeDrafts);
          return withMail(resource, mailOfRecord(tx, record));
        }),
      {
        ...jsonBody(UpdateIncidentBody, (valid, { errors, id, requestContext }) => {
          const incident = findVisible(ctx.db, id, requestContext);
          if (incident) readIncidentChange(ctx.db, incident, valid, errors, ctx.clock.now());
        }),
        ...operation({
          id: "updateIncident",
          summary: "Change an incident",
          description:
            "Its name, impact, reference and times. Changed times also change uptime. `draft: false` publishes a draft. Status and components change only through updates.",
          tag: "Incidents",
          access: scope("write:incidents"),
          answers: { 200: { description: "The changed incident.", schema: ChangedIncident } },
          errors: ["not_found", "conflict"],
          conditional: "if-match",
        }),
      },
    )
    .put(
      "/incidents/:id/postmortem",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext, tag: "version" }, (tx, { id }, actor) => {
          const record = putPostmortem(ctx, tx, id, body, actor);
          const { row } = record;
          const isDraft = row.draft || row.postmortemPublishedAt === null;
          const mail = mailOf(tx, { ...row, isDraft });
          const resource = presentIncident(record, ctx.baseUrl, true);
          return { ...resource, postmortem: { ...resource.postmortem, mail } };
        }),
      {
        ...jsonBody(PutPostmortemBody),
        ...operation({
          id: "putPostmortem",
          summary: "Save an incident's post-mortem",
          tag: "Incidents",
          access: scope("write:incidents"),
          answers: {
            200: { description: "The changed incident.", schema: IncidentWithPostmortem },
          },
          errors: ["not_found"],
          conditional: "if-match",
        }),
      },
    );
}

function filtersOf({ db }: Ctx, query: ListQuery) {
  const { status, open, since, until } = query;
  return {
    pageId: readPageFilter(db, query) ?? null,
    componentId: readComponentFilter(db, query) ?? null,
    status: status ?? null,
    open: open === undefined ? undefined : open === "true",
    since: since === undefined ? null : toMs(since),
    until: until === undefined ? null : toMs(until),
  };
}

/** Routes of `/api/v1/incidents/{id}/updates`. */
function updateRoutes(ctx: Ctx, mailOf: MailOf) {
  const { change } = createChanges(ctx, getVisibleIncident);
  const mailOfRow = (tx: Tx, row: IncidentRow) => mailOf(tx, { ...row, isDraft: row.draft });
  return declareRoutes()
    .post(
      "/incidents/:id/updates",
      ({ params, body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext, tag: "version" }, (tx) => {
          const { id } = getVisibleIncident(tx, params.id, requestContext);
          const { row, update } = addUpdate(ctx, tx, id, body, actorOf(requestContext));
          return {
            resource: { ...presentSingleUpdate(row, update), mail: mailOfRow(tx, row) },
            location: `/api/v1/incidents/${id}/updates/${update.id}`,
          };
        }),
      {
        ...jsonBody(AddUpdateBody, (valid, { errors, id, requestContext }) => {
          const incident = findVisible(ctx.db, id, requestContext);
          if (incident) readUpdate(ctx.db, incident, valid, errors, ctx.clock.now());
        }),
        ...operation({
          id: "addIncidentUpdate",
          summary: "Add an update to an incident",
          description:
            "Without a status the incident keeps the one that it had at `display_at`. Resolving ends the statuses that the incident gave components; a component that the resolving update names gets the named status as its `baseline_status`. Another status reopens a resolved incident, with the statuses that it had given unless the update names components. An incident has at most 250 updates, which name at most 10,000 components in total. One more is a conflict unless it resolves the incident; open a new incident instead.",
          tag: "Incidents",
          access: scope("write:incidents"),
          answers: { 201: { description: "The update.", schema: WrittenUpdate } },
          errors: ["not_found", "conflict"],
          idempotent: true,
        }),
      },
    )
    .get(
      "/incidents/:id/updates/:update_id",
      ({ params, request, requestContext }) => {
        const canSeeDrafts = readsDrafts(requestContext);
        const { row, update } = getUpdate(ctx.db, params.id, params.update_id, canSeeDrafts);
        return sendWithVersionTag(request, presentSingleUpdate(row, update));
      },
      operation({
        id: "getIncidentUpdate",
        summary: "Read an update of an incident",
        tag: "Incidents",
        access: scope("read:status"),
        answers: { 200: { description: "The update.", schema: SingleUpdate } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .patch(
      "/incidents/:id/updates/:update_id",
      ({ params, body, request, requestContext }) => {
        const edit = { params, request, requestContext, tag: "version" } as const;
        return change(edit, (tx, { id }, actor) => {
          const { row, update } = editUpdate(ctx, tx, id, params.update_id, body, actor);
          return { ...presentSingleUpdate(row, update), mail: mailOfRow(tx, row) };
        });
      },
      {
        ...jsonBody(
          EditUpdateBody,
          ({ display_at: at }, { errors, id, params, requestContext }) => {
            const incident = findVisible(ctx.db, id, requestContext);
            if (!incident || at === undefined) return;
            const updateId = params["update_id"] ?? "";
            validateEditedTime(errors, incident, updateId, toMs(at), ctx.clock.now());
          },
        ),
        ...operation({
          id: "editIncidentUpdate",
          summary: "Edit an update of an incident",
          description:
            "Its text, or the time at which it took effect; `created_at` stays. A time that would reopen a resolved incident is a conflict if the incident has no room for one more update. If-Match names the incident's version.",
          tag: "Incidents",
          access: scope("write:incidents"),
          answers: { 200: { description: "The changed update.", schema: WrittenUpdate } },
          errors: ["not_found", "conflict"],
          conditional: "if-match",
        }),
      },
    );
}

/** Returns an incident that the request's key may read. Throws `not_found`. */
function getVisibleIncident(
  reader: Reader,
  id: string,
  requestContext: RequestContext,
): IncidentRow {
  return getIncidentRow(reader, id, readsDrafts(requestContext)).row;
}

/** Finds such an incident with its updates, for a body that violates its schema: these errors come before `not_found`. */
function findVisible(
  reader: Reader,
  id: string,
  requestContext: RequestContext,
): IncidentWithUpdates | undefined {
  const incident = findIncident(reader, { id });
  if (!incident || (incident.row.draft && !readsDrafts(requestContext))) return undefined;
  return { ...incident, updates: listUpdateSummaries(reader, id) };
}

/** Returns true if the request's key may read drafts. */
function readsDrafts(requestContext: RequestContext): boolean {
  return canReadDrafts(bearerOf(requestContext).key.scopes);
}
