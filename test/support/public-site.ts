import type { PageInput } from "../../src/features/pages/wire";
import { createSnapshots, type Snapshot } from "../../src/features/status/snapshots";
import { type HistoryEntry, readPastEntries } from "../../src/features/status/entries";
import { CLI_ACTOR } from "../../src/base/actor";
import { type Answer, createTestApp, type TestApp, type TestPage } from "./app";
import { createComponent } from "./examined";

/** An app with one page: the components API and Web in a group, and Docs without a group. */
export interface PublicSite extends AsyncDisposable {
  app: TestApp;
  page: TestPage["page"];
  /** Component ids by name. */
  ids: Record<string, string>;
  /** Value of a key for everything that the tests do. */
  key: string;
  /**
   * Reports an incident on the page, with default values for omitted fields. Throws if it is
   * rejected.
   */
  open(json?: Record<string, unknown>): Promise<Answer["body"]>;
  /** Adds an update to an incident. */
  update(id: string, json: Record<string, unknown>): Promise<Answer["body"]>;
  /** Plans a maintenance on the page between these times. */
  plan(from: string, until: string, json?: Record<string, unknown>): Promise<Answer["body"]>;
  /** Adds an update to a maintenance. */
  updateMaintenance(id: string, json: Record<string, unknown>): Promise<Answer["body"]>;
  /** Reads the status document with the key. */
  document(): Promise<Answer["body"]>;
  /** Returns the current snapshot of the page. */
  snapshot(): Snapshot;
  /** Returns the past entries that the page shows now. */
  past(): HistoryEntry[];
}

export async function createPublicSite(input: Partial<PageInput> = {}): Promise<PublicSite> {
  const app = await createTestApp({ env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "10000" } });
  const { page, components } = await app.page({ slug: "acme", ...input }, ["API", "Web"]);
  const docs = await app.ctx.db.write((tx) =>
    createComponent(
      app.ctx,
      tx,
      page,
      { name: "Docs", description: "The manual", start_date: "2026-01-01" },
      { position: 2, groupId: null, managedBy: null },
      CLI_ACTOR,
    ),
  );
  const key = await app.keyWith(
    "read:status",
    "write:incidents",
    "write:components",
    "write:maintenance",
  );
  const snapshots = createSnapshots(app.ctx);
  const post = async (path: string, json: Record<string, unknown>) => {
    const answer = await app.call(`/api/v1${path}`, { method: "POST", key, json });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body;
  };
  return {
    app,
    page,
    ids: { ...components, Docs: docs.id },
    key,
    open: (json = {}) => post("/incidents", { page: "acme", name: "Errors", body: "Hm.", ...json }),
    update: (id, json) => post(`/incidents/${id}/updates`, { body: "More.", ...json }),
    plan: (from, until, json = {}) =>
      post("/maintenance", {
        page: "acme",
        name: "Upgrade",
        body: "Planned.",
        components: [],
        scheduled_for: from,
        scheduled_until: until,
        ...json,
      }),
    updateMaintenance: (id, json) =>
      post(`/maintenance/${id}/updates`, { body: "On we go.", ...json }),
    document: async () => (await app.call("/api/v1/status/acme", { key })).body,
    snapshot() {
      const snapshot = snapshots.read("acme", app.clock.now());
      if (!snapshot) throw new Error("there is no page");
      return snapshot;
    },
    past: () => readPastEntries(app.ctx.db, page.id, app.clock.now()),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
