import { expect } from "bun:test";
import type { PageRow } from "../../src/features/pages/store";
import { CLI_ACTOR } from "../../src/base/actor";
import { type Answer, createTestApp, type TestApp } from "./app";
import { readHtml } from "./html";
import { createComponent, createGroup, createPage } from "./examined";

export const COMPONENTS = "/admin/components";

/** A page with components in groups and without, and functions that read their order. */
export interface ArrangedSite extends AsyncDisposable {
  app: TestApp;
  page: PageRow;
  /** Ids of groups and components by name. */
  ids: Record<string, string>;
  /** Groups and components as the API lists them: `Docs | Core: API, Web | Edge: CDN`. */
  outline(): Promise<string>;
  /** Returns the ids of these groups and components, as submitted from top to bottom. */
  sequence(...names: string[]): string[];
  /** State that a rejected change must leave unchanged. */
  state(): Promise<unknown>;
}

/**
 * The names, from top to bottom: Docs has no group, Core contains API and Web, Edge contains CDN.
 */
export async function createArrangedSite(): Promise<ArrangedSite> {
  const app = await createTestApp();
  const { page, ids } = await arrange(app);
  const key = await app.keyWith("read:status");
  const read = async () => (await app.call("/api/v1/status/acme", { key })).body;
  return {
    app,
    page,
    ids,
    outline: async () => outlineOf(await read()),
    sequence: (...names) => names.map((name) => ids[name] ?? name),
    state: async () => ({ page: await read(), events: app.events(), audit: app.audit() }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

interface Shown {
  groups: { id: string; name: string }[];
  components: { group_id: string | null; name: string }[];
}

/** Describes the order in a status document in one line. */
export function outlineOf({ groups, components }: Shown): string {
  const namesIn = (groupId: string | null) =>
    components
      .filter(({ group_id }) => group_id === groupId)
      .map(({ name }) => name)
      .join(", ");
  const parts = groups.map(({ id, name }) => `${name}: ${namesIn(id)}`.trim());
  return [namesIn(null), ...parts].join(" | ");
}

/** Creates the page `acme` with groups and components. */
export async function arrange(
  app: TestApp,
): Promise<{ page: PageRow; ids: Record<string, string> }> {
  const { ctx } = app;
  return ctx.db.write((tx) => {
    const page = createPage(ctx, tx, { slug: "acme", name: "Acme" }, CLI_ACTOR);
    const at = (position: number) => ({ position, managedBy: null });
    const made: Record<string, string> = {};
    const group = (name: string, position: number) =>
      (made[name] = createGroup(ctx, tx, page, { name }, at(position), CLI_ACTOR).id);
    const component = (name: string, position: number, groupId: string | null) =>
      (made[name] = createComponent(
        ctx,
        tx,
        page,
        { name },
        { ...at(position), groupId },
        CLI_ACTOR,
      ).id);
    component("Docs", 0, null);
    const core = group("Core", 0);
    component("API", 1, core);
    component("Web", 2, core);
    component("CDN", 3, group("Edge", 1));
    return { page, ids: made };
  });
}

/** Returns the path that a successful form redirects to, and the confirmation shown there. */
export async function outcomeOf(
  { app }: { app: TestApp },
  answer: Answer,
  session: string,
): Promise<{ path: string; text: string | undefined }> {
  expect(answer.status).toBe(303);
  const path = answer.headers.get("location") ?? "";
  const next = await app.call(path.replace(/#.*/, ""), { session });
  expect(next.status).toBe(200);
  return { path, text: readHtml(next.text).texts(".flash")[0] };
}
