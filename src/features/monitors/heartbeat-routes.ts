import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type Admissions, monitorIdOf, operation, sendUntagged } from "../../http";
import { redactText } from "../../kernel/redact";
import { OneOf, Text } from "../../kernel/schema";
import type { Heartbeat, Monitoring } from "./monitoring";

const MESSAGE_MAX = 300;

const HeartbeatQuery = Type.Object(
  {
    status: Type.Optional(OneOf(["up", "down"], { description: "up if left out." })),
    msg: Type.Optional(
      Text({
        maxLength: 100_000,
        description: `What there is to say; its first ${MESSAGE_MAX} characters are kept.`,
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

const Taken = Type.Object({ ok: Type.Literal(true) });

const DECLARED = {
  tag: "Heartbeats",
  access: { kind: "heartbeat" },
  answers: { 200: { description: "It is written down.", schema: Taken } },
} as const;

const DESCRIPTION =
  "A job calls this when it has run; without `status=down` that says that it went well. A body is not read, whatever it is. 60 calls a minute are taken by each token.";

/** `/api/v1/heartbeats`: watched jobs call, with the token of their monitor in the path or as bearer. */
export function heartbeatRoutes(admissions: Admissions, monitoring: Monitoring) {
  const take = async (monitorId: string, query: HeartbeatQuery) => {
    await monitoring.heartbeat(monitorId, readHeartbeat(query));
    return sendUntagged({ ok: true });
  };
  return new Elysia()
    .use(admissions.plugin)
    .get("/heartbeats/:token", ({ query, admission }) => take(monitorIdOf(admission), query), {
      query: HeartbeatQuery,
      ...operation({
        ...DECLARED,
        id: "sendHeartbeat",
        summary: "Say that a job has run",
        description: DESCRIPTION,
      }),
    })
    .post("/heartbeats/:token", ({ query, admission }) => take(monitorIdOf(admission), query), {
      query: HeartbeatQuery,
      parse: "none",
      ...operation({
        ...DECLARED,
        id: "postHeartbeat",
        summary: "Say that a job has run",
        description: DESCRIPTION,
      }),
    })
    .get("/heartbeats", ({ query, admission }) => take(monitorIdOf(admission), query), {
      query: HeartbeatQuery,
      ...operation({
        ...DECLARED,
        id: "sendHeartbeatAsBearer",
        summary: "Say that a job has run, with the token as bearer",
        description: DESCRIPTION,
      }),
    })
    .post("/heartbeats", ({ query, admission }) => take(monitorIdOf(admission), query), {
      query: HeartbeatQuery,
      parse: "none",
      ...operation({
        ...DECLARED,
        id: "postHeartbeatAsBearer",
        summary: "Say that a job has run, with the token as bearer",
        description: DESCRIPTION,
      }),
    });
}

/** What a job says, without what must stand nowhere. */
function readHeartbeat({ status = "up", msg = "", ping = "" }: HeartbeatQuery): Heartbeat {
  const message = [...redactText(msg)].slice(0, MESSAGE_MAX).join("").trim();
  return {
    outcome: status === "up" ? "ok" : "failed",
    latencyMs: ping === "" ? null : Math.round(Number(ping)),
    message: message === "" ? null : message,
  };
}
