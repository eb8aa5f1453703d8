/* Routes for alerts of other programs: `/api/v1/alerts` with a key, and the bodies that come with a monitor's own token. */
import { Type } from "@sinclair/typebox";
import { sendUntagged } from "../../http/answers";
import { declareBody } from "../../http/body";
import { declareRoutes } from "../../http/elysia";
import { foreignJson } from "../../http/json-body";
import { operation } from "../../http/operation";
import { bearerOf } from "../../http/request-context";
import type { AlertIntake } from "./alerts/reports";

const AlertBody = Type.Object(
  { alerts: Type.Array(Type.Object({}, { additionalProperties: true })) },
  {
    additionalProperties: true,
    title: "AlertBody",
    description: "A body of Alertmanager or Grafana, as their webhooks send it.",
    examples: [
      {
        version: "4",
        groupKey: '{}:{alertname="HighErrors"}',
        alerts: [
          {
            status: "firing",
            labels: { alertname: "HighErrors", service: "checkout", severity: "critical" },
            annotations: { summary: "More than 5 % of the orders fail." },
            startsAt: "2026-01-10T02:00:00Z",
          },
        ],
      },
    ],
  },
);

/** A body of alerts, as its sender writes it: about 2,500 alerts of Alertmanager at most. */
export const ALERT_BODY = foreignJson(AlertBody, { maxBytes: 1024 * 1024, fieldsMax: 60_000 });

const ALERT_COUNTS = {
  alerts: Type.Integer({ minimum: 0, description: "Number of alerts in the body." }),
  matched: Type.Integer({ minimum: 0, description: "Number of those that matched a monitor." }),
  monitors: Type.Array(Type.String(), { description: "Ids of the monitors that they matched." }),
};

/** Answer to alerts with the token of a monitor, of which the parts are in the answer to heartbeats. */
export const OPTIONAL_ALERT_COUNTS = Type.Partial(Type.Object(ALERT_COUNTS)).properties;

/** `/api/v1/alerts`. */
export function alertReportRoutes(intake: AlertIntake) {
  return declareRoutes().post(
    "/alerts",
    async ({ body, requestContext }) =>
      sendUntagged(await intake.ofKey(bearerOf(requestContext).key.id, body)),
    {
      ...declareBody<unknown>(ALERT_BODY),
      ...operation({
        id: "reportAlerts",
        tag: "Heartbeats",
        access: { kind: "key", scopes: ["write:components"], takesAlerts: true },
        summary: "Report alerts of Alertmanager or Grafana",
        description:
          "Every monitor of the type alert and of the body's format judges the alerts, so one receiver serves all. The answer is 200 once they are stored, also if none of them matches. A key has a limit of 1,200 bodies a minute, apart from its other requests; beyond it the answer is 503 with Retry-After. Bodies have up to 1 MiB.",
        answers: {
          200: {
            description: "The alerts were stored.",
            schema: Type.Object(ALERT_COUNTS, { title: "TakenAlerts" }),
          },
        },
      }),
    },
  );
}
