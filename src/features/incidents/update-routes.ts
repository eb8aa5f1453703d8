import { Elysia } from "elysia";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { actorOf, bearerOf, type RequestContext } from "../../http/request-context";
import type { RequestContexts } from "../../http/elysia";
import { createChanges } from "../../http/change";
import { createOnce } from "../../http/create-once";
import { jsonBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { sendWithVersionTag } from "../../http/answers";
import type { MailOf } from "../timeline/updates";
import { AddUpdateBody, EditUpdateBody } from "./bodies";
import { addUpdateErrors, editUpdateErrors } from "./body-errors";
import { presentSingleUpdate, SingleUpdate, WrittenUpdate } from "./model";
import { getIncidentRow } from "./records";
import { canReadDrafts } from "./rules";
import type { IncidentRow } from "./store";
import { addUpdate, editUpdate, getUpdate } from "./updates";

/** Routes of `/api/v1/incidents/{id}/updates`. */
export function updateRoutes(ctx: Ctx, requestContexts: RequestContexts, mailOf: MailOf) {
  const { change } = createChanges(ctx, getVisibleIncident);
  const mailOfRow = (tx: Tx, row: IncidentRow) => mailOf(tx, { ...row, isDraft: row.draft });
  return new Elysia()
    .use(requestContexts.plugin)
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
        ...jsonBody(AddUpdateBody, (valid, { id, requestContext }) =>
          addUpdateErrors(ctx.db, id, valid, {
            canSeeDrafts: readsDrafts(requestContext),
            now: ctx.clock.now(),
          }),
        ),
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
        ...jsonBody(EditUpdateBody, (valid, { id, params, requestContext }) =>
          editUpdateErrors(ctx.db, { incidentId: id, updateId: params["update_id"] ?? "" }, valid, {
            canSeeDrafts: readsDrafts(requestContext),
            now: ctx.clock.now(),
          }),
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
export function getVisibleIncident(
  reader: Reader,
  id: string,
  requestContext: RequestContext,
): IncidentRow {
  return getIncidentRow(reader, id, readsDrafts(requestContext)).row;
}

/** Returns true if the request's key may read drafts. */
export function readsDrafts(requestContext: RequestContext): boolean {
  return canReadDrafts(bearerOf(requestContext).key.scopes);
}
