import { Type } from "@sinclair/typebox";
import { Problem } from "../../base/errors";
import { NEWEST } from "../../base/ids";
import type { Ctx } from "../../context";
import type { Reader } from "../../db/statements";
import { sendList, sendResource, sendUntagged } from "../../http/answers";
import { createChanges } from "../../http/changes";
import { declareRoutes } from "../../http/elysia";
import { jsonBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { actorOf, type RequestContext } from "../../http/request-context";
import { PageFilter, readPageFilter } from "../pages/pages";
import { listChanges, listOpenCausesOf } from "./cause-store";
import { getComponentRow } from "./components";
import { resolveComponentId } from "./references";
import {
  type ChangeReason,
  resolveStatusKeys,
  setManualStatuses,
  setStatusesOfRows,
} from "./statuses";
import {
  type ComponentOnPage,
  findComponent,
  listComponentsBefore,
  listPageComponentsBefore,
} from "./store";
import {
  Component,
  ComponentChange,
  presentChange,
  presentComponent,
  UpdateComponentBody,
  UpdateComponentsBody,
} from "./wire";

const ListQuery = Type.Object({ ...PageFilter, ...PageQuery }, { additionalProperties: false });

/** `/api/v1/components`: components, their history, and their statuses. */
export function componentRoutes(ctx: Ctx) {
  const { change } = createChanges(ctx, getNamedComponent);
  return declareRoutes("/api/v1")
    .get(
      "/components",
      ({ query, request, requestContext }) => {
        const { limit, after: before = NEWEST } = readPageRequest(query, "string");
        const pageId = readPageFilter(ctx.db, query);
        const rows =
          pageId === undefined
            ? listComponentsBefore(ctx.db, { before, limit: limit + 1 })
            : listPageComponentsBefore(ctx.db, { pageId, before, limit: limit + 1 });
        const page = toPage(
          rows,
          limit,
          ({ id }) => id,
          (row) => presentComponent(row, row.pageSlug, listOpenCausesOf(ctx.db, [row.id])),
        );
        const self = listAddress(`${ctx.baseUrl}/api/v1/components`, query, limit);
        return sendList(request, requestContext, page, self);
      },
      {
        query: ListQuery,
        ...operation({
          id: "listComponents",
          summary: "List components",
          description: "Components of one page or of all pages, newest first.",
          tag: "Components",
          access: scope("read:status"),
          answers: { 200: { description: "A page of the list.", schema: ListOf(Component) } },
          conditional: "etag",
        }),
      },
    )
    .patch(
      "/components",
      async ({ body, request, requestContext }) => {
        requireNoVersion(request.headers.get("if-match"));
        const statuses = new Map(Object.entries(body.components));
        const data = await ctx.db.write((tx) =>
          setManualStatuses(ctx, tx, statuses, reasonOf(requestContext, body.reason)),
        );
        return sendUntagged({ data });
      },
      {
        ...jsonBody(UpdateComponentsBody, ({ components = {} }, { errors }) => {
          resolveStatusKeys(ctx.db, Object.keys(components), errors);
        }),
        ...operation({
          id: "updateComponents",
          summary: "Set the statuses of several components",
          description:
            "Sets all statuses or none. Each change is recorded with the key as its actor. Several components have no common version, so If-Match is rejected unless it is `*`.",
          tag: "Components",
          access: scope("write:components"),
          answers: {
            200: {
              description: "The components, in the order of the body.",
              schema: Type.Object({ data: Type.Array(Component) }),
            },
          },
          errors: ["precondition_failed"],
        }),
      },
    )
    .get(
      "/components/:id",
      ({ params, request }) =>
        sendResource(request, getComponent(ctx.db, getNamedComponent(ctx.db, params.id).id)),
      operation({
        id: "getComponent",
        summary: "Read a component",
        tag: "Components",
        access: scope("read:status"),
        answers: { 200: { description: "The component.", schema: Component } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .patch(
      "/components/:id",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, row) => {
          const desired = [{ row, status: body.status }];
          const reason = reasonOf(requestContext, body.reason);
          const [component] = setStatusesOfRows(ctx, tx, desired, reason);
          return component as Component;
        }),
      {
        ...jsonBody(UpdateComponentBody),
        ...operation({
          id: "updateComponent",
          summary: "Set a component's status",
          description:
            "Sets the manual status (`baseline_status`). The component shows the worst of it and all open causes, so it does not hide an open incident.",
          tag: "Components",
          access: scope("write:components"),
          answers: { 200: { description: "The component as it is now.", schema: Component } },
          errors: ["not_found"],
          conditional: "if-match",
        }),
      },
    )
    .get(
      "/components/:id/history",
      ({ params, query, request, requestContext }) => {
        const { limit, after: before = Number.MAX_SAFE_INTEGER } = readPageRequest(query, "number");
        const { id: componentId } = getNamedComponent(ctx.db, params.id);
        const rows = listChanges(ctx.db, { componentId, before, limit: limit + 1 });
        const page = toPage(rows, limit, (row) => row.id, presentChange);
        const list = `${ctx.baseUrl}/api/v1/components/${componentId}/history`;
        return sendList(request, requestContext, page, listAddress(list, query, limit));
      },
      {
        query: Type.Object(PageQuery, { additionalProperties: false }),
        ...operation({
          id: "listComponentHistory",
          summary: "Read a component's history",
          description: "All changes of its status, newest first.",
          tag: "Components",
          access: scope("read:status"),
          answers: { 200: { description: "A page of the list.", schema: ListOf(ComponentChange) } },
          errors: ["not_found"],
          conditional: "etag",
        }),
      },
    );
}

/** Returns the component that a path names. Throws `not_found`, which says how components are named. */
function getNamedComponent(reader: Reader, reference: string): ComponentOnPage {
  const row = findComponent(reader, { id: resolveComponentId(reader, reference) });
  if (row) return row;
  throw new Problem(
    "not_found",
    "There is no such component. Name it by its id, or by `<page slug>:<ref>`, such as acme:checkout-api.",
  );
}

/**
 * Throws if the header is sent, since ignoring it could overwrite a newer change.
 */
function requireNoVersion(ifMatch: string | null): void {
  if (ifMatch === null || ifMatch.trim() === "*") return;
  throw new Problem(
    "precondition_failed",
    "Several components have no common version. Set each component separately to use If-Match.",
  );
}

function reasonOf(requestContext: RequestContext, reason: string | null | undefined): ChangeReason {
  return { source: "api", actor: actorOf(requestContext), reason: reason ?? null };
}

/** Returns a component as the API shows it. Throws `not_found`. */
function getComponent(reader: Reader, id: string): Component {
  const row = getComponentRow(reader, id);
  return presentComponent(row, row.pageSlug, listOpenCausesOf(reader, [id]));
}
