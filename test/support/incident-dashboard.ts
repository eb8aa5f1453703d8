import { expect } from "bun:test";
import type { Answer, CallOptions } from "./app";
import type { Fields } from "./dashboard";
import { readHtml, typedIn } from "./html";
import { createIncidentSite, type IncidentSite } from "./incident-site";

/** A page with incidents, and an editor with a session. */
export interface IncidentDashboard extends AsyncDisposable {
  site: IncidentSite;
  editor: string;
  viewer: string;
  /** Opens a screen as the editor, or as `options` say. */
  show(path: string, options?: CallOptions): Promise<Answer>;
  /** Submits a form without opening its screen first. */
  send(path: string, form?: Fields, options?: CallOptions): Promise<Answer>;
  /** Opens the screen of a form and submits it with its hidden fields and the given ones. */
  fill(screen: string, action: string, form: Fields): Promise<Answer>;
  /**
   * Adds an update by the form of the incident's screen, with default values for omitted fields.
   */
  addUpdate(id: string, form?: Fields): Promise<Answer>;
}

export const ADMIN_INCIDENTS = "/admin/incidents";

export const incidentScreen = (id: string) => `${ADMIN_INCIDENTS}/${id}`;

export async function createIncidentDashboard(): Promise<IncidentDashboard> {
  const site = await createIncidentSite();
  const editor = await site.app.signedIn("editor");
  const viewer = await site.app.signedIn("viewer");
  const show: IncidentDashboard["show"] = (path, options) =>
    site.app.call(path, { session: editor, ...options });
  const fill: IncidentDashboard["fill"] = async (screen, action, form) => {
    const { status, text } = await show(screen);
    expect(status).toBe(200);
    return site.app.call(action, { session: editor, form: { ...hiddenIn(text), ...form } });
  };
  return {
    site,
    editor,
    viewer,
    show,
    fill,
    send: (path, form = {}, options) => site.app.call(path, { session: editor, form, ...options }),
    async addUpdate(id, form = {}) {
      const screen = incidentScreen(id);
      const [open] = typedIn((await show(screen)).text, "status");
      const usual = { status: open ?? "resolved", body: "More.", notify: "yes" };
      // The screen of a resolved incident has the form only if a link asks for it.
      const from = open === undefined ? `${screen}?status=resolved` : screen;
      return fill(from, `${screen}/updates`, { ...usual, ...form });
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** Returns the hidden fields of all forms of a page. */
export function hiddenIn(html: string): Record<string, string> {
  const hidden = readHtml(html).controls.filter(({ type }) => type === "hidden");
  return Object.fromEntries(hidden.map(({ name, value }) => [name, value]));
}

/** Expects a form to succeed and returns the confirmation on the next screen. */
export async function expectDone(
  dashboard: IncidentDashboard,
  answer: Answer,
  path: string,
): Promise<string> {
  expect([answer.status, answer.headers.get("location")]).toEqual([303, path]);
  return readHtml((await dashboard.show(path)).text).texts(".flash")[0] ?? "";
}
