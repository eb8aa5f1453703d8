import { CLI_ACTOR } from "../../src/base/actor";
import type { ComponentStatus } from "../../src/base/status";
import type { PageInput } from "../../src/features/pages/wire";
import type { TestApp } from "./app";
import { createComponent, createGroup, createPage } from "./examined";

/** Ids of groups and components by name. */
export type Ids = Record<string, string>;

/**
 * Creates the page `many`: components `Region 0, service 0` and so on, known for a year, in groups that are set to be
 * expanded, and `Website` without a group.
 */
export function createManyComponents(
  { ctx }: Pick<TestApp, "ctx">,
  { groups, each }: { groups: number; each: number },
  input: Partial<PageInput> = {},
): Promise<Ids> {
  return ctx.db.write((tx) => {
    const page = createPage(ctx, tx, { slug: "many", name: "Many", ...input }, CLI_ACTOR);
    const ids: Ids = { many: page.id };
    let position = 0;
    const add = (name: string, groupId: string | null) => {
      const place = { position: position++, groupId, managedBy: null };
      const fields = { name, start_date: "2025-01-01" };
      ids[name] = createComponent(ctx, tx, page, fields, place, CLI_ACTOR).id;
    };
    add("Website", null);
    for (let group = 0; group < groups; group++) {
      const name = `Region ${group}`;
      const place = { position: position++, managedBy: null };
      const { id } = createGroup(ctx, tx, page, { name }, place, CLI_ACTOR);
      ids[name] = id;
      for (let index = 0; index < each; index++) add(`${name}, service ${index}`, id);
    }
    return ids;
  });
}

/** Reports an incident on the page `many` that gives components these statuses, by name. */
export async function reportOn(
  app: TestApp,
  ids: Ids,
  statuses: Record<string, ComponentStatus>,
  name = "Trouble",
): Promise<string> {
  const key = await app.keyWith("write:incidents");
  const components = Object.fromEntries(
    Object.entries(statuses).map(([component, status]) => [ids[component], status]),
  );
  const json = { page: "many", name, body: "We look.", components };
  const answer = await app.call("/api/v1/incidents", { method: "POST", key, json });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.id;
}
