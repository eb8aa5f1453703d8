import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../context";
import { NO_STORE } from "../http/representation";
import { operation } from "../http/operation";
import type { RequestContexts } from "../http/elysia";
import { kumaMetrics } from "./kuma/metrics";

/** `GET /compat/kuma/metrics`, for programs that read monitors from the metrics of Uptime Kuma. */
export function kumaMetricsRoutes(ctx: Ctx, requestContexts: RequestContexts) {
  return new Elysia().use(requestContexts.plugin).get(
    "/compat/kuma/metrics",
    async () => {
      const text = await kumaMetrics(ctx.db, ctx.clock.now());
      const type = "text/plain; version=0.0.4; charset=utf-8";
      return new Response(text, { headers: { "Content-Type": type, "Cache-Control": NO_STORE } });
    },
    operation({
      id: "getKumaMetrics",
      summary: "Read the monitors as metrics of Uptime Kuma",
      description:
        "All monitors that are not paused, in the text format of Prometheus. The key is sent as bearer token, or as the password of Basic authentication with any user name.",
      tag: "Metrics",
      access: { kind: "key", scopes: ["read:analytics"], takesBasic: true },
      answers: {
        200: {
          description: "The current metrics.",
          schema: Type.String(),
          mediaType: "text/plain",
        },
      },
    }),
  );
}
