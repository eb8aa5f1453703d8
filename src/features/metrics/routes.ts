import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type RequestContexts, NO_STORE, operation, scope } from "../../http";
import type { Metrics } from "./metrics";

/** `GET /metrics`, in Prometheus's text format. */
export function metricsRoutes(metrics: Metrics, requestContexts: RequestContexts) {
  return new Elysia().use(requestContexts.plugin).get(
    "/metrics",
    async () => {
      const { contentType, text } = await metrics.expose();
      return new Response(text, {
        headers: { "Content-Type": contentType, "Cache-Control": NO_STORE },
      });
    },
    operation({
      id: "getMetrics",
      summary: "Read the server's own figures",
      description:
        "In Prometheus's text format: monitors, checks, requests, limits, the database and the process. Set the key as the scraper's bearer token.",
      tag: "Metrics",
      access: scope("read:analytics"),
      answers: {
        200: {
          description: "The figures as they are now.",
          schema: Type.String(),
          mediaType: "text/plain",
        },
      },
    }),
  );
}
