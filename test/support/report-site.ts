import { CLI_ACTOR } from "../../src/base/actor";
import { runInSlices } from "../../src/base/in-slices";
import type { PartialComponentInput } from "../../src/features/components/wire";
import { deleteIncident } from "../../src/features/incidents/incidents";
import type { PartialPageInput } from "../../src/features/pages/wire";
import { getReportMonth, type Report, reportSteps } from "../../src/features/reports/report";
import { type Answer, type CallOptions, createTestApp, type TestApp, type TestPage } from "./app";
import { createTestClock } from "./clock";
import { updateComponent, updatePage } from "./examined";

/** The month of the reports. */
export const MONTH = "2026-03";

/** Start of that month, in unix ms. */
export const MONTH_START = Date.parse(`${MONTH}-01`);

/** An app with the page acme, whose components API and Website are known since February. */
export interface ReportSite extends AsyncDisposable, TestPage {
  app: TestApp;
  /** Calls a path of the API with a key that may do all that the test needs. */
  api(path: string, options?: CallOptions): Promise<Answer>;
  updatePage(input: PartialPageInput): Promise<void>;
  updateComponent(name: string, input: PartialComponentInput): Promise<void>;
  /** Opens an incident at a time (unix ms), resolves it at another one if given, and returns its id. */
  incident(incident: {
    name: string;
    from: number;
    to: number | null;
    status?: string;
    component?: string;
  }): Promise<string>;
  deleteIncident(id: string): Promise<void>;
  read(month?: string): Promise<Report>;
  show(options?: CallOptions & { month?: string }): Promise<Answer>;
  /** Moves the clock to a time (unix ms), in steps that let timers run. */
  passUntil(at: number): Promise<void>;
}

/** Creates the site. Its clock stands at the start of the month. */
export async function createReportSite(
  options: Parameters<typeof createTestApp>[0] = {},
): Promise<ReportSite> {
  const app = await createTestApp({ clock: createTestClock(MONTH_START), ...options });
  const { ctx, clock } = app;
  const made = await app.page({ name: "Acme" }, ["API", "Website"]);
  const key = await app.keyWith(
    "read:status",
    "write:incidents",
    "read:analytics",
    "manage:webhooks",
  );
  const api: ReportSite["api"] = (path, call) => app.call(`/api/v1/${path}`, { key, ...call });
  const site: ReportSite = {
    app,
    ...made,
    api,
    updatePage: async (input) =>
      void (await ctx.db.write((tx) => updatePage(ctx, tx, made.page.id, input, CLI_ACTOR))),
    updateComponent: async (name, input) =>
      void (await ctx.db.write((tx) =>
        updateComponent(ctx, tx, made.components[name] ?? "", input, CLI_ACTOR),
      )),
    async incident({ name, from, to, status = "major_outage", component = "API" }) {
      const components = { [made.components[component] ?? ""]: status };
      clock.setWallClock(from);
      const json = { page: "acme", name, body: "x", components };
      const { body } = await api("incidents", { method: "POST", json });
      if (to !== null) {
        clock.setWallClock(to);
        await api(`incidents/${body.id}/updates`, {
          method: "POST",
          json: { status: "resolved", body: "y" },
        });
      }
      return body.id;
    },
    deleteIncident: async (id) =>
      void (await ctx.db.write((tx) => deleteIncident(ctx, tx, id, CLI_ACTOR))),
    read(month = MONTH) {
      const at = clock.now();
      const found = getReportMonth(ctx.db, made.page, month, at);
      return runInSlices(reportSteps(ctx.db, made.page, found, at));
    },
    show: ({ month = MONTH, ...call } = {}) => app.call(`/status/acme/report/${month}`, call),
    async passUntil(at) {
      clock.setWallClock(at - 2 * 60_000);
      await clock.advance(2 * 60_000);
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
  for (const name of ["API", "Website"])
    await site.updateComponent(name, { start_date: "2026-02-10" });
  return site;
}
