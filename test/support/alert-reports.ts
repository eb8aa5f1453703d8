import { createEgress } from "../../src/egress/egress";
import { createMonitoring } from "../../src/features/monitors/engine/engine";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { listSpans } from "../../src/features/monitors/spans-store";
import { listAlertsOf } from "../../src/features/monitors/alerts/alert-store";
import { createIdleMonitoring, type Monitoring } from "../../src/features/monitors/monitoring";
import { type Alarms, createAlarms } from "../../src/features/alarms/alarms";
import type { Ctx } from "../../src/context";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import { settle, type TestClock } from "./clock";

/** Alert in a body of Alertmanager or Grafana. */
export interface SentAlert {
  labels: Record<string, string>;
  status?: "firing" | "resolved";
  fingerprint?: string;
  startsAt?: string;
  annotations?: Record<string, string>;
}

/** Returns a body as Alertmanager 0.28 sends it to a webhook (version 4 of its format). */
export function alertmanagerBody(...alerts: SentAlert[]): object {
  return {
    version: "4",
    groupKey: '{}:{alertname="HighErrors"}',
    truncatedAlerts: 0,
    status: alerts.some(({ status = "firing" }) => status === "firing") ? "firing" : "resolved",
    receiver: "allclear",
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    externalURL: "http://alertmanager.example.com:9093",
    alerts: alerts.map(({ status = "firing", ...alert }) => ({
      status,
      annotations: {},
      startsAt: "2021-01-01T00:00:00Z",
      endsAt: "0001-01-01T00:00:00Z",
      generatorURL: "http://prometheus.example.com/graph",
      ...alert,
    })),
  };
}

/** An app with a running engine, to which senders report alerts. */
export interface AlertSite extends AsyncDisposable {
  app: TestApp;
  clock: TestClock;
  /** Component ids by name, of the page acme. */
  components: Record<string, string>;
  pageId: string;
  /** Key that manages monitors. */
  key: string;
  /** Key of a sender. */
  sender: string;
  /** Creates a monitor of the type alert; `config` adds to the format alertmanager. */
  monitor(config?: object, more?: object): Promise<Answer["body"]>;
  /** Sends a body with the key of the sender. */
  report(body: unknown, options?: CallOptions): Promise<Answer>;
  /** Sends a body with the token of a monitor. */
  reportTo(token: string, body: unknown, options?: CallOptions): Promise<Answer>;
  state(id: string): string;
  /** States as `<state> <start>`, in seconds since the start of the test. */
  timeline(id: string): string[];
  /** Titles of the open alerts. */
  open(id: string): string[];
  /** Ends the process between two instructions, and starts another one after `afterMs`. */
  restart(afterMs?: number): Promise<void>;
}

export async function openAlertSite(
  options: Omit<Parameters<typeof createTestApp>[0] & object, "monitoring"> = {},
): Promise<AlertSite> {
  let engine: ReturnType<typeof createMonitoring>;
  let alarms: Alarms;
  const begin = (ctx: Ctx) => {
    alarms = createAlarms(ctx);
    engine = createMonitoring(ctx, createEgress(ctx), { alarms });
  };
  const end = async () => {
    await engine.stop();
    await alarms.stop();
  };
  const monitoring = (ctx: Ctx): Monitoring => {
    begin(ctx);
    return {
      ...createIdleMonitoring(ctx),
      checkNow: (...given) => engine.checkNow(...given),
      heartbeat: (...given) => engine.heartbeat(...given),
      alertsChanged: (ids) => engine.alertsChanged(ids),
      nextCheckAt: (id) => engine.nextCheckAt(id),
      tryOut: (...given) => engine.tryOut(...given),
    };
  };
  const app = await createTestApp({ ...options, monitoring });
  const { clock } = app;
  const startedAt = clock.now();
  engine!.start();
  await settle();
  const { page, components } = await app.page({}, ["Checkout", "API"]);
  const key = await app.keyWith("manage:monitors");
  const sender = await app.keyWith("write:components");
  return {
    app,
    clock,
    components,
    pageId: page.id,
    key,
    sender,
    async monitor(config = {}, more = {}) {
      const json = {
        type: "alert",
        name: "Checkout alerts",
        component_ids: [components["Checkout"]],
        config: { format: "alertmanager", ...config },
        ...more,
      };
      const answer = await app.call("/api/v1/monitors", { method: "POST", key, json });
      if (answer.status !== 201) throw new Error(answer.text);
      await settle();
      return answer.body;
    },
    async report(body, more = {}) {
      const answer = await app.call("/api/v1/alerts", {
        method: "POST",
        key: sender,
        json: body,
        ...more,
      });
      await settle();
      return answer;
    },
    async reportTo(token, body, more = {}) {
      const path = `/api/v1/heartbeats/${token}`;
      const answer = await app.call(path, { method: "POST", json: body, ...more });
      await settle();
      return answer;
    },
    state: (id) => getMonitorRecord(app.ctx.db, id).state.state,
    timeline(id) {
      const nums = JSON.stringify([getMonitorRecord(app.ctx.db, id).row.num]);
      return listSpans(app.ctx.db, { nums, from: 0, to: Number.MAX_SAFE_INTEGER }).map(
        ({ row }) => `${row.state} ${(row.startedAt - startedAt) / 1000}`,
      );
    },
    open: (id) =>
      listAlertsOf(app.ctx.db, { monitorNum: getMonitorRecord(app.ctx.db, id).row.num }).map(
        ({ title }) => title,
      ),
    async restart(afterMs = 0) {
      await end();
      await clock.advance(afterMs);
      begin(app.ctx);
      engine.start();
      await settle();
    },
    async [Symbol.asyncDispose]() {
      await end();
      await app[Symbol.asyncDispose]();
    },
  };
}
