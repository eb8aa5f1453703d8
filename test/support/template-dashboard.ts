import { type IncidentTemplate, presentTemplate } from "../../src/features/incident-templates/wire";
import { listAllTemplates } from "../../src/features/incident-templates/templates";
import type { Role } from "../../src/base/actor";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import type { Fields } from "./dashboard";
import { typedIn } from "./html";
import { TEMPLATE } from "./incident-templates";

export const TEMPLATE_LIST = "/admin/incidents/templates";
export const NEW_TEMPLATE = `${TEMPLATE_LIST}/new`;

/** The pages shop (Till, Web) and blog (Posts), and a user with a session. */
export interface TemplateDashboard extends AsyncDisposable {
  app: TestApp;
  session: string;
  shop: { id: string; till: string; web: string };
  blog: { id: string; posts: string };
  show(path: string, session?: string): Promise<Answer>;
  send(path: string, form: Fields, options?: CallOptions): Promise<Answer>;
  /** Opens the form for a new template and submits it with valid fields and the given ones. */
  create(fields?: Fields): Promise<Answer>;
  /** Opens the form of a template and submits it with all its values and the given ones. */
  edit(template: IncidentTemplate, fields: Fields): Promise<Answer>;
  templates(): IncidentTemplate[];
}

export const templateScreen = (id: string) => `${TEMPLATE_LIST}/${id}`;

export async function createTemplateDashboard(role: Role = "editor"): Promise<TemplateDashboard> {
  const app = await createTestApp({ dashboard: true });
  const shop = await app.page({ slug: "shop", name: "Shop" }, ["Till", "Web"]);
  const blog = await app.page({ slug: "blog", name: "Blog" }, ["Posts"]);
  const session = await app.signedIn(role);
  const show: TemplateDashboard["show"] = (path, as = session) => app.call(path, { session: as });
  const send: TemplateDashboard["send"] = (path, form, options) =>
    app.call(path, { session, form, ...options });
  return {
    app,
    session,
    shop: {
      id: shop.page.id,
      till: shop.components["Till"] ?? "",
      web: shop.components["Web"] ?? "",
    },
    blog: { id: blog.page.id, posts: blog.components["Posts"] ?? "" },
    show,
    send,
    async create(fields = {}) {
      const [form = ""] = typedIn((await show(NEW_TEMPLATE)).text, "form");
      const usual = { ...TEMPLATE, status: "investigating", impact_override: "", form };
      return send(NEW_TEMPLATE, { ...usual, ...fields });
    },
    async edit(template, fields) {
      const path = templateScreen(template.id);
      const { text } = await show(path);
      const [version = ""] = typedIn(text, "version");
      const [shown = ""] = typedIn(text, "shown_page");
      const stored = {
        name: template.name,
        page: template.page_id ?? "",
        shown_page: shown,
        title: template.title,
        body: template.body,
        status: template.status,
        impact_override: template.impact_override ?? "",
        ...Object.fromEntries(
          Object.entries(template.components).map(([id, status]) => [`component:${id}`, status]),
        ),
      };
      return send(path, { version, ...stored, ...fields });
    },
    templates: () => listAllTemplates(app.ctx.db).map(presentTemplate),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
