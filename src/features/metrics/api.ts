import { Type } from "@sinclair/typebox";
import { declareRoutes } from "../../http/elysia";
import { operation, scope } from "../../http/operation";
import { NO_STORE } from "../../http/representation";
import type { Metrics } from "./metrics";

/** `GET /metrics`, in Prometheus's text format. */
export function metricsRoutes(metrics: Metrics) {
  return declareRoutes().get(
    "/metrics",
    async () => {
      const { contentType, text } = await metrics.expose();
      return new Response(text, {
        headers: { "Content-Type": contentType, "Cache-Control": NO_STORE },
      });
    },
    operation({
      id: "getMetrics",
      summary: "Read the metrics of the server",
      description:
        "Metrics of monitors, checks, requests, rate limits, database and process, in the text format of Prometheus. The scraper sends the key as bearer token.",
      tag: "Metrics",
      access: scope("read:analytics"),
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
