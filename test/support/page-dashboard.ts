import { expect } from "bun:test";
import { findPageBySlug, listAllPages, type PageRow } from "../../src/features/pages/store";
import { getPage } from "../../src/features/pages/pages";
import type { Role } from "../../src/base/actor";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";
import { type Fields, openForm } from "./dashboard";
import { readHtml, typedIn } from "./html";

export const PAGES = "/admin/pages";

/** Valid fields of the form for a new page. */
export const PAGE_FIELDS: Fields = {
  name: "Northwind",
  slug: "northwind",
  description: "All of Northwind.",
  visibility: "public",
  time_zone: "Europe/Berlin",
  locale: "de",
  history_days: "60",
  join_minutes: "25",
  theme: "dark",
  accent: "#0B6B53",
};

/** An installation with an admin's session and, by default, the page `acme`. */
export interface PageDashboard extends AsyncDisposable {
  app: TestApp;
  admin: string;
  /** Id of the page `acme`. */
  id: string;
  page(): PageRow;
  show(path: string, options?: CallOptions): Promise<Answer>;
  send(path: string, form?: Fields, options?: CallOptions): Promise<Answer>;
  /** Submits one of the forms of `acme` with the current version. */
  change(action: string, form: Fields): Promise<Answer>;
  /** Opens the form for a new page and sends it filled in. */
  create(fields?: Fields): Promise<Answer>;
  /** Returns the path of the screen of a page created by the form. */
  screenOf(created: Answer): string;
  /** Returns the state that a rejected form must leave unchanged. */
  state(): unknown;
}

export async function createPageDashboard({
  isEmpty = false,
}: { isEmpty?: boolean } = {}): Promise<PageDashboard> {
  const app = await createTestApp();
  const admin = await app.signedIn("admin");
  const id = isEmpty ? "" : (await app.page()).page.id;
  const show: PageDashboard["show"] = (path, options) =>
    app.call(path, { session: admin, ...options });
  return {
    app,
    admin,
    id,
    page: () => getPage(app.ctx.db, id),
    show,
    send: (path, form = {}, options) => app.call(path, { session: admin, form, ...options }),
    async change(action, form) {
      const [version = ""] = typedIn((await show(`${PAGES}/${id}/general`)).text, "version");
      expect(version).toMatch(/^\d+$/);
      const path = `${PAGES}/${id}/${action}`;
      return app.call(path, { session: admin, form: { version, ...form } });
    },
    async create(fields = {}) {
      const form = await openForm(app, `${PAGES}/new`, admin);
      return app.call(`${PAGES}/new`, {
        session: admin,
        form: { form, ...PAGE_FIELDS, ...fields },
      });
    },
    screenOf(created) {
      expect(created.status).toBe(303);
      const slug = new URLSearchParams(created.headers.get("location")?.split("?")[1]).get("page");
      return `${PAGES}/${findPageBySlug(app.ctx.db, { slug: slug ?? "" })?.id}`;
    },
    state: () => ({
      pages: listAllPages(app.ctx.db, {}),
      audit: app.audit(),
      events: app.events(),
    }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Expects a redirect to this screen and returns the confirmation there. */
export async function flashAfter(
  site: PageDashboard,
  answer: Answer,
  path: string,
): Promise<string | undefined> {
  expect([answer.status, answer.headers.get("location")]).toEqual([303, path]);
  return readHtml((await site.show(path)).text).texts(".flash")[0];
}

/** Roles that may read pages but not change them. */
export const READERS: readonly Role[] = ["viewer", "editor"];

/** Returns the value of the text area or select with this name. */
export function chosenIn(html: string, name: string): string | undefined {
  const page = readHtml(html);
  return (
    page.texts(`textarea[name="${name}"]`)[0] ??
    page.attributes(`select[name="${name}"] option[selected]`, "value")[0]
  );
}
