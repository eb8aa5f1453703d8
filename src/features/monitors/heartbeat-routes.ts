import { type Static, Type } from "@sinclair/typebox";
import { isFromOutside, type RequestContext, tokenOwnerOf } from "../../http/request-context";
import { declareRoutes } from "../../http/elysia";
import { beginningOf } from "../../http/body";
import { operation } from "../../http/operation";
import { sendUntagged } from "../../http/answers";
import { Problem } from "../../base/errors";
import { OneOf, Text } from "../../base/schema";
import type { Monitoring } from "./monitoring";
import { EXIT_CODE_MAX, findMeaning, type Meaning, messageInBody, messageOf } from "./signal-text";

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
});

const DECLARED = {
  tag: "Heartbeats",
  access: { kind: "heartbeat" },
  answers: { 200: { description: "The signal was stored.", schema: Accepted } },
} as const;

const MESSAGE_BODY = beginningOf(BODY_READ_BYTES, { instead: "msg" });

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

const POST_DESCRIPTION = `${DESCRIPTION} ${BODY_DESCRIPTION}`;

/** `/api/v1/heartbeats`: calls of monitored jobs, with the token in the path or as bearer. */
export function heartbeatRoutes(monitoring: Monitoring) {
  const pass = async (requestContext: RequestContext, meaning: Meaning, query: SignalQuery) => {
    const { monitorId, token } = tokenOwnerOf(requestContext);
    const { latencyMs, isTruncated, ...signal } = readSignal(query);
    const parts = { ...signal, token, isFromOutside: isFromOutside(requestContext) };
    const beat = "kind" in meaning ? { ...meaning, ...parts } : { ...meaning, ...parts, latencyMs };
    await monitoring.heartbeat(monitorId, beat);
    return sendUntagged({ ok: true, ...(isTruncated ? { msg_truncated: true } : {}) });
  };
  const take = (requestContext: RequestContext, { status = "up", ...query }: HeartbeatQuery) =>
    pass(requestContext, { outcome: status === "up" ? "ok" : "failed" }, query);
  const takePost = (requestContext: RequestContext, query: HeartbeatQuery, body: Uint8Array) =>
    take(requestContext, { msg: messageInBody(body), ...query });
  return declareRoutes()
    .get("/heartbeats/:token", ({ query, requestContext }) => take(requestContext, query), {
      query: HeartbeatQuery,
      ...operation({
        ...DECLARED,
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
          ...DECLARED,
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
          ...DECLARED,
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
        pass(requestContext, meaningOf(params.signal), { msg: messageInBody(body), ...query }),
      {
        query: SignalQuery,
        ...MESSAGE_BODY,
        ...operation({
          ...DECLARED,
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
        ...DECLARED,
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
          ...DECLARED,
          id: "postHeartbeatAsBearer",
          summary: "Record a heartbeat, with the token as bearer",
          description: POST_DESCRIPTION,
        }),
      },
    );
}
