/* Alerts of other programs: `/api/v1/alerts` with a key, and the bodies that come with a monitor's own token. */
import { type Static, Type } from "@sinclair/typebox";
import { notFound } from "../../base/errors";
import { runInSlices } from "../../base/in-slices";
import type { Ctx } from "../../context";
import { sendUntagged } from "../../http/answers";
import { declareBody } from "../../http/body";
import { declareRoutes } from "../../http/elysia";
import { foreignJson } from "../../http/json-body";
import { operation } from "../../http/operation";
import { bearerOf } from "../../http/request-context";
import { formatOf, readAlerts, readMapped, type ReportedAlert, unknownShape } from "./alerts/read";
import {
  type AlertMonitor,
  keepUnmatched,
  partsOf,
  readAlertMonitors,
  type ReportPart,
  type ReportSource,
  savePart,
} from "./alerts/reports";
import type { Monitoring } from "./monitoring";

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

const TakenAlerts = Type.Object(ALERT_COUNTS, { title: "TakenAlerts" });

/** Answer to alerts with the token of a monitor, of which the parts are in the answer to heartbeats. */
export const OPTIONAL_ALERT_COUNTS = Type.Partial(Type.Object(ALERT_COUNTS)).properties;

/** Takes bodies of alerts. Each resolves once it is stored. */
export interface AlertIntake {
  /** Takes a body of a known format, for all monitors of that format. */
  ofKey(keyId: string, body: unknown): Promise<Static<typeof TakenAlerts>>;
  /** Takes a body for one monitor. */
  ofToken(monitorId: string, body: unknown): Promise<Static<typeof TakenAlerts>>;
}

/** Pairs of an alert and a monitor that are stored at once, about 500 bytes each. */
const PAIRS_AT_ONCE = 2_000;

/** Creates the intake. Bodies are taken one after another, so that the last report of an alert counts. */
export function createAlertIntake(
  ctx: Ctx,
  monitoring: Pick<Monitoring, "alertsChanged">,
): AlertIntake {
  let known: { version: number; monitors: Promise<readonly AlertMonitor[]> } | undefined;
  const forget = () => {
    known = undefined;
  };
  ctx.signals.monitorsChanged.on(forget);
  let last: Promise<unknown> = Promise.resolve();

  /** Runs work after the earlier one. The room of bodies that are under way bounds the number of those that wait. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  }

  /** Returns the monitors as they are now. The database may have been changed by a command. */
  function alertMonitors(): Promise<readonly AlertMonitor[]> {
    const version = ctx.db.foreignVersion();
    if (known?.version !== version) {
      known = { version, monitors: runInSlices(readAlertMonitors(ctx.db)) };
      known.monitors.catch(forget);
    }
    return known.monitors;
  }

  /**
   * Stores a body. A large one is stored in pieces, so that neither memory nor a transaction grows with it; the
   * monitors are judged by the whole of it.
   */
  async function take(
    from: Omit<ReportSource, "now">,
    receivers: readonly AlertMonitor[],
    reading: Generator<number, readonly ReportedAlert[]>,
  ): Promise<Static<typeof TakenAlerts>> {
    const read = await runInSlices(reading);
    const source = { ...from, now: ctx.clock.now() };
    // Of an alert that a body has twice, the last one counts.
    const alerts = [...new Map(read.map((alert) => [alert.fingerprint, alert])).values()];
    const concerned = new Set<string>();
    const changed = new Set<string>();
    let matched = 0;

    async function savePiece(piece: readonly ReportedAlert[]): Promise<void> {
      const parts = await runInSlices(partsOf(ctx.db, receivers, piece, source));
      const taken = new Set(parts.flatMap((part) => part.matched));
      const others = piece.filter((each) => each.isFiring && !taken.has(each.fingerprint));
      const save = (part: ReportPart) =>
        ctx.db.write((tx) => {
          if (savePart(tx, part)) tx.afterCommit(() => changed.add(part.monitor.id));
        });
      await Promise.all([
        ...parts.filter(isNews).map(save),
        others.length > 0 && ctx.db.write((tx) => keepUnmatched(tx, others, source)),
      ]);
      matched += taken.size;
      for (const part of parts) if (part.matched.length > 0) concerned.add(part.monitor.id);
    }

    const size = Math.max(1, Math.floor(PAIRS_AT_ONCE / Math.max(1, receivers.length)));
    try {
      // A body without alerts is a report too.
      for (let start = 0; start === 0 || start < alerts.length; start += size) {
        // oxlint-disable-next-line no-await-in-loop
        await savePiece(alerts.slice(start, start + size));
      }
    } finally {
      monitoring.alertsChanged(changed);
    }
    return { alerts: read.length, matched, monitors: [...concerned] };
  }

  return {
    ofKey: (sender, body) =>
      inTurn(async () => {
        const format = formatOf(body) ?? unknownShape("Alertmanager or Grafana");
        const receivers = (await alertMonitors()).filter(({ config }) => config.format === format);
        return take({ sender, format }, receivers, readAlerts(format, body));
      }),
    ofToken: (monitorId, body) =>
      inTurn(async () => {
        const monitor = (await alertMonitors()).find(({ id }) => id === monitorId);
        if (!monitor) throw notFound("monitor");
        const { format, mapping } = monitor.config;
        if (!mapping && formatOf(body) !== format) unknownShape(`the monitor's format ${format}`);
        const reading = mapping ? readMapped(mapping, body) : readAlerts(format, body);
        return take({ sender: monitorId, format }, [monitor], reading);
      }),
  };
}

/** Returns true if a part is to be stored. */
function isNews({ heartbeatAt, firing, ended }: ReportPart): boolean {
  return heartbeatAt !== undefined || firing.length + ended.length > 0;
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
        answers: {
          200: { description: "The alerts were stored.", schema: TakenAlerts },
        },
      }),
    },
  );
}
