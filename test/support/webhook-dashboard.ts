import { expect } from "bun:test";
import { settingText } from "../../src/features/webhooks/screens/forms";
import { listAllWebhooks, type WebhookRow } from "../../src/features/webhooks/store";
import type { Role } from "../../src/base/actor";
import { type Answer, createTestApp, type TestApp, type TestPage } from "./app";
import { type Fields, openForm } from "./dashboard";
import { typedIn } from "./html";

export const WEBHOOK_LIST = "/admin/settings/webhooks";
export const NEW_WEBHOOK = `${WEBHOOK_LIST}/new`;
export const PROGRAM = "https://receiver.example.com/hooks";

/** Webhooks on the dashboard. */
interface WebhookDashboard extends AsyncDisposable {
  app: TestApp;
  page: TestPage["page"];
  /** Session of an admin, or of the given role. */
  session: string;
  /** Opens a screen. */
  open(path: string): Promise<Answer>;
  /** Submits a form with exactly these fields. */
  send(path: string, form?: Fields): Promise<Answer>;
  /** Opens the form for a new webhook and submits it filled in. */
  create(fields?: Fields): Promise<Answer>;
  /** Creates a webhook by the form and returns its row. */
  made(fields?: Fields): Promise<WebhookRow>;
  /** Opens the edit form and submits it with these fields changed. */
  edit(id: string, fields?: Fields): Promise<Answer>;
  /** Returns all webhooks, oldest first. */
  rows(): WebhookRow[];
  /** State that a rejected form must leave unchanged. */
  state(): unknown;
}

/** Opens the dashboard of the given application or of a new one, with a page of this slug. */
export async function createWebhookDashboard(
  options: { role?: Role; app?: TestApp; slug?: string } = {},
): Promise<WebhookDashboard> {
  const app = options.app ?? (await createTestApp());
  const { slug } = options;
  const { page } = await app.page(slug === undefined ? {} : { slug });
  const session = await app.signedIn(options.role ?? "admin");
  const dashboard: WebhookDashboard = {
    app,
    page,
    session,
    open: (path) => app.call(path, { session }),
    send: (path, form = {}) => app.call(path, { session, form }),
    async create(fields = {}) {
      const form = await openForm(app, NEW_WEBHOOK, session);
      const filled = { format: "standard", url: PROGRAM, description: "Relay", which: "all" };
      return dashboard.send(NEW_WEBHOOK, { form, ...filled, ...fields });
    },
    async made(fields) {
      expect((await dashboard.create(fields)).status).toBe(200);
      const row = dashboard.rows().at(-1);
      if (!row) throw new Error("one was made");
      return row;
    },
    async edit(id, fields = {}) {
      const { text, status } = await dashboard.open(`${WEBHOOK_LIST}/${id}/edit`);
      expect(status).toBe(200);
      const names = ["version", "format", "url", "description", "which"];
      const stored = Object.fromEntries(names.map((name) => [name, typedIn(text, name)[0] ?? ""]));
      const events = typedIn(text, "events");
      return dashboard.send(`${WEBHOOK_LIST}/${id}/edit`, { ...stored, events, ...fields });
    },
    rows: () => listAllWebhooks(app.ctx.db, {}),
    state: () => ({ rows: dashboard.rows(), audit: app.audit(), events: app.events() }),
    [Symbol.asyncDispose]: async () => {
      if (!options.app) await app[Symbol.asyncDispose]();
    },
  };
  return dashboard;
}

/** Returns the fields of a form for settings. */
export function fieldsOf(settings: object): Record<string, string> {
  const fields = Object.entries(settings).flatMap(([name, value]: [string, unknown]) =>
    name === "secrets"
      ? Object.entries(value as Record<string, string>).map(([key, text]) => [
          `secret_${key}`,
          text,
        ])
      : [[`setting_${name}`, settingText(value)]],
  );
  return Object.fromEntries(fields);
}

/** Returns the secret that an answer reveals. Throws unless it contains exactly one. */
export function revealedSecret(answer: Answer): string {
  expect(answer.status).toBe(200);
  const found = new Set(answer.text.match(/whsec_[0-9A-Za-z+/=]{40,}/g));
  expect([...found]).toHaveLength(1);
  return [...found][0] ?? "";
}
