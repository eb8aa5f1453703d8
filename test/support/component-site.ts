import { type Answer, type CallOptions, createTestApp, type TestApp } from "./app";

/** An app with one component and a key that may set its status. */
export interface ComponentSite extends AsyncDisposable {
  app: TestApp;
  /** The component's path under the API. */
  path: string;
  id: string;
  pageId: string;
  key: string;
  /** PATCHes the component with the key. */
  patch(options: CallOptions): Promise<Answer>;
  /**
   * State that a rejected change must leave unchanged: the component, the events and the audit log.
   */
  state(): Promise<unknown>;
}

export async function createComponentSite(): Promise<ComponentSite> {
  const app = await createTestApp();
  const { page, components } = await app.page({ slug: "acme" }, ["API"]);
  const id = components["API"] ?? "";
  const path = `/api/v1/components/${id}`;
  const key = await app.keyWith("write:components", "read:status");
  return {
    app,
    path,
    id,
    pageId: page.id,
    key,
    patch: (options) => app.call(path, { key, method: "PATCH", ...options }),
    state: async () => ({
      component: (await app.call(path, { key })).body,
      history: (await app.call(`${path}/history`, { key })).body,
      events: app.events(),
      audit: app.audit(),
    }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
