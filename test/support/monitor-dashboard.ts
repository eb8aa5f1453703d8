import { expect } from "bun:test";
import { getMonitorRecord } from "../../src/features/monitors/records";
import type { CreateMonitorBody } from "../../src/features/monitors/wire";
import {
  createIdleMonitoring,
  type Monitoring,
  type ProbeResult,
} from "../../src/features/monitors/monitoring";
import { ofMonitors } from "../../src/features/monitors/checks-store";
import { applyTransition } from "../../src/features/monitors/engine/transitions";
import { newEvaluation } from "../../src/features/monitors/rules";
import { listAllMonitors } from "../../src/features/monitors/store";
import type { Step } from "../../src/egress/steps";
import { CLI_ACTOR, type Role } from "../../src/base/actor";
import type { MonitorState, MonitorType } from "../../src/base/status";
import { type Answer, createTestApp, type TestApp, type TestPage } from "./app";
import { type Fields, openForm } from "./dashboard";
import { setSteps } from "./steps";
import { typedIn } from "./html";
import { createMonitor } from "./examined";

export const MONITORS = "/admin/monitors";
export const NEW_MONITOR = `${MONITORS}/new`;

/** A trial check of a configuration that is not saved. */
interface TriedOut {
  type: MonitorType;
  config: object;
  timeoutMs: number;
}

/** Monitors on the dashboard, checked on demand only. */
export interface MonitorDashboard extends AsyncDisposable {
  app: TestApp;
  /** The page, with the components API and Website. */
  site: TestPage;
  /** Session of an admin, or of the given role. */
  session: string;
  open(path?: string): Promise<Answer>;
  send(path: string, form: Fields): Promise<Answer>;
  /** Returns valid fields for a new HTTP monitor, each time with a new form token. */
  fields(fields?: Fields): Fields;
  /** Opens the form for a new monitor of the type in `fields` and submits it filled in. */
  create(fields?: Fields): Promise<Answer>;
  /** Opens the edit form of a monitor and submits it with these fields changed. */
  edit(id: string, fields: Fields): Promise<Answer>;
  /** Creates a monitor without the form and returns its id. */
  make(input?: Partial<CreateMonitorBody>): Promise<string>;
  /** Applies a transition at a time (unix ms), with its consequences. */
  applyTransition(id: string, state: MonitorState, at: number, message?: string): Promise<void>;
  /** Stores results: time and response time in ms, or null for a failure. */
  record(
    id: string,
    ...results: readonly (readonly [at: number, latencyMs: number | null])[]
  ): Promise<void>;
  /** Returns the stored monitor, secrets included. */
  stored(id: string): ReturnType<typeof getMonitorRecord>;
  /** Result of all further checks. */
  found: ProbeResult;
  /** Steps of all further checks. */
  steps: readonly Step[];
  /** Time of the next check of each monitor, in unix ms. */
  nextCheckAt: number | undefined;
  /** Checks of monitors end after it. */
  answering: Promise<void>;
  triedOut: TriedOut[];
  /** Ids of monitors that were checked on demand. */
  checked: string[];
  /** Resolves once as many checks on demand have begun. */
  hasChecked(count: number): Promise<void>;
  /** Returns the state that a rejected form or a trial check must leave unchanged. */
  written(): unknown;
}

export async function createMonitorDashboard(role: Role = "admin"): Promise<MonitorDashboard> {
  const triedOut: TriedOut[] = [];
  const checked: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let drafts = 0;
  const app = await createTestApp({
    monitoring: (ctx): Monitoring => ({
      ...createIdleMonitoring(ctx),
      async checkNow(id, steps) {
        checked.push(id);
        if (steps) setSteps(steps, dashboard.steps);
        for (const { count, resolve } of waiting) if (checked.length >= count) resolve();
        await dashboard.answering;
        const { num: monitorNum } = getMonitorRecord(ctx.db, id).row;
        const { outcome, latencyMs, message } = dashboard.found;
        const row = { monitorNum, at: ctx.clock.now(), outcome, latencyMs, message };
        await ctx.db.write((tx) => ofMonitors.insertCheck(tx, row));
        return row;
      },
      heartbeat: async () => {},
      nextCheckAt: () => dashboard.nextCheckAt,
      async tryOut(type, config, timeoutMs, steps) {
        triedOut.push({ type, config, timeoutMs });
        if (steps) setSteps(steps, dashboard.steps);
        return dashboard.found;
      },
    }),
  });
  const site = await app.page();
  const session = await app.signedIn(role);
  const dashboard: MonitorDashboard = {
    app,
    site,
    session,
    found: { outcome: "ok", latencyMs: 12, message: null },
    steps: [],
    nextCheckAt: undefined,
    answering: Promise.resolve(),
    triedOut,
    checked,
    hasChecked(count) {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (checked.length >= count) resolve();
      else waiting.push({ count, resolve });
      return promise;
    },
    open: (path = MONITORS) => app.call(path, { session }),
    send: (path, form) => app.call(path, { session, form }),
    fields: (fields = {}) => ({
      type: "http",
      draft: `draft-${(drafts += 1)}`,
      name: "Shop",
      config_url: "https://shop.example.com/",
      config_method: "GET",
      config_follow_redirects: "yes",
      config_verify_tls: "yes",
      config_ip_family: "any",
      config_certificate_warning_days: "14",
      interval_seconds: "60",
      component_ids: [site.components["API"] ?? ""],
      on_down: "partial_outage",
      open_incident: "never",
      timeout_ms: "10000",
      degraded_after_ms: "",
      failure_threshold: "3",
      success_threshold: "1",
      retry_interval_seconds: "",
      ...fields,
    }),
    async create(fields = {}) {
      const sent = dashboard.fields(fields);
      const form = await openForm(app, `${NEW_MONITOR}?type=${String(sent["type"])}`, session);
      return dashboard.send(NEW_MONITOR, { form, ...sent });
    },
    async edit(id, fields) {
      const path = `${MONITORS}/${id}/edit`;
      return dashboard.send(path, { ...formOf((await dashboard.open(path)).text), ...fields });
    },
    make: (input = {}) =>
      app.ctx.db.write((tx) => {
        const body = { type: "http", name: "Shop", config: { url: "https://shop.example.com/" } };
        const made = createMonitor(
          app.ctx,
          tx,
          { ...body, ...input } as CreateMonitorBody,
          CLI_ACTOR,
        );
        return made.record.row.id;
      }),
    applyTransition: (id, state, at, message) =>
      app.ctx.db.write((tx) => {
        const { row, state: before } = getMonitorRecord(tx, id);
        const evaluation = newEvaluation(state, at);
        applyTransition(app.ctx, tx, row, {
          from: before.state,
          evaluation,
          message: message ?? null,
        });
      }),
    record: (id, ...results) =>
      app.ctx.db.write((tx) => {
        const { num: monitorNum } = getMonitorRecord(tx, id).row;
        for (const [at, latencyMs] of results) {
          const isOk = latencyMs !== null;
          const found = {
            outcome: isOk ? "ok" : "failed",
            message: isOk ? null : "Refused.",
          } as const;
          ofMonitors.insertCheck(tx, { monitorNum, at, latencyMs, ...found });
        }
      }),
    stored: (id) => getMonitorRecord(app.ctx.db, id),
    written: () => ({
      audit: app.audit(),
      events: app.events(),
      monitors: listAllMonitors(app.ctx.db, {}),
    }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
  return dashboard;
}

/** Returns the id of the monitor that a redirect leads to. */
export function monitorIdIn(answer: Answer): string {
  expect(answer.status).toBe(303);
  const location = answer.headers.get("location") ?? "";
  expect(location).toStartWith(`${MONITORS}/mon_`);
  return location.slice(MONITORS.length + 1);
}

/** Returns the heartbeat token that an answer reveals. Throws unless it contains exactly one. */
export function revealedToken(answer: Answer): string {
  const tokens = new Set(
    [...answer.text.matchAll(/\/heartbeats\/([0-9A-Za-z]{43})/g)].map(([, token]) => token),
  );
  expect(tokens.size).toBe(1);
  return [...tokens][0] ?? "";
}

/** Returns the fields that a browser would send for the form of a page without changes. */
export function formOf(html: string): Record<string, string | readonly string[]> {
  const names = new Set(
    [...html.matchAll(/<(?:input|select|textarea)[^>]* name="([^"]+)"/g)].map(
      ([, name = ""]) => name,
    ),
  );
  const fields = [...names].map(
    (name) => [name, [...typedIn(html, name), ...chosenIn(html, name)]] as const,
  );
  return Object.fromEntries(fields.filter(([, values]) => values.length > 0));
}

/** Returns the selected options of a select, or the text of a text area. */
function chosenIn(html: string, name: string): string[] {
  const found: string[] = [];
  let isOwn = false;
  new HTMLRewriter()
    .on(`select[name="${name}"]`, { element: () => void (isOwn = true) })
    .on(`select[name="${name}"] option`, {
      element(option) {
        if (isOwn && option.hasAttribute("selected"))
          found.push(option.getAttribute("value") ?? "");
      },
    })
    .on(`textarea[name="${name}"]`, {
      element: () => void found.push(""),
      text: (chunk) => void found.push((found.pop() ?? "") + chunk.text),
    })
    .transform(html);
  return found;
}
