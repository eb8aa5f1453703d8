import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { exportFile, writeApplyFile } from "../../../src/features/apply/apply";
import { listAllTemplates } from "../../../src/features/incident-templates/templates";
import { presentTemplate } from "../../../src/features/incident-templates/wire";
import { deletePage } from "../../../src/features/pages/deletion";
import { getPage } from "../../../src/features/pages/pages";
import { findPageBySlug } from "../../../src/features/pages/store";
import { createTestApp, type TestApp } from "../../support/app";
import { apply, applyError, lineOf, linesOf } from "../../support/apply";
import { addTemplate } from "../../support/incident-templates";
import { createComponent, createGroup } from "../../support/examined";

const PAGES = `pages:
  - slug: acme
    name: Acme
    components:
      - { name: API }
      - { name: Web }
  - slug: other
    name: Other
    components:
      - { name: Mirror }
`;

const FILE = `${PAGES}incident_templates:
  - name: Database down
    page: acme
    title: Orders cannot be placed
    body: We are looking into it.
    status: identified
    impact_override: critical
    components: { api: major_outage, web: operational }
  - name: Something else
    title: Something is wrong
    body: |
      First line.

      - a list
`;

const read = ({ ctx }: TestApp) => listAllTemplates(ctx.db).map(presentTemplate);
const exported = ({ ctx }: TestApp) => ctx.db.write((tx) => exportFile(tx));
const stateOf = (app: TestApp) => [listAllTemplates(app.ctx.db), app.audit(), app.events()];

/** Returns the id of a component. */
async function componentId(app: TestApp, slug: string, ref: string): Promise<string> {
  const key = await app.keyWith("read:status");
  return (await app.call(`/api/v1/components/${slug}:${ref}`, { key })).body.id;
}

describe("incident templates in a file", () => {
  test("templates of a file are created, for a page with component statuses and for all pages", async () => {
    await using app = await createTestApp();
    const lines = linesOf(await apply(app, FILE));
    expect(lines.filter((line) => line.includes("template"))).toEqual([
      "+ incident template database-down",
      "+ incident template something-else",
    ]);
    expect(read(app)).toMatchObject([
      {
        ref: "database-down",
        page: "acme",
        name: "Database down",
        title: "Orders cannot be placed",
        body: "We are looking into it.",
        status: "identified",
        impact_override: "critical",
        components: {
          [await componentId(app, "acme", "api")]: "major_outage",
          [await componentId(app, "acme", "web")]: "operational",
        },
      },
      {
        ref: "something-else",
        page: null,
        body: "First line.\n\n- a list\n",
        status: "investigating",
        impact_override: null,
        components: {},
      },
    ]);
  });

  test("applying templates twice changes no version, event or audit entry", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const before = stateOf(app);
    expect((await apply(app, FILE)).changes).toEqual([]);
    expect(stateOf(app)).toEqual(before);
  });

  test("apply changes differing fields of a template and resets omitted ones to their defaults", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const changed = FILE.replace("    status: identified\n    impact_override: critical\n", "")
      .replace("{ api: major_outage, web: operational }", "{ api: partial_outage }")
      .replace("Orders cannot be placed", "Orders fail");
    expect(linesOf(await apply(app, changed))).toEqual([
      '~ incident template database-down: title "Orders cannot be placed" → "Orders fail", status "identified" → "investigating", impact_override "critical" → none, components {"api":"major_outage","web":"operational"} → {"api":"partial_outage"}',
    ]);
    expect(read(app)[0]).toMatchObject({ title: "Orders fail", impact_override: null, version: 2 });
  });

  test("a template that moves to another page or to all pages stays the same template", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const [{ id } = { id: "" }] = read(app);
    const components = "    components: { api: major_outage, web: operational }\n";
    const moved = FILE.replace("page: acme", "page: other").replace(
      components,
      "    components: { mirror: major_outage }\n",
    );
    await apply(app, moved);
    expect(read(app)[0]).toMatchObject({ id, page: "other" });
    const everywhere = FILE.replace("    page: acme\n", "").replace(components, "");
    expect(linesOf(await apply(app, everywhere))).toEqual([
      '~ incident template database-down: components {"mirror":"major_outage"} → {}, page "other" → none',
    ]);
    expect(read(app)[0]).toMatchObject({ id, page: null, components: {} });
  });

  test("a template with another ref or name stays the same template", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const [before] = read(app);
    const renamed = FILE.replace(
      "name: Database down",
      "name: Database\n    previous_refs: [database-down]",
    );
    expect(linesOf(await apply(app, renamed))).toEqual([
      '~ incident template database-down: name "Database down" → "Database", ref "database-down" → "database"',
    ]);
    expect(read(app)[0]).toMatchObject({ id: before?.id, ref: "database" });
  });

  test("a template can name its page by an earlier slug", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const renamed = FILE.replace("slug: acme", "slug: shop\n    previous_slugs: [acme]");
    expect(linesOf(await apply(app, renamed))).toEqual(['~ page acme: slug "acme" → "shop"']);
    expect(read(app)[0]?.page).toBe("shop");
  });

  test("templates missing from the file stay until they are pruned, and only those of apply are", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    await addTemplate(app, { name: "By hand" });
    const smaller = FILE.slice(0, FILE.indexOf("  - name: Something else"));
    expect(await apply(app, smaller)).toMatchObject({
      changes: [],
      leftovers: ["incident template something-else"],
    });
    expect(linesOf(await apply(app, smaller, true))).toEqual([
      "- incident template something-else",
    ]);
    await apply(app, PAGES, true);
    expect(read(app).map(({ ref }) => ref)).toEqual(["by-hand"]);
  });

  test("a hand-made template with the ref of the file is changed and never pruned", async () => {
    await using app = await createTestApp();
    const { id } = await addTemplate(app, { name: "Something else" });
    expect(linesOf(await apply(app, FILE))).toContain(
      '~ incident template something-else: title "Orders cannot be placed" → "Something is wrong", body "We are looking into it." → "First line.\\n\\n- a list\\n"',
    );
    await apply(app, PAGES, true);
    expect(read(app).map((template) => template.id)).toEqual([id]);
  });

  test("pruning a page deletes its templates, but not one that moves to another page", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    await addTemplate(app, { name: "By hand", page: "acme" });
    const [{ id } = { id: "" }] = read(app);
    const without = FILE.slice(FILE.indexOf("  - slug: other"))
      .replace("page: acme", "page: other")
      .replace("    components: { api: major_outage, web: operational }\n", "");
    expect(linesOf(await apply(app, `pages:\n${without}`, true))).toEqual([
      "- page acme",
      "- incident template by-hand",
      expect.stringMatching(/^~ incident template database-down: page "page_.*" → "other"$/),
    ]);
    expect(read(app)).toMatchObject([{ id, page: "other" }, { ref: "something-else" }]);
  });
});

describe("invalid incident templates in a file", () => {
  test.each([
    [
      "an unknown page",
      "page: acme",
      "page: nowhere",
      "page: nowhere",
      "is not the slug of a page",
    ],
    ["an unknown component", "{ api:", "{ apy:", "components:", "components.apy is not the ref of"],
    [
      "an unknown component status",
      "api: major_outage",
      "api: on_fire",
      "components: {",
      "must be",
    ],
    ["a resolved status", "status: identified", "status: resolved", "status: resolved", "must be"],
    ["an unknown impact", "critical", "huge", "impact_override", "impact_override must be"],
    ["components for all pages", "    page: acme\n", "", "components: {", "must be empty in a"],
    ["no title", "    title: Something is wrong\n", "", "- name: Something", "title is required"],
    ["a repeated ref", "Something else", "Database down", "Database down\n    title", "same ref"],
    ["no ref", "name: Something else", 'name: "!"', 'name: "!"', "is required, such as api"],
  ])("a template with %s is rejected with its line", async (_, before, after, at, message) => {
    await using app = await createTestApp();
    await apply(app, PAGES);
    const state = stateOf(app);
    const text = FILE.replace(before, after);
    const error = await applyError(app, text);
    const start = text.indexOf(at, text.indexOf("incident_templates:"));
    expect(error).toStartWith(`line ${text.slice(0, start).split("\n").length}: `);
    expect(error).toContain(message);
    expect(stateOf(app)).toEqual(state);
  });

  test("a template beyond the limit of its page is rejected with its line", async () => {
    await using app = await createTestApp();
    const entry = (index: number) => `  - { name: T${index}, title: T, body: B }\n`;
    const templates = Array.from({ length: 101 }, (_, index) => entry(index)).join("");
    const text = `${PAGES}incident_templates:\n${templates}`;
    expect(await applyError(app, text)).toBe(
      `line ${lineOf(text, "name: T100")}: There are 100 incident templates for all pages, the most that there can be. Delete one first.`,
    );
    expect(read(app)).toEqual([]);
  });
});

describe("exported incident templates", () => {
  test("the export has all templates with refs, and applying it changes nothing", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const file = await exported(app);
    expect(file.incident_templates).toEqual([
      {
        name: "Database down",
        ref: "database-down",
        page: "acme",
        title: "Orders cannot be placed",
        body: "We are looking into it.",
        status: "identified",
        impact_override: "critical",
        components: { api: "major_outage", web: "operational" },
      },
      {
        name: "Something else",
        ref: "something-else",
        title: "Something is wrong",
        body: "First line.\n\n- a list\n",
      },
    ]);
    expect((await apply(app, writeApplyFile(file, []), true)).changes).toEqual([]);
    await using other = await createTestApp();
    await apply(other, writeApplyFile(file, []));
    expect(await exported(other)).toEqual(file);
  });

  test("the export names the components of a template in the order of the file, not of their creation", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ slug: "acme", name: "Acme" });
    const created = await app.ctx.db.write((tx) => {
      const row = getPage(tx, page.id);
      const at = { position: 0, managedBy: null };
      const group = createGroup(app.ctx, tx, row, { name: "Core" }, at, CLI_ACTOR);
      const add = (name: string, groupId: string | null) =>
        createComponent(app.ctx, tx, row, { name }, { ...at, groupId }, CLI_ACTOR).id;
      return [add("In a group", group.id), add("Without a group", null)];
    });
    const components = Object.fromEntries(created.map((id) => [id, "major_outage" as const]));
    await addTemplate(app, { page: "acme", name: "Down", title: "Down", body: "x", components });
    const { incident_templates: [template] = [] } = await exported(app);
    expect(Object.keys(template?.components ?? {})).toEqual(["without-a-group", "in-a-group"]);
  });

  test("the export of a page has its own templates only", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const fileOf = (slug: string) =>
      app.ctx.db.write((tx) => exportFile(tx, { page: findPageBySlug(tx, { slug }) }));
    expect((await fileOf("acme")).incident_templates).toMatchObject([{ ref: "database-down" }]);
    expect(await fileOf("other")).not.toHaveProperty("incident_templates");
  });

  test("templates of a deleted page are not exported", async () => {
    await using app = await createTestApp();
    await apply(app, FILE);
    const { id = "" } = findPageBySlug(app.ctx.db, { slug: "acme" }) ?? {};
    await app.ctx.db.write((tx) => deletePage(app.ctx, tx, id, CLI_ACTOR));
    expect((await exported(app)).incident_templates).toMatchObject([{ ref: "something-else" }]);
  });
});
