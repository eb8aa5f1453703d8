import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  type RequestContext,
  type RequestContexts,
  beginningOf,
  monitorIdOf,
  operation,
  sendUntagged,
} from "../../http";
import { OneOf, Text } from "../../kernel/schema";
import { redactText } from "../../domain/redact";
import type { Monitoring, Heartbeat } from "./monitoring";

/** Maximum length of a stored message, in code points. */
const MESSAGE_MAX = 1_000;

/** Number of bytes of a body that are read. */
const BODY_READ_BYTES = 10_000;

// oxlint-disable-next-line no-control-regex
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** Query parameters of a heartbeat, after their schema has passed. */
interface HeartbeatInput {
  status?: "up" | "down";
  msg?: string;
  ping?: string;
}

/** Returns the heartbeat that a job reports, with the message redacted and cut. */
function readHeartbeat({ status = "up", msg = "", ping = "" }: HeartbeatInput): {
  heartbeat: Heartbeat;
  isTruncated: boolean;
} {
  const characters = [...redactText(msg.trim())];
  const message = characters.slice(0, MESSAGE_MAX).join("").trim();
  return {
    heartbeat: {
      outcome: status === "up" ? "ok" : "failed",
      latencyMs: ping === "" ? null : Math.round(Number(ping)),
      message: message === "" ? null : message,
    },
    isTruncated: characters.length > MESSAGE_MAX,
  };
}

/** Returns the text of a body's beginning, without control characters; empty for bytes that are not UTF-8. */
function messageInBody(bytes: Uint8Array): string {
  try {
    // An incomplete character at the end is left out.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return text.replace(CONTROL_CHARACTERS, "");
  } catch {
    return "";
  }
}

const HeartbeatQuery = Type.Object(
  {
    status: Type.Optional(
      OneOf(["up", "down"], { description: "Outcome of the run. Default: up." }),
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
        description: "Duration of the job in milliseconds; may be empty.",
      }),
    ),
  },
  { additionalProperties: false },
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
  answers: { 200: { description: "The heartbeat was stored.", schema: Accepted } },
} as const;

const MESSAGE_BODY = beginningOf(BODY_READ_BYTES, { instead: "msg" });

const DESCRIPTION =
  "A job calls this after each run. Without `status=down` the run counts as successful. Each token has a limit of 60 calls a minute.";

const POST_DESCRIPTION = `${DESCRIPTION} Without \`msg\` the text of the body is the message, whatever its media type. Its first ${BODY_READ_BYTES.toLocaleString("en")} bytes are read; the rest is ignored, as is a body that is not UTF-8. After 10 seconds the part received so far is used. A call whose connection is closed before that is not recorded. A body with a \`Content-Encoding\` is rejected.`;

/** `/api/v1/heartbeats`: calls of monitored jobs, with the token in the path or as bearer. */
export function heartbeatRoutes(requestContexts: RequestContexts, monitoring: Monitoring) {
  const take = async (requestContext: RequestContext, query: HeartbeatQuery) => {
    const { heartbeat, isTruncated } = readHeartbeat(query);
    await monitoring.heartbeat(monitorIdOf(requestContext), heartbeat);
    return sendUntagged({ ok: true, ...(isTruncated ? { msg_truncated: true } : {}) });
  };
  const takePost = (requestContext: RequestContext, query: HeartbeatQuery, body: Uint8Array) =>
    take(requestContext, { msg: messageInBody(body), ...query });
  return new Elysia()
    .use(requestContexts.plugin)
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
