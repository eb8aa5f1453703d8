import type { Ctx } from "../../context";
import { sendUntagged } from "../../http/answers";
import { declareRoutes } from "../../http/elysia";
import { ANY_KEY, operation } from "../../http/operation";
import { bearerOf } from "../../http/request-context";
import type { Limiter } from "../limits/limiter";
import { getKey } from "./records";
import type { KeyUsage } from "./usage";
import { OwnKey } from "./wire";

/** `GET /api/v1/key`: the record of the key that calls. */
export function keyRoutes(ctx: Ctx, limiter: Limiter, usage: KeyUsage) {
  return declareRoutes("/api/v1").get(
    "/key",
    ({ requestContext }) => {
      const stored = getKey(ctx.db, bearerOf(requestContext).key.id, usage.pendingLastUse);
      const own: OwnKey = {
        id: stored.id,
        name: stored.name,
        start: stored.start,
        scopes: [...stored.scopes] as OwnKey["scopes"],
        rate_limit: stored.rate_limit,
        remaining: limiter.remainingForKey(stored.id, stored.rate_limit),
        expires_at: stored.expires_at,
        last_used_at: stored.last_used_at,
        created_at: stored.created_at,
      };
      return sendUntagged(own);
    },
    operation({
      id: "getOwnKey",
      summary: "Read the key of the request",
      description: "The key that sends the request. Needs no scope.",
      tag: "Keys",
      access: ANY_KEY,
      answers: { 200: { description: "The key.", schema: OwnKey } },
    }),
  );
}
