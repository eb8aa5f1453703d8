import type { Role } from "../../src/base/actor";
import type { Answer, CallOptions } from "./app";
import type { Fields } from "./dashboard";
import { createIncidentSite, type IncidentSite } from "./incident-site";
import { typedIn } from "./html";

export const INCIDENT_LIST = "/admin/incidents";
export const REPORT = `${INCIDENT_LIST}/new`;
export const PREVIEW = `${REPORT}/preview`;

/** A page with incidents, and a user with a session. */
export interface ReportSite extends IncidentSite {
  session: string;
  /**
   * Returns valid fields of the form: its initial values, with the page's components API and Web.
   */
  filledIn(fields?: Fields): Promise<Fields>;
  /** Opens the report form and submits it filled in, with the given fields changed. */
  report(fields?: Fields, options?: CallOptions): Promise<Answer>;
  preview(fields?: Fields, options?: CallOptions): Promise<Answer>;
  /** Returns the name of a component's field. */
  field(componentId: string): string;
}

export async function createReportSite(role: Role = "editor"): Promise<ReportSite> {
  const site = await createIncidentSite();
  const session = await site.app.signedIn(role);
  async function filledIn(fields: Fields = {}): Promise<Fields> {
    const { text } = await site.app.call(REPORT, { session });
    const [form = ""] = typedIn(text, "form");
    const [page = ""] = typedIn(text, "page");
    const [shown = ""] = typedIn(text, "shown_page");
    return {
      form,
      page,
      shown_page: shown,
      name: "Checkout fails",
      body: "We look into it.",
      status: "investigating",
      notify: "yes",
      intent: "publish",
      ...fields,
    };
  }
  const send = async (path: string, fields: Fields | undefined, options: CallOptions = {}) =>
    site.app.call(path, { session, form: await filledIn(fields), ...options });
  return {
    ...site,
    session,
    filledIn,
    report: (fields, options) => send(REPORT, fields, options),
    preview: (fields, options) => send(PREVIEW, fields, options),
    field: (componentId) => `component:${componentId}`,
  };
}

/** Returns the target of a redirect. */
export function ledTo(answer: Answer): string {
  return answer.headers.get("location") ?? "";
}
