import { describe, expect, test } from "bun:test";
import type { FieldError, Problem } from "../../../src/base/errors";
import { deleteComponent } from "../../../src/features/components/components";
import { getTemplate, listAllTemplates } from "../../../src/features/incident-templates/templates";
import { presentTemplate } from "../../../src/features/incident-templates/wire";
import { storeFirstRun } from "../../../src/first-run";
import { CLI_ACTOR } from "../../../src/base/actor";
import { createTestApp, type TestApp } from "../../support/app";
import {
  addTemplate,
  changeTemplate,
  removeTemplate,
  TEMPLATE,
} from "../../support/incident-templates";

/** Returns the error that rejects a change. Throws if the change succeeds. */
async function problemOf(change: Promise<unknown>): Promise<Problem> {
  const error = await change.then(
    () => undefined,
    (rejection: Problem) => rejection,
  );
  if (!error) throw new Error("the change was not rejected");
  return error;
}

const fieldsOf = async (change: Promise<unknown>): Promise<readonly FieldError[]> =>
  (await problemOf(change)).fields;

const stateOf = (app: TestApp) => [listAllTemplates(app.ctx.db), app.audit()];

/** An app with the pages acme (API, Web) and other (Mirror). */
async function createSite() {
  const app = await createTestApp();
  const acme = await app.page({ slug: "acme", name: "Acme" }, ["API", "Web"]);
  const other = await app.page({ slug: "other", name: "Other" }, ["Mirror"]);
  const idOf = (components: Record<string, string>, name: string) => components[name] ?? "";
  return {
    app,
    acmeId: acme.page.id,
    api: idOf(acme.components, "API"),
    web: idOf(acme.components, "Web"),
    mirror: idOf(other.components, "Mirror"),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

describe("a new incident template", () => {
  test("a template with the required fields is for all pages and has the default values", async () => {
    await using site = await createSite();
    const template = await addTemplate(site.app);
    expect(template).toMatchObject({
      ...TEMPLATE,
      ref: "database-down",
      page: null,
      page_id: null,
      status: "investigating",
      impact_override: null,
      components: {},
      version: 1,
    });
    expect(template.id).toMatch(/^tpl_[0-9a-z]{26}$/);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "incident_template.create",
      targetId: template.id,
      summary: "Created the incident template “Database down”",
    });
  });

  test("a template of a page has component statuses, given by id or by reference", async () => {
    await using site = await createSite();
    const template = await addTemplate(site.app, {
      page: "acme",
      status: "monitoring",
      impact_override: "critical",
      components: { [site.api]: "major_outage", "acme:web": "operational" },
    });
    expect(template).toMatchObject({
      page: "acme",
      page_id: site.acmeId,
      status: "monitoring",
      impact_override: "critical",
      components: { [site.api]: "major_outage", [site.web]: "operational" },
    });
  });

  test("templates with the same name have numbered refs, also on different pages", async () => {
    await using site = await createSite();
    const refs = [
      await addTemplate(site.app),
      await addTemplate(site.app, { page: "acme" }),
      await addTemplate(site.app, { name: "!" }),
    ].map(({ ref }) => ref);
    expect(refs).toEqual(["database-down", "database-down-2", "template"]);
  });

  test("a template with invalid fields is rejected with every error, and nothing is written", async () => {
    await using site = await createSite();
    const before = stateOf(site.app);
    const invalid = {
      name: "x".repeat(101),
      title: "",
      body: "x".repeat(10_001),
      status: "resolved" as never,
      impact_override: "total" as never,
      components: { [site.api]: "under_maintenance" as never },
      colour: "red",
    };
    const fields = await fieldsOf(addTemplate(site.app, invalid));
    expect(fields.map(({ pointer }) => pointer).sort()).toEqual([
      "#/body",
      "#/colour",
      `#/components/${site.api}`,
      "#/impact_override",
      "#/name",
      "#/status",
      "#/title",
    ]);
    expect(stateOf(site.app)).toEqual(before);
    const longest = { name: "x".repeat(100), title: "x".repeat(255), body: "x".repeat(10_000) };
    expect(await addTemplate(site.app, longest)).toMatchObject(longest);
  });

  test("a template names at most 100 components", async () => {
    await using site = await createSite();
    const names = Array.from({ length: 101 }, (_, index) => `C${index}`);
    const { components } = await site.app.page({ slug: "large" }, names);
    const statusesOf = (ids: string[]) =>
      Object.fromEntries(ids.map((id) => [id, "major_outage" as const]));
    const ids = Object.values(components);
    const tooMany = { page: "large", components: statusesOf(ids) };
    expect((await fieldsOf(addTemplate(site.app, tooMany)))[0]?.pointer).toBe("#/components");
    const most = { page: "large", components: statusesOf(ids.slice(0, 100)) };
    expect(Object.keys((await addTemplate(site.app, most)).components)).toHaveLength(100);
  });

  test("components that are unknown, of another page or given twice are rejected by name", async () => {
    await using site = await createSite();
    const before = stateOf(site.app);
    const components = {
      [site.api]: "major_outage",
      "acme:api": "partial_outage",
      [site.mirror]: "major_outage",
      cmp_nothing: "major_outage",
    } as const;
    expect(await fieldsOf(addTemplate(site.app, { page: "acme", components }))).toEqual([
      { pointer: "#/components/acme:api", detail: "names the same component twice" },
      {
        pointer: `#/components/${site.mirror}`,
        detail: "is a component of another page",
      },
      { pointer: "#/components/cmp_nothing", detail: "is not a component" },
    ]);
    expect(stateOf(site.app)).toEqual(before);
  });

  test("a template for all pages with components is rejected", async () => {
    await using site = await createSite();
    const components = { [site.api]: "major_outage" as const };
    expect(await fieldsOf(addTemplate(site.app, { components }))).toEqual([
      { pointer: "#/components", detail: "must be empty in a template for all pages" },
    ]);
    expect((await addTemplate(site.app, { components: {} })).components).toEqual({});
  });

  test("unknown pages and the sample page are rejected", async () => {
    await using app = await createTestApp();
    await storeFirstRun(app.ctx);
    expect(await fieldsOf(addTemplate(app, { page: "nowhere" }))).toEqual([
      { pointer: "#/page", detail: "is not the slug or id of a page" },
    ]);
    expect((await fieldsOf(addTemplate(app, { page: "sample" })))[0]?.detail).toStartWith(
      "is the sample page",
    );
    expect(listAllTemplates(app.ctx.db)).toEqual([]);
  });

  test("a ref is unique in the installation, and a deleted template frees its own", async () => {
    await using site = await createSite();
    const first = await addTemplate(site.app, { page: "acme" }, { ref: "down" });
    const second = await addTemplate(site.app, { page: "other" });
    for (const taken of [
      addTemplate(site.app, {}, { ref: "down" }),
      changeTemplate(site.app, second.id, {}, { ref: "down" }),
    ]) {
      const { code, message } = await problemOf(taken);
      expect([code, message]).toEqual([
        "conflict",
        "The ref down is taken by the incident template “Database down”.",
      ]);
    }
    await removeTemplate(site.app, first.id);
    expect((await changeTemplate(site.app, second.id, {}, { ref: "down" })).ref).toBe("down");
  });

  test("a page has at most 100 templates, and so have all pages together", async () => {
    await using site = await createSite();
    const { app } = site;
    const fill = async (page: string | null, count: number) => {
      for (let made = 0; made < count; made++) await addTemplate(app, { page });
    };
    await fill("acme", 99);
    const { id } = await addTemplate(app, { page: "acme" });
    const own = await problemOf(addTemplate(app, { page: "acme" }));
    expect([own.code, own.message]).toEqual([
      "conflict",
      "“Acme” has 100 incident templates, the most that a page can have. Delete one first.",
    ]);
    await fill(null, 100);
    expect((await problemOf(addTemplate(app))).message).toBe(
      "There are 100 incident templates for all pages, the most that there can be. Delete one first.",
    );
    expect((await problemOf(changeTemplate(app, id, { page: null }))).code).toBe("conflict");
    // A full page can still change its templates.
    expect(await changeTemplate(app, id, { title: "Other" })).toMatchObject({ version: 2 });
    expect(await changeTemplate(app, id, { page: "other" })).toMatchObject({ page: "other" });
  });

  test("an installation has at most 500 templates", async () => {
    await using site = await createSite();
    const { app } = site;
    for (let pages = 0; pages < 5; pages++) {
      await app.page({ slug: `page-${pages}` }, []);
      for (let made = 0; made < 100; made++) {
        await addTemplate(app, { page: `page-${pages}` });
      }
    }
    expect((await problemOf(addTemplate(app))).message).toBe(
      "There are 500 incident templates, the most that there can be. Delete one first.",
    );
    await removeTemplate(app, listAllTemplates(app.ctx.db)[0]?.row.id ?? "");
    expect(await addTemplate(app)).toMatchObject({ page: null });
  });
});

describe("a change of an incident template", () => {
  test("a change raises the version, is audited with its fields and keeps the others", async () => {
    await using site = await createSite();
    const components = { [site.api]: "major_outage" as const };
    const { id } = await addTemplate(site.app, { page: "acme", components });
    const change = { title: "Slow", impact_override: "minor" as const };
    expect(await changeTemplate(site.app, id, change)).toMatchObject({
      ...TEMPLATE,
      ...change,
      page: "acme",
      components,
      version: 2,
    });
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "incident_template.update",
      targetId: id,
      summary: "Changed the incident template “Database down”: title, impact",
    });
    const cleared = await changeTemplate(site.app, id, { impact_override: null, components: {} });
    expect(cleared).toMatchObject({ impact_override: null, components: {}, version: 3 });
  });

  test("a change to the current values writes nothing", async () => {
    await using site = await createSite();
    const fields = {
      page: "acme",
      components: { "acme:web": "operational", "acme:api": "major_outage" },
    } as const;
    const { id } = await addTemplate(site.app, fields);
    const before = stateOf(site.app);
    await changeTemplate(site.app, id, { ...TEMPLATE, ...fields });
    expect(stateOf(site.app)).toEqual(before);
  });

  test("a template that moves to another page loses its components unless it names new ones", async () => {
    await using site = await createSite();
    const components = { [site.api]: "major_outage" as const };
    const { id } = await addTemplate(site.app, { page: "acme", components });
    expect(await fieldsOf(changeTemplate(site.app, id, { page: "other", components }))).toEqual([
      { pointer: `#/components/${site.api}`, detail: "is a component of another page" },
    ]);
    expect(await changeTemplate(site.app, id, { page: "other" })).toMatchObject({
      page: "other",
      components: {},
    });
    expect(await changeTemplate(site.app, id, { page: null })).toMatchObject({ page: null });
  });

  test("an unknown template cannot be changed or deleted", async () => {
    await using app = await createTestApp();
    expect((await problemOf(changeTemplate(app, "tpl_x", { title: "A" }))).code).toBe("not_found");
    expect((await problemOf(removeTemplate(app, "tpl_x"))).code).toBe("not_found");
  });
});

describe("deletions", () => {
  test("deleting a template is audited and leaves the others", async () => {
    await using site = await createSite();
    const kept = await addTemplate(site.app);
    const components = { [site.api]: "major_outage" as const };
    const { id } = await addTemplate(site.app, { page: "acme", components });
    await removeTemplate(site.app, id);
    expect(listAllTemplates(site.app.ctx.db).map(({ row }) => row.id)).toEqual([kept.id]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "incident_template.delete",
      targetId: id,
      summary: "Deleted the incident template “Database down”",
    });
  });

  test("a deleted component is removed from the templates that name it", async () => {
    await using site = await createSite();
    const { ctx } = site.app;
    const components = { [site.api]: "major_outage", [site.web]: "operational" } as const;
    const { id } = await addTemplate(site.app, { page: "acme", components });
    await ctx.db.write((tx) => deleteComponent(ctx, tx, site.api, CLI_ACTOR));
    const left = { [site.web]: "operational" as const };
    expect(presentTemplate(getTemplate(ctx.db, id)).components).toEqual(left);
    expect(await changeTemplate(site.app, id, { title: "A" })).toMatchObject({ components: left });
  });
});
