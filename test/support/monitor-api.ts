import {
  createIdleMonitoring,
  type Heartbeat,
  type Monitoring,
} from "../../src/features/monitors/monitoring";
import { ofMonitors } from "../../src/features/monitors/checks-store";
import { findMonitor, listAllMonitors } from "../../src/features/monitors/store";
import type { Ctx } from "../../src/context";
import { notFound } from "../../src/base/errors";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";

/** An app whose monitors are checked on demand only, and a key that manages them. */
export interface MonitorApi extends AsyncDisposable {
  app: TestApp;
  key: string;
  /** Component ids by name: API and Website, of the page acme. */
  components: Record<string, string>;
  /** Calls a path below `/api/v1/monitors` with the key. */
  call(path?: string, options?: CallOptions): Promise<Answer>;
  post(json: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(id: string, json: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a monitor, by default of type http, and returns it. */
  create(input?: object): Promise<Answer["body"]>;
  /** Heartbeats in order of arrival. */
  heartbeats: (Heartbeat & { id: string })[];
  /** Ids of the monitors that were checked on demand. */
  checked: string[];
  /** Returns the state that a rejected request must leave unchanged. */
  written(): unknown;
}

export const HTTP = { type: "http", name: "Shop", config: { url: "https://shop.example.com/" } };

export async function createMonitorApi(
  options: Omit<Parameters<typeof createTestApp>[0] & object, "monitoring"> = {},
): Promise<MonitorApi> {
  const heartbeats: MonitorApi["heartbeats"] = [];
  const checked: string[] = [];
  const app = await createTestApp({
    ...options,
    monitoring: (ctx) => recordingMonitoring(ctx, heartbeats, checked),
  });
  const { components } = await app.page();
  const key = await app.keyWith("manage:monitors");
  const call: MonitorApi["call"] = (path = "", more = {}) =>
    app.call(`/api/v1/monitors${path}`, { key, ...more });
  const post: MonitorApi["post"] = (json, headers = {}) =>
    call("", { method: "POST", json, headers });
  return {
    app,
    key,
    components,
    call,
    post,
    patch: (id, json, headers = {}) => call(`/${id}`, { method: "PATCH", json, headers }),
    async create(input = {}) {
      const answer = await post({ ...HTTP, ...input });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    heartbeats,
    checked,
    written: () => ({
      audit: app.audit(),
      events: app.events(),
      monitors: listAllMonitors(app.ctx.db, {}),
    }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Creates a monitoring that stores a result for each check on demand and keeps heartbeats. */
export function recordingMonitoring(
  ctx: Ctx,
  heartbeats: MonitorApi["heartbeats"],
  checked: string[],
): Monitoring {
  return {
    ...createIdleMonitoring(ctx),
    takeResults: async () => {},
    async checkNow(id, steps) {
      checked.push(id);
      steps?.add("look_up", true, "shop.example.com: 203.0.113.5");
      const monitor = findMonitor(ctx.db, { id });
      if (!monitor) throw notFound("monitor");
      const row = {
        monitorNum: monitor.num,
        at: ctx.clock.now(),
        outcome: "ok",
        latencyMs: 12,
        message: null,
      } as const;
      await ctx.db.write((tx) => ofMonitors.insertCheck(tx, row));
      return row;
    },
    async heartbeat(id, beat) {
      heartbeats.push({ id, ...beat });
    },
    tryOut: async () => ({ outcome: "ok", latencyMs: 1, message: null }),
  };
}
