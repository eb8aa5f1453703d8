/* Alerts of other programs: `/api/v1/alerts` with a key, and the bodies that come with a monitor's own token. */
import { type Static, Type } from "@sinclair/typebox";
import { notFound, unavailable } from "../../base/errors";
import { runInSlices } from "../../base/in-slices";
import type { Ctx } from "../../context";
import { sendUntagged } from "../../http/answers";
import { declareBody } from "../../http/body";
import { declareRoutes } from "../../http/elysia";
import { foreignJson } from "../../http/json-body";
import { operation } from "../../http/operation";
import { bearerOf } from "../../http/request-context";
import { formatOf, readAlerts, readMapped, type ReportedAlert, unknownShape } from "./alerts/read";
import { type AlertReport, createAlertDirectory, planReport } from "./alerts/reports";
import type { Monitoring } from "./monitoring";

/** Limits of a body: about 2,500 alerts of Alertmanager. */
const BODY_LIMITS = { maxBytes: 1024 * 1024, fieldsMax: 60_000 };

/** Bodies that are under way at most, since each may take a megabyte. */
const WAITING_MAX = 100;

/** Changes that one transaction writes, so that other requests run between them. */
const CHANGES_PER_WRITE = 250;

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

/** A body of alerts, as its sender writes it. */
export const ALERT_BODY = foreignJson(AlertBody, BODY_LIMITS);

const ALERT_COUNTS = {
  alerts: Type.Integer({ minimum: 0, description: "Number of alerts in the body." }),
  matched: Type.Integer({ minimum: 0, description: "Number of those that matched a monitor." }),
  monitors: Type.Array(Type.String(), { description: "Ids of the monitors that they matched." }),
};

/** Answer to alerts with the token of a monitor, of which the parts are in the answer to heartbeats. */
export const OPTIONAL_ALERT_COUNTS = Type.Partial(Type.Object(ALERT_COUNTS)).properties;

const TakenAlerts = Type.Object(ALERT_COUNTS, { title: "TakenAlerts" });

/** Takes bodies of alerts. Each resolves once it is stored. */
export interface AlertIntake {
  /** Takes a body of a known format, for all monitors of that format. */
  ofKey(keyId: string, body: unknown): Promise<Static<typeof TakenAlerts>>;
  /** Takes a body for one monitor. */
  ofToken(monitorId: string, body: unknown): Promise<Static<typeof TakenAlerts>>;
}

/** Creates the intake. Bodies are taken one after another, so that the last report of an alert counts. */
export function createAlertIntake(ctx: Ctx, monitoring: Monitoring): AlertIntake {
  const directory = createAlertDirectory(ctx);
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (waiting >= WAITING_MAX) throw unavailable("Too many bodies of alerts wait; try again.", 1);
    waiting += 1;
    const result = last.then(work).finally(() => {
      waiting -= 1;
    });
    last = result.catch(() => {});
    return result;
  }

  async function take(
    report: Omit<AlertReport, "alerts" | "now" | "heardSince">,
    read: Generator<number, readonly ReportedAlert[]>,
  ): Promise<Static<typeof TakenAlerts>> {
    const alerts = await runInSlices(read);
    const now = ctx.clock.now();
    const heardSince = monitoring.heardSince();
    const plan = await runInSlices(planReport(ctx.db, { ...report, alerts, now, heardSince }));
    const { matched, monitorIds, changes, affected } = plan;
    try {
      for (let start = 0; start < changes.length; start += CHANGES_PER_WRITE) {
        const part = changes.slice(start, start + CHANGES_PER_WRITE);
        // oxlint-disable-next-line no-await-in-loop
        await ctx.db.write((tx) => {
          for (const change of part) change(tx);
        });
      }
    } finally {
      // Also after a part that could not be written.
      monitoring.alertsChanged(affected);
    }
    return { alerts: alerts.length, matched, monitors: [...monitorIds] };
  }

  return {
    ofKey: (keyId, body) =>
      inTurn(async () => {
        const format = formatOf(body) ?? unknownShape("Alertmanager or Grafana");
        const monitors = directory.ofFormat(format);
        return take({ sender: keyId, format, monitors }, readAlerts(format, body));
      }),
    ofToken: (monitorId, body) =>
      inTurn(async () => {
        const monitor = directory.find(monitorId);
        if (!monitor) throw notFound("monitor");
        const { format, mapping } = monitor.config;
        const report = { sender: monitorId, format, monitors: [monitor] };
        if (mapping) return take(report, readMapped(mapping, body));
        if (formatOf(body) !== format) unknownShape(`the monitor's format ${format}`);
        return take(report, readAlerts(format, body));
      }),
  };
}

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
        answers: { 200: { description: "The alerts were stored.", schema: TakenAlerts } },
      }),
    },
  );
}
