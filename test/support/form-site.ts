import { expect } from "bun:test";
import { listComponentsOfPage, listGroups } from "../../src/features/components/store";
import { findPageBySlug } from "../../src/features/pages/store";
import { createUser } from "../../src/features/users/users";
import { CLI_ACTOR } from "../../src/base/actor";
import type { Answer, TestApp } from "./app";
import type { Fields } from "./dashboard";
import { createIncidentSite } from "./incident-site";
import { MAINTENANCE_PATH, PLAN } from "./maintenance-site";
import { formOf } from "./monitor-dashboard";
import { RECEIVER } from "./webhook-site";
import { createMonitor } from "./examined";

/** Screen of a form, and the path that the form is submitted to. */
export interface FormPaths {
  screen: string;
  action: string;
}

type Kind =
  | "incident"
  | "update"
  | "maintenance"
  | "monitor"
  | "webhook"
  | "page"
  | "component"
  | "group"
  | "key"
  | "user";

/** An owner's session, and one object of each kind that a form of the dashboard edits. */
export interface FormSite extends AsyncDisposable {
  app: TestApp;
  session: string;
  /** Ids of the objects. */
  ids: Record<Kind, string>;
  /** Opens a screen and returns the fields that a browser would send for its form. */
  open(form: FormPaths): Promise<Fields>;
  /** Submits fields a second later. */
  send(form: FormPaths, fields: Fields): Promise<Answer>;
  /** Events and audit entries, which a form without effect leaves unchanged. */
  written(): { events: unknown[]; audit: { action: string }[] };
}

export async function createFormSite(): Promise<FormSite> {
  const site = await createIncidentSite();
  const { app } = site;
  const { db } = app.ctx;
  const incident = await site.open();
  const page = findPageBySlug(db, { slug: "acme" })?.id ?? "";
  const key = await app.createKey();
  const admin = await app.keyWith("write:maintenance", "manage:webhooks");
  const create = async (path: string, json: unknown) => {
    const { status, body } = await app.call(path, { method: "POST", key: admin, json });
    expect(status).toBe(201);
    return body.id;
  };
  const session = await app.signedIn("owner");
  const grace = { email: "grace@example.com", name: "Grace", role: "viewer" } as const;
  const user = await db.write((tx) => createUser(app.ctx, tx, grace, CLI_ACTOR));
  const config = { url: "https://shop.example.com/" };
  const shop = { type: "http", name: "Shop", config } as const;
  const { record } = await db.write((tx) => createMonitor(app.ctx, tx, shop, CLI_ACTOR));
  return {
    app,
    session,
    ids: {
      incident: incident.id,
      update: incident.updates[0].id,
      maintenance: await create(MAINTENANCE_PATH, { ...PLAN, components: [site.api] }),
      webhook: await create("/api/v1/webhooks", { url: RECEIVER }),
      page,
      component: listComponentsOfPage(db, { pageId: page })[0]?.id ?? "",
      group: listGroups(db, { pageId: page })[0]?.id ?? "",
      monitor: record.row.id,
      key: key.key.id,
      user: user.id,
    },
    async open({ screen, action }) {
      const answer = await app.call(screen, { session });
      expect(answer.status).toBe(200);
      return fieldsOf(answer, action);
    },
    async send({ action }, form) {
      await app.clock.advance(1_000);
      return app.call(action, { session, form });
    },
    written: () => ({ events: app.events(), audit: app.audit() }),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** Returns the fields that a browser would send for the form with an action on a page. */
export function fieldsOf({ text }: Answer, action: string): Fields {
  const forms = text.match(/<form[\s\S]*?<\/form>/g) ?? [];
  const form = forms.find((html) => html.slice(0, html.indexOf(">")).includes(`"${action}"`));
  expect(form).toBeDefined();
  return formOf(form ?? "");
}
