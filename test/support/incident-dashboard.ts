import { expect } from "bun:test";
import type { Answer, CallOptions } from "./app";
import type { Fields } from "./dashboard";
import { readHtml, typedIn } from "./html";
import { createIncidentSite, type IncidentSite } from "./incident-site";

/** A site with incidents, and an editor who is signed in to its dashboard. */
export interface IncidentDashboard extends AsyncDisposable {
  site: IncidentSite;
  editor: string;
  viewer: string;
  /** Shows a screen of an incident to the editor, or to whom the options name. */
  show(path: string, options?: CallOptions): Promise<Answer>;
  /** Sends a form, as it stands, without looking at its screen first. */
  send(path: string, form?: Fields, options?: CallOptions): Promise<Answer>;
  /** Opens the screen of a form and sends it with its hidden fields, and what is given over them. */
  fill(screen: string, action: string, form: Fields): Promise<Answer>;
  /** Adds an update by the form of the incident's screen, what is given over what it begins with. */
  tell(id: string, form?: Fields): Promise<Answer>;
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
    async tell(id, form = {}) {
      const screen = incidentScreen(id);
      const [status = ""] = typedIn((await show(screen)).text, "status");
      const usual = { status, body: "More.", notify: "yes" };
      return fill(screen, `${screen}/updates`, { ...usual, ...form });
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** The hidden fields of the forms of a page, as a browser would send them. */
export function hiddenIn(html: string): Record<string, string> {
  const hidden = readHtml(html).controls.filter(({ type }) => type === "hidden");
  return Object.fromEntries(hidden.map(({ name, value }) => [name, value]));
}

/** Expects a form to have done what it asks for, and answers what is said of it on the next screen. */
export async function expectDone(
  dashboard: IncidentDashboard,
  answer: Answer,
  path: string,
): Promise<string> {
  expect([answer.status, answer.headers.get("location")]).toEqual([303, path]);
  return readHtml((await dashboard.show(path)).text).texts(".flash")[0] ?? "";
}
