import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";

/** An app with one page, its components API and Web, and a key for incidents. */
export interface IncidentSite extends AsyncDisposable {
  app: TestApp;
  key: string;
  /** Ids of the components. */
  api: string;
  web: string;
  /** Reports an incident on the page, with default values for omitted fields. */
  post(json?: Record<string, unknown>, options?: CallOptions): Promise<Answer>;
  /** Reports an incident and returns it. Throws if it is rejected. */
  open(json?: Record<string, unknown>): Promise<Answer["body"]>;
  /** Adds an update, by default with a text. */
  update(id: string, json: Record<string, unknown>, options?: CallOptions): Promise<Answer>;
  patch(id: string, json: unknown, options?: CallOptions): Promise<Answer>;
  read(id: string): Promise<Answer["body"]>;
  /** Returns the status of each component. */
  shown(): Promise<{ api: string; web: string }>;
  /** State that a rejected change must leave unchanged. */
  state(): Promise<unknown>;
  /** Returns the types of the events since the last call. */
  newEventTypes(): string[];
}

export const INCIDENTS = "/api/v1/incidents";

export async function createIncidentSite(): Promise<IncidentSite> {
  const app = await createTestApp();
  const { components } = await app.page({ slug: "acme" }, ["API", "Web"]);
  const { API: api = "", Web: web = "" } = components;
  const key = await app.keyWith("read:status", "write:incidents", "write:components");
  let seen = 0;
  const site: IncidentSite = {
    app,
    key,
    api,
    web,
    post: (json = {}, options = {}) =>
      app.call(INCIDENTS, {
        method: "POST",
        key,
        json: { page: "acme", name: "Errors", body: "We look into it.", ...json },
        ...options,
      }),
    async open(json) {
      const answer = await site.post(json);
      if (answer.status !== 201) throw new Error(answer.text);
      return answer.body;
    },
    update: (id, json, options = {}) =>
      app.call(`${INCIDENTS}/${id}/updates`, {
        method: "POST",
        key,
        json: { body: "More.", ...json },
        ...options,
      }),
    patch: (id, json, options = {}) =>
      app.call(`${INCIDENTS}/${id}`, { method: "PATCH", key, json, ...options }),
    read: async (id) => (await app.call(`${INCIDENTS}/${id}`, { key })).body,
    async shown() {
      const status = async (id: string) =>
        (await app.call(`/api/v1/components/${id}`, { key })).body.status;
      return { api: await status(api), web: await status(web) };
    },
    state: async () => ({
      incidents: (await app.call(INCIDENTS, { key })).body,
      components: (await app.call("/api/v1/components", { key })).body,
      events: app.events(),
      audit: app.audit(),
    }),
    newEventTypes() {
      const types = app.events().map((event) => event.type);
      const fresh = types.slice(seen);
      seen = types.length;
      return fresh;
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
  return site;
}
