import { Type } from "@sinclair/typebox";
import type { Ctx } from "../../context";
import { StepRecorder } from "../../egress/steps";
import { conflict } from "../../base/errors";
import { declareRoutes } from "../../http/elysia";
import { createChanges } from "../../http/changes";
import { ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { noBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { sendList, sendUntagged } from "../../http/answers";
import { listChecksBefore } from "./checks-store";
import {
  Check,
  CheckWithSteps,
  Monitor,
  presentCheck,
  presentCheckWithSteps,
  presentMonitor,
  revealMonitor,
  RotatedMonitor,
} from "./wire";
import type { Monitoring } from "./monitoring";
import { getMonitorByReference } from "./records";
import { rotateToken } from "./tokens";
import { requireSupported } from "./settings";
import { pauseMonitor, resumeMonitor } from "./update";

const ListQuery = Type.Object(PageQuery, { additionalProperties: false });

const DECLARED = { tag: "Monitors", access: scope("manage:monitors") } as const;
const CHANGE = { ...DECLARED, conditional: "if-match" } as const;
const CHANGED = { 200: { description: "The monitor as it is now.", schema: Monitor } };

/** `/api/v1/monitors/{id}/…`: pause, resume, another token, a check now, and past checks. */
export function verbRoutes(ctx: Ctx, monitoring: Monitoring) {
  const { change } = createChanges(ctx, (tx, id) => getMonitorByReference(tx, id).row);
  return declareRoutes()
    .post(
      "/monitors/:id/pause",
      ({ params, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) =>
          presentMonitor(pauseMonitor(ctx, tx, id, actor)),
        ),
      {
        ...noBody(),
        ...operation({
          ...CHANGE,
          id: "pauseMonitor",
          summary: "Pause a monitor",
          description:
            "It is not checked until it is resumed. The component statuses that it set end.",
          answers: CHANGED,
          errors: ["not_found"],
        }),
      },
    )
    .post(
      "/monitors/:id/resume",
      ({ params, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) =>
          presentMonitor(resumeMonitor(ctx, tx, id, actor)),
        ),
      {
        ...noBody(),
        ...operation({
          ...CHANGE,
          id: "resumeMonitor",
          summary: "Resume a monitor",
          description: "It is checked at once. Earlier results no longer count.",
          answers: CHANGED,
          errors: ["not_found", "conflict"],
        }),
      },
    )
    .post(
      "/monitors/:id/rotate-token",
      ({ params, request, requestContext }) =>
        change({ params, request, requestContext, tag: "version" }, (tx, { id }, actor) => {
          const { record, token } = rotateToken(ctx, tx, id, actor);
          return revealMonitor(record, token, ctx.baseUrl);
        }),
      {
        ...noBody(),
        ...operation({
          ...CHANGE,
          id: "rotateMonitorToken",
          summary: "Rotate a push monitor's token",
          description: "The old token is rejected from now on. Only this answer shows the new one.",
          answers: {
            200: { description: "The monitor with its new token.", schema: RotatedMonitor },
          },
          errors: ["not_found", "conflict"],
        }),
      },
    )
    .post(
      "/monitors/:id/check",
      async ({ params }) => {
        const { row } = getMonitorByReference(ctx.db, params.id);
        if (row.type === "push") {
          throw conflict("A push monitor cannot be checked, because its job sends heartbeats.");
        }
        requireSupported(row);
        if (row.paused) throw conflict("The monitor is paused. Resume it first.");
        const recorder = new StepRecorder(ctx.clock);
        const check = await monitoring.checkNow(row.id, recorder);
        return sendUntagged(presentCheckWithSteps(check, recorder.steps));
      },
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "checkMonitor",
          summary: "Check a monitor now",
          description:
            "Runs a check at once and returns its result, which counts like any other, with its steps. This can take as long as the monitor's timeout; at most 70 seconds. Then a failure is returned even if it waits for the checks of other monitors before it counts, and a check that has no result goes on: the answer is 503, and the result is listed later.",
          answers: { 200: { description: "The result.", schema: CheckWithSteps } },
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
          summary: "List a monitor's results",
          description:
            "Newest first. Results are kept for 48 hours unless the server is configured otherwise.",
          answers: { 200: { description: "A page of the list.", schema: ListOf(Check) } },
          errors: ["not_found"],
          conditional: "etag",
        }),
      },
    );
}
