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
import { BODY_READ_BYTES, MESSAGE_MAX, messageInBody, readHeartbeat } from "./heartbeat-message";
import type { Monitoring } from "./monitoring";

const HeartbeatQuery = Type.Object(
  {
    status: Type.Optional(OneOf(["up", "down"], { description: "up if left out." })),
    msg: Type.Optional(
      Text({
        description: `A message of up to ${MESSAGE_MAX.toLocaleString("en")} characters; a longer one is cut. The runtime refuses a request whose URL and headers together exceed 16 KB with 431 and no body.`,
        examples: ["disk full"],
      }),
    ),
    ping: Type.Optional(
      Text({
        maxLength: 20,
        pattern: "^(\\d{1,9}(\\.\\d+)?)?$",
        description: "How long the job took, in milliseconds; may be empty.",
      }),
    ),
  },
  { additionalProperties: false },
);
type HeartbeatQuery = Static<typeof HeartbeatQuery>;

const Taken = Type.Object({
  ok: Type.Literal(true),
  msg_truncated: Type.Optional(
    Type.Literal(true, { description: "Present if the message was too long and has been cut." }),
  ),
});

const DECLARED = {
  tag: "Heartbeats",
  access: { kind: "heartbeat" },
  answers: { 200: { description: "It is written down.", schema: Taken } },
} as const;

const MESSAGE_BODY = beginningOf(BODY_READ_BYTES, { instead: "msg" });

const DESCRIPTION =
  "A job calls this when it has run; without `status=down` that says that it went well. 60 calls a minute are taken by each token.";

const POST_DESCRIPTION = `${DESCRIPTION} Without \`msg\` the text of the body is the message, whatever its media type: its first ${BODY_READ_BYTES.toLocaleString("en")} bytes are read and the rest is ignored, as is a body that is not UTF-8. What has come after 10 seconds is taken. A body with a \`Content-Encoding\` is refused.`;

/** `/api/v1/heartbeats`: watched jobs call, with the token of their monitor in the path or as bearer. */
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
        summary: "Say that a job has run",
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
          summary: "Say that a job has run",
          description: POST_DESCRIPTION,
        }),
      },
    )
    .get("/heartbeats", ({ query, requestContext }) => take(requestContext, query), {
      query: HeartbeatQuery,
      ...operation({
        ...DECLARED,
        id: "sendHeartbeatAsBearer",
        summary: "Say that a job has run, with the token as bearer",
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
          summary: "Say that a job has run, with the token as bearer",
          description: POST_DESCRIPTION,
        }),
      },
    );
}
