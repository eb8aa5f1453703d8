import { CLI_ACTOR } from "../../src/base/actor";
import type { ComponentStatus } from "../../src/base/status";
import { HOUR_MS, toIso } from "../../src/base/time";
import { createTestApp, type TestApp, type TestPage } from "./app";
import { createIncident, planMaintenance } from "./examined";

/** An app with a page of 1,000 components. */
export interface LargePage extends AsyncDisposable {
  app: TestApp;
  page: TestPage["page"];
  componentIds: string[];
  key: string;
  /** Opens incidents that name all components, and returns their ids. */
  openIncidents(
    count: number,
    input?: { draft?: boolean; status?: ComponentStatus },
  ): Promise<string[]>;
  /** Plans maintenance of all components, and returns its ids. */
  plan(count: number): Promise<string[]>;
}

export async function createLargePage(): Promise<LargePage> {
  const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
  const names = Array.from({ length: 1_000 }, (_, index) => `Component ${index}`);
  const { page, components } = await app.page({ slug: "large" }, names);
  const componentIds = Object.values(components);
  const key = await app.keyWith("read:status", "write:incidents", "write:maintenance");
  return {
    app,
    page,
    componentIds,
    key,
    openIncidents: (count, { draft = false, status = "operational" } = {}) =>
      app.ctx.db.write((tx) => {
        const named = Object.fromEntries(componentIds.map((id) => [id, status]));
        return Array.from({ length: count }, (_, index) => {
          const fields = { page: "large", name: `Trouble ${index}`, body: "Hm.", draft };
          const input = { ...fields, components: named };
          return createIncident(app.ctx, tx, input, "api", CLI_ACTOR).row.id;
        });
      }),
    plan: (count) =>
      app.ctx.db.write((tx) => {
        const now = app.clock.now();
        return Array.from({ length: count }, (_, index) => {
          const times = {
            scheduled_for: toIso(now + HOUR_MS),
            scheduled_until: toIso(now + 2 * HOUR_MS),
          };
          const input = { page: "large", name: `Work ${index}`, body: "Soon.", ...times };
          return planMaintenance(app.ctx, tx, { ...input, components: componentIds }, CLI_ACTOR).id;
        });
      }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
