import { Elysia } from "elysia";
import type { AppContext } from "../../context";
import {
  actorOf,
  type RequestContexts,
  noBody,
  operation,
  requireMatch,
  scope,
  sendResource,
  sendWithVersionTag,
} from "../../http";
import { Monitor, presentMonitor, revealMonitor, RotatedMonitor } from "./model";
import { pauseMonitor, resumeMonitor } from "./pause";
import { getMonitorByReference } from "./records";
import { rotateToken } from "./rotate-token";

const DECLARED = {
  tag: "Monitors",
  access: scope("manage:monitors"),
  conditional: "if-match",
} as const;

const CHANGED = { 200: { description: "The monitor as it is now.", schema: Monitor } };

/** `/api/v1/monitors/{id}/…`: pausing, resuming, another token. */
export function verbRoutes(ctx: AppContext, requestContexts: RequestContexts) {
  return new Elysia()
    .use(requestContexts.plugin)
    .post(
      "/monitors/:id/pause",
      async ({ params, request, requestContext }) => {
        const monitor = await ctx.db.write((tx) => {
          const { row } = getMonitorByReference(tx, params.id);
          requireMatch(request.headers.get("if-match"), row.version);
          return presentMonitor(pauseMonitor(ctx, tx, row.id, actorOf(requestContext)));
        });
        return sendResource(request, monitor);
      },
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "pauseMonitor",
          summary: "Pause a monitor",
          description: "It is not checked until it is resumed. What it marks ends now.",
          answers: CHANGED,
          errors: ["not_found"],
        }),
      },
    )
    .post(
      "/monitors/:id/resume",
      async ({ params, request, requestContext }) => {
        const monitor = await ctx.db.write((tx) => {
          const { row } = getMonitorByReference(tx, params.id);
          requireMatch(request.headers.get("if-match"), row.version);
          return presentMonitor(resumeMonitor(ctx, tx, row.id, actorOf(requestContext)));
        });
        return sendResource(request, monitor);
      },
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "resumeMonitor",
          summary: "Resume a monitor",
          description: "It is checked at once, and counts from nothing.",
          answers: CHANGED,
          errors: ["not_found"],
        }),
      },
    )
    .post(
      "/monitors/:id/rotate-token",
      async ({ params, request, requestContext }) => {
        const monitor = await ctx.db.write((tx) => {
          const { row } = getMonitorByReference(tx, params.id);
          requireMatch(request.headers.get("if-match"), row.version);
          const { record, token } = rotateToken(ctx, tx, row.id, actorOf(requestContext));
          return revealMonitor(record, token, ctx.baseUrl);
        });
        return sendWithVersionTag(request, monitor);
      },
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "rotateMonitorToken",
          summary: "Give a push monitor another token",
          description: "The one before is refused from now on. The new one is shown this once.",
          answers: { 200: { description: "With the new token.", schema: RotatedMonitor } },
          errors: ["not_found", "conflict"],
        }),
      },
    );
}
