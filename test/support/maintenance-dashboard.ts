import { expect } from "bun:test";
import type { Role } from "../../src/base/actor";
import type { Answer } from "./app";
import { type Fields, openForm } from "./dashboard";
import { createMaintenanceSite, type MaintenanceSite } from "./maintenance-site";

export const MAINTENANCE = "/admin/maintenance";
export const NEW_PLAN = `${MAINTENANCE}/new`;

/** Maintenance on the dashboard. The tests' clock starts at noon. */
export interface MaintenanceDashboard extends AsyncDisposable {
  site: MaintenanceSite;
  /** Session of an editor, or of the given role. */
  session: string;
  /** Opens a screen. */
  open(path: string): Promise<Answer>;
  /** Submits a form with exactly these fields. */
  send(path: string, form: Fields): Promise<Answer>;
  /** Returns valid fields of the planning form: for the component API, one hour from 14:00. */
  planFields(fields?: Fields): Fields;
  /** Opens the planning form and submits it filled in. */
  plan(fields?: Fields): Promise<Answer>;
  /** Reads the maintenance that a redirect leads to. */
  made(answer: Answer): Promise<Answer["body"]>;
}

export async function createMaintenanceDashboard(
  role: Role = "editor",
): Promise<MaintenanceDashboard> {
  const site = await createMaintenanceSite();
  const { app, page, ids } = site;
  const session = await app.signedIn(role);
  const dashboard: MaintenanceDashboard = {
    site,
    session,
    open: (path) => app.call(path, { session }),
    send: (path, form) => app.call(path, { session, form }),
    planFields: (fields = {}) => ({
      page: page.id,
      shown_page: page.id,
      name: "Database upgrade",
      components: [ids["API"] ?? ""],
      scheduled_for: "2026-03-10T14:00",
      lasts: "60",
      scheduled_until: "",
      body: "A minute without search.",
      auto_start: "yes",
      auto_complete: "yes",
      remind_minutes_before: "60",
      notify: "yes",
      ...fields,
    }),
    async plan(fields) {
      const form = await openForm(app, NEW_PLAN, session);
      return dashboard.send(NEW_PLAN, { form, ...dashboard.planFields(fields) });
    },
    async made(answer) {
      expect(answer.status).toBe(303);
      return site.get(idIn(answer));
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
  return dashboard;
}

/** Returns the id of the maintenance that a redirect leads to. */
export function idIn(answer: Answer): string {
  const location = answer.headers.get("location") ?? "";
  expect(location).toStartWith(`${MAINTENANCE}/mnt_`);
  return location.slice(MAINTENANCE.length + 1);
}
