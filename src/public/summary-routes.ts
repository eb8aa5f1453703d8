import { Elysia } from "elysia";
import type { Snapshots } from "../features/status";
import { type Admissions, operation } from "../http";
import { PUBLIC_JSON, publicJson, readPublic } from "./public-json";
import { Summary, summarize } from "./summary";

/** `/status/{slug}/summary.json`. */
export function summaryRoutes(admissions: Admissions, snapshots: Snapshots) {
  const json = publicJson(summarize);
  return new Elysia().use(admissions.plugin).get(
    "/status/:slug/summary.json",
    ({ params, request, admission }) =>
      json(readPublic(snapshots, params.slug, admission.now)).respond(request, admission),
    operation({
      ...PUBLIC_JSON,
      id: "getSummary",
      summary: "Read a page in six figures",
      description: "For widgets that can read no more than a flat object.",
      answers: { 200: { description: "The figures.", schema: Summary } },
    }),
  );
}
