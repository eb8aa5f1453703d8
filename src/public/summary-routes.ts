import { Elysia } from "elysia";
import type { Snapshots } from "../features/status";
import { type RequestContexts, operation } from "../http";
import { PUBLIC_JSON, publicJson, readPublic } from "./public-json";
import { Summary, summarize } from "./summary";

/** `/status/{slug}/summary.json`. */
export function summaryRoutes(requestContexts: RequestContexts, snapshots: Snapshots) {
  const json = publicJson(summarize);
  return new Elysia().use(requestContexts.plugin).get(
    "/status/:slug/summary.json",
    ({ params, request, requestContext }) =>
      json(readPublic(snapshots, params.slug, requestContext.now)).respond(request, requestContext),
    operation({
      ...PUBLIC_JSON,
      id: "getSummary",
      summary: "Read a page in six figures",
      description: "For widgets that can read no more than a flat object.",
      answers: { 200: { description: "The figures.", schema: Summary } },
    }),
  );
}
