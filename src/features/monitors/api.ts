import { type Static, Type } from "@sinclair/typebox";
import { conflict, Problem } from "../../base/errors";
import { OneOf, Text } from "../../base/schema";
import { isPassive } from "../../base/status";
import { MonitorGroupFilter, TagFilter } from "../../base/tags";
import type { Ctx } from "../../context";
import { StepRecorder } from "../../egress/steps";
import { sendList, sendResource, sendUntagged } from "../../http/answers";
import { beginningOf } from "../../http/body";
import { createChanges, createOnce } from "../../http/changes";
import { declareRoutes } from "../../http/elysia";
import { jsonBody, noBody, optionalJsonBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { listAddress, ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import {
  actorOf,
  isFromOutside,
  type RequestContext,
  tokenOwnerOf,
} from "../../http/request-context";
import { ComponentFilter, readComponentFilter } from "../components/references";
import { LocationReference } from "../locations/wire";
import { PageFilter, readPageFilter } from "../pages/pages";
import {
  ALERT_BODY,
  type AlertIntake,
  alertReportRoutes,
  createAlertIntake,
  OPTIONAL_ALERT_COUNTS,
} from "./alert-routes";
import {
  isCheckedRemotely,
  listChecksAt,
  listStatesAtLocations,
  readLocationFilter,
} from "./monitor-locations";
import { CANNOT_CHECK, type Monitoring } from "./monitoring";
import {
  acknowledgeMonitor,
  createMonitor,
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
  rotateToken,
  updateMonitor,
} from "./monitors";
import { getMonitorByReference, listMonitors, resolveMonitorId } from "./records";
import { addMonitorChangeErrors, addNewMonitorErrors, requireSupported } from "./settings";
import { EXIT_CODE_MAX, findMeaning, type Meaning, messageInBody, messageOf } from "./signal-text";
import { findMonitor } from "./store";
import {
  AcknowledgeBody,
  Check,
  CheckWithSteps,
  concealMonitor,
  CreatedMonitor,
  CreateMonitorBody,
  Monitor,
  MonitorStateText,
  MonitorTypeText,
  presentAtLocations,
  presentCheck,
  presentCheckWithSteps,
  presentMonitor,
  revealMonitor,
  RotatedMonitor,
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

const DECLARED = { tag: "Monitors", access: scope("manage:monitors") } as const;

/** `/api/v1/monitors` and `/api/v1/heartbeats`. */
export function monitorRoutes(ctx: Ctx, monitoring: Monitoring) {
  const { change, remove } = createChanges(ctx, (tx, id) => getMonitorByReference(tx, id).row);
  const intake = createAlertIntake(ctx, monitoring);
  return declareRoutes("/api/v1")
    .use(verbRoutes(ctx, monitoring))
    .use(heartbeatRoutes(monitoring, intake))
    .use(alertReportRoutes(intake))
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
        ...jsonBody(CreateMonitorBody, (valid, { errors }) => {
          addNewMonitorErrors(ctx.db, valid, errors);
        }),
        ...operation({
          ...DECLARED,
          id: "createMonitor",
          summary: "Create a monitor",
          description:
            "It is checked at once. Header values and bodies are never returned. Only this answer and that of a rotation show the `token` of a push or alert monitor.",
          answers: { 201: { description: "The monitor.", schema: CreatedMonitor } },
          errors: ["conflict"],
          idempotent: true,
        }),
      },
    )
    .get(
      "/monitors/:id",
      ({ params, request }) => {
        const record = getMonitorByReference(ctx.db, params.id);
        const monitor = presentMonitor(record);
        if (!isCheckedRemotely(record.row)) return sendResource(request, monitor);
        const states = listStatesAtLocations(ctx.db, record);
        const at = presentAtLocations(states, monitoring);
        const located: Monitor = { ...monitor, at_locations: at };
        return sendResource(request, located);
      },
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
        ...jsonBody(UpdateMonitorBody, (valid, { errors, id }) => {
          const row = findMonitor(ctx.db, { id: resolveMonitorId(ctx.db, id) });
          if (row) addMonitorChangeErrors(ctx.db, row, valid, errors);
        }),
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

const ChecksQuery = Type.Object(
  { location: Type.Optional(LocationReference), ...PageQuery },
  { additionalProperties: false },
);

const CHANGE = { ...DECLARED, conditional: "if-match" } as const;
const CHANGED = { 200: { description: "The monitor as it is now.", schema: Monitor } };

/** `/api/v1/monitors/{id}/…`: pause, resume, another token, a check now, and past checks. */
function verbRoutes(ctx: Ctx, monitoring: Monitoring) {
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
      "/monitors/:id/acknowledge",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) =>
          presentMonitor(acknowledgeMonitor(ctx, tx, id, body, actor)),
        ),
      {
        ...optionalJsonBody(AcknowledgeBody),
        ...operation({
          ...CHANGE,
          id: "acknowledgeMonitor",
          summary: "Acknowledge an outage",
          description:
            "No reminders are sent until the monitor recovers, which ends the acknowledgement. An outage that is acknowledged stays as it is. A monitor that is not down is a conflict.",
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
          summary: "Rotate the token of a push or alert monitor",
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
        const { row, locations } = getMonitorByReference(ctx.db, params.id);
        if (isPassive(row.type)) throw conflict(CANNOT_CHECK);
        requireSupported(row);
        if (row.paused) throw conflict("The monitor is paused. Resume it first.");
        const recorder = new StepRecorder(ctx.clock);
        const check = await monitoring.checkNow(row.id, recorder);
        return sendUntagged(presentCheckWithSteps(check, recorder.steps, locations));
      },
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "checkMonitor",
          summary: "Check a monitor now",
          description:
            "Runs a check at once and returns its result, which counts like any other, with its steps. Its other locations are asked too, and the result is that of the server if it is one of them. This can take as long as the monitor's timeout; at most 70 seconds. Then a failure is returned even if it waits for the checks of other monitors before it counts, and a check that has no result goes on: the answer is 503, and the result is listed later.",
          answers: { 200: { description: "The result.", schema: CheckWithSteps } },
          errors: ["not_found", "conflict"],
        }),
      },
    )
    .get(
      "/monitors/:id/checks",
      ({ params, query, request, requestContext }) => {
        const record = getMonitorByReference(ctx.db, params.id);
        const { limit, after: before } = readPageRequest(query, "number");
        const location = readLocationFilter(ctx.db, query);
        const rows = listChecksAt(ctx.db, record, { location, before, limit: limit + 1 });
        const page = toPage(
          rows,
          limit,
          ({ position }) => position,
          (check) => presentCheck(check, check.location),
        );
        const path = `${ctx.baseUrl}/api/v1/monitors/${record.row.id}/checks`;
        return sendList(request, requestContext, page, listAddress(path, query, limit));
      },
      {
        query: ChecksQuery,
        ...operation({
          ...DECLARED,
          id: "listMonitorChecks",
          summary: "List a monitor's results",
          description:
            "Newest first, of all locations that check it now, or of one. Results are kept for 48 hours unless the server is configured otherwise.",
          answers: { 200: { description: "A page of the list.", schema: ListOf(Check) } },
          errors: ["not_found"],
          conditional: "etag",
        }),
      },
    );
}

/* Heartbeats: the calls of jobs. */

/** Maximum length of a stored message, in code points. */
const MESSAGE_MAX = 1_000;

/** Maximum length of the id of a run, shorter than a token. */
const RID_MAX = 40;

/** Number of bytes of a body that are read. */
const BODY_READ_BYTES = 10_000;

/** Returns the meaning of a signal's name. Throws `not_found`. */
function meaningOf(signal: string): Meaning {
  const meaning = findMeaning(signal);
  if (meaning === undefined || meaning === "too large") {
    throw new Problem(
      "not_found",
      `The address of a heartbeat ends with its token, start, fail, log or an exit code from 0 to ${EXIT_CODE_MAX}.`,
    );
  }
  return meaning;
}

/** Returns the text of a signal, redacted and cut, and its other fields. */
function readSignal({ msg = "", ping = "", rid = "" }: SignalQuery) {
  const { message, isCut } = messageOf(msg, MESSAGE_MAX);
  const latencyMs = ping === "" ? null : Math.round(Number(ping));
  return { rid, message, latencyMs, isTruncated: isCut };
}

// A job's client may append parameters of its own. A rejection would look like a run that is missing.
const ANY_PARAMETERS = { additionalProperties: true };

const SignalQuery = Type.Object(
  {
    rid: Type.Optional(
      Text({
        maxLength: RID_MAX,
        pattern: "^[0-9A-Za-z._~-]*$",
        description: `Id of the run, such as a UUID, of up to ${RID_MAX} characters. It tells runs apart that overlap; may be empty.`,
        examples: ["0c5f4c6e-6a52-4b8e-9d5e-6f2d0f3a9c11"],
      }),
    ),
    msg: Type.Optional(
      Text({
        description: `A message of up to ${MESSAGE_MAX.toLocaleString("en")} characters; a longer one is cut. A request whose URL and headers together exceed 16 KB is rejected with 431 and no body.`,
        examples: ["disk full"],
      }),
    ),
    ping: Type.Optional(
      Text({
        maxLength: 20,
        pattern: "^(\\d{1,9}(\\.\\d+)?)?$",
        description:
          "Duration of the job in milliseconds; may be empty. Default: the time since its start, if that was reported. Ignored for start and log.",
      }),
    ),
  },
  ANY_PARAMETERS,
);
type SignalQuery = Static<typeof SignalQuery>;

const HeartbeatQuery = Type.Object(
  {
    status: Type.Optional(
      OneOf(["up", "down"], { description: "Outcome of the run. Default: up." }),
    ),
    ...SignalQuery.properties,
  },
  ANY_PARAMETERS,
);
type HeartbeatQuery = Static<typeof HeartbeatQuery>;

const Accepted = Type.Object({
  ok: Type.Literal(true),
  msg_truncated: Type.Optional(
    Type.Literal(true, { description: "Present if the message was too long and has been cut." }),
  ),
  ...OPTIONAL_ALERT_COUNTS,
});

const HEARTBEATS = {
  tag: "Heartbeats",
  access: { kind: "heartbeat" },
  answers: { 200: { description: "The signal was stored.", schema: Accepted } },
  errors: ["conflict"],
} as const;

const POSTED = {
  ...HEARTBEATS,
  errors: ["conflict", "payload_too_large", "validation_failed"],
} as const;

const MESSAGE_BODY = beginningOf<unknown>(BODY_READ_BYTES, {
  instead: "msg",
  ofCaller: ({ caller }) =>
    caller.kind === "job" && caller.owner.takesAlerts ? ALERT_BODY : undefined,
});

const DESCRIPTION =
  "A job calls this after each run. Without `status=down` the run counts as successful. Each token has a limit of 120 calls a minute.";

/** Parameter of the path of a signal. */
const SIGNAL_PATH = {
  signal: Text({
    pattern: "^(start|fail|log|\\d{1,3})$",
    description: `\`start\`, \`fail\`, \`log\`, or the exit code of the job, 0 to ${EXIT_CODE_MAX}.`,
    examples: ["start"],
  }),
};

const SIGNAL_DESCRIPTION =
  "The path ends with `start`, `fail`, `log` or the exit code of the job, 0 to 255, of which 0 is a success. A start opens a run; without its end within the grace period, the check fails. A success with the `rid` of a run ends that run; a failure, and a success without `rid`, ends all. A log is kept as a message. All calls with a token share its limit of 120 a minute.";

const BODY_DESCRIPTION = `Without \`msg\` the text of the body is the message, whatever its media type. Its first ${BODY_READ_BYTES.toLocaleString("en")} bytes are read; the rest is ignored, as is a body that is not UTF-8. After 10 seconds the part received so far is used. A call whose connection is closed before that is not recorded. A body with a \`Content-Encoding\` is rejected.`;

const POST_DESCRIPTION = `${DESCRIPTION} ${BODY_DESCRIPTION} With the token of an alert monitor, the body is JSON of its format, up to 1 MiB, with the limit of reportAlerts.`;

/** `/api/v1/heartbeats`: calls of monitored jobs, with the token in the path or as bearer. */
function heartbeatRoutes(monitoring: Monitoring, intake: AlertIntake) {
  const pass = async (requestContext: RequestContext, meaning: Meaning, query: SignalQuery) => {
    const { monitorId, token, takesAlerts } = tokenOwnerOf(requestContext);
    if (takesAlerts) {
      throw conflict("The monitor takes alerts. Send them by POST to the address with its token.");
    }
    const { latencyMs, isTruncated, ...signal } = readSignal(query);
    const parts = { ...signal, token, isFromOutside: isFromOutside(requestContext) };
    const beat = "kind" in meaning ? { ...meaning, ...parts } : { ...meaning, ...parts, latencyMs };
    await monitoring.heartbeat(monitorId, beat);
    return sendUntagged({ ok: true, ...(isTruncated ? { msg_truncated: true } : {}) });
  };
  const take = (requestContext: RequestContext, { status = "up", ...query }: HeartbeatQuery) =>
    pass(requestContext, { outcome: status === "up" ? "ok" : "failed" }, query);
  const takePost = async (requestContext: RequestContext, query: HeartbeatQuery, body: unknown) => {
    const { monitorId, takesAlerts } = tokenOwnerOf(requestContext);
    return takesAlerts
      ? sendUntagged({ ok: true, ...(await intake.ofToken(monitorId, body)) })
      : take(requestContext, { msg: messageInBody(body as Uint8Array), ...query });
  };
  return declareRoutes()
    .get("/heartbeats/:token", ({ query, requestContext }) => take(requestContext, query), {
      query: HeartbeatQuery,
      ...operation({
        ...HEARTBEATS,
        id: "sendHeartbeat",
        summary: "Record a heartbeat",
        description: DESCRIPTION,
      }),
    })
    .post(
      "/heartbeats/:token",
      ({ query, body, requestContext }) => takePost(requestContext, query, body),
      {
        query: HeartbeatQuery,
        ...MESSAGE_BODY,
        ...operation({
          ...POSTED,
          id: "postHeartbeat",
          summary: "Record a heartbeat",
          description: POST_DESCRIPTION,
        }),
      },
    )
    .get(
      "/heartbeats/:token/:signal",
      ({ params, query, requestContext }) => pass(requestContext, meaningOf(params.signal), query),
      {
        query: SignalQuery,
        ...operation({
          ...HEARTBEATS,
          id: "sendSignal",
          path: SIGNAL_PATH,
          summary: "Record the start, the end or a message of a run",
          description: SIGNAL_DESCRIPTION,
        }),
      },
    )
    .post(
      "/heartbeats/:token/:signal",
      ({ params, query, body, requestContext }) =>
        pass(requestContext, meaningOf(params.signal), {
          // Alerts are refused.
          ...(body instanceof Uint8Array && { msg: messageInBody(body) }),
          ...query,
        }),
      {
        query: SignalQuery,
        ...MESSAGE_BODY,
        ...operation({
          ...POSTED,
          id: "postSignal",
          path: SIGNAL_PATH,
          summary: "Record the start, the end or a message of a run",
          description: `${SIGNAL_DESCRIPTION} ${BODY_DESCRIPTION}`,
        }),
      },
    )
    .get("/heartbeats", ({ query, requestContext }) => take(requestContext, query), {
      query: HeartbeatQuery,
      ...operation({
        ...HEARTBEATS,
        id: "sendHeartbeatAsBearer",
        summary: "Record a heartbeat, with the token as bearer",
        description: DESCRIPTION,
      }),
    })
    .post(
      "/heartbeats",
      ({ query, body, requestContext }) => takePost(requestContext, query, body),
      {
        query: HeartbeatQuery,
        ...MESSAGE_BODY,
        ...operation({
          ...POSTED,
          id: "postHeartbeatAsBearer",
          summary: "Record a heartbeat, with the token as bearer",
          description: POST_DESCRIPTION,
        }),
      },
    );
}
