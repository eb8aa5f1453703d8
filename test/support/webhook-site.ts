import type { WebhookFormat } from "../../src/base/webhook";
import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";

export const WEBHOOKS = "/api/v1/webhooks";
export const RECEIVER = "https://receiver.example.com/hooks";
export const SLACK = "https://hooks.slack.com/services/T00000000/B00000000/quite-private-end";

/** Destinations of formats that have secrets besides the signing secret, and their masked form. */
export const SECRET_DESTINATIONS: Partial<
  Record<WebhookFormat, { url: string; settings?: object; shown: string; secrets: string[] }>
> = {
  slack: {
    url: SLACK,
    shown: "https://hooks.slack.com/services/…",
    secrets: ["T00000000", "quite-private-end"],
  },
  discord: {
    url: "https://discord.com/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44f",
    shown: "https://discord.com/api/webhooks/…",
    secrets: ["223704706495545344", "3d89bb7572e0fb30d8128367b3b1b44f"],
  },
  teams: {
    url: "https://prod-00.westus.logic.azure.com/workflows/w0/triggers/manual?sig=q1u2i3t4e",
    shown: "https://prod-00.westus.logic.azure.com/…",
    secrets: ["workflows/w0", "q1u2i3t4e"],
  },
  ntfy: {
    url: "https://ntfy.sh/acme-status",
    settings: { token: "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2" },
    shown: "https://ntfy.sh/acme-status",
    secrets: ["tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"],
  },
  "uptime-kuma": {
    url: "https://receiver.example.com/kuma",
    settings: { headers: '{"Authorization": "Bearer quite-private-header"}' },
    shown: "https://receiver.example.com/kuma",
    secrets: ["quite-private-header"],
  },
  gotify: {
    url: "https://gotify.example.com",
    settings: { token: "AWnhsVvNnMtXp3q" },
    shown: "https://gotify.example.com",
    secrets: ["AWnhsVvNnMtXp3q"],
  },
  telegram: {
    url: "https://api.telegram.org",
    settings: { bot_token: "123456:ABC-DEF1234ghIkl", chat_id: "@acme" },
    shown: "https://api.telegram.org",
    secrets: ["123456:ABC-DEF1234ghIkl"],
  },
  template: {
    url: "https://receiver.example.com/{secret.PART}/messages",
    settings: {
      method: "POST",
      headers: { Authorization: "Basic status:{secret.PASSWORD}" },
      body: '{"text": "{title}", "key": "{secret.KEY}"}',
      secrets: {
        PART: "quite/private part",
        PASSWORD: "quite-private-password",
        KEY: "quite-private-key",
      },
    },
    shown: "https://receiver.example.com/{secret.PART}/messages",
    secrets: ["quite/private part", "quite-private-password", "quite-private-key"],
  },
};

/** An app with a page and a key that may configure webhooks. */
export interface WebhookSite extends AsyncDisposable {
  app: TestApp;
  key: string;
  pageId: string;
  /** Ids of components by name. */
  components: Record<string, string>;
  /** Calls a path under `/api/v1/webhooks` with the key. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  post(json: unknown, options?: CallOptions): Promise<Answer>;
  patch(id: string, json: unknown, options?: CallOptions): Promise<Answer>;
  /** Creates a webhook, by default for a program. Throws if it is rejected. */
  create(json?: Record<string, unknown>): Promise<Answer["body"]>;
  read(id: string): Promise<Answer["body"]>;
  /** State that a rejected request must leave unchanged. */
  state(): Promise<unknown>;
}

export async function createWebhookSite(
  options: Parameters<typeof createTestApp>[0] = {},
): Promise<WebhookSite> {
  const app = await createTestApp(options);
  const { page, components } = await app.page({ slug: "acme" }, ["API", "Web"]);
  const key = await app.keyWith("manage:webhooks");
  const call: WebhookSite["call"] = (path, given) => app.call(WEBHOOKS + path, { key, ...given });
  const site: WebhookSite = {
    app,
    key,
    pageId: page.id,
    components,
    call,
    post: (json, given) => call("", { method: "POST", json, ...given }),
    patch: (id, json, given) => call(`/${id}`, { method: "PATCH", json, ...given }),
    async create(json) {
      const answer = await site.post({ url: RECEIVER, ...json });
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    read: async (id) => (await call(`/${id}`)).body,
    state: async () => ({
      webhooks: (await call("")).body,
      events: app.events(),
      audit: app.audit(),
    }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
  return site;
}
