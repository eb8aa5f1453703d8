import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../../support/app";
import { apply } from "../../../support/apply";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { addTemplate, changeTemplate, TEMPLATE } from "../../../support/incident-templates";
import {
  createTemplateDashboard,
  NEW_TEMPLATE,
  TEMPLATE_LIST,
  templateScreen,
} from "../../../support/template-dashboard";

describe("the form for a new incident template", () => {
  test("an editor creates a template for all pages and one with component statuses", async () => {
    await using site = await createTemplateDashboard();
    const { shop } = site;
    expect((await site.create()).headers.get("location")).toBe(TEMPLATE_LIST);
    await site.create({
      name: "Till down",
      page: shop.id,
      shown_page: shop.id,
      status: "identified",
      impact_override: "critical",
      [`component:${shop.till}`]: "major_outage",
    });
    expect(site.templates()).toMatchObject([
      { ...TEMPLATE, page: null, components: {}, impact_override: null },
      {
        name: "Till down",
        page: "shop",
        status: "identified",
        impact_override: "critical",
        components: { [shop.till]: "major_outage" },
      },
    ]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "incident_template.create",
      actorKind: "user",
    });
    const list = readHtml((await site.show(TEMPLATE_LIST)).text);
    expect(list.texts(".flash")).toEqual(["The template was created."]);
    expect(list.texts(".row-link")).toEqual(["Database down", "Till down"]);
  });

  test("the button of the page shows its components and keeps what was typed", async () => {
    await using site = await createTemplateDashboard();
    const typed = { name: "Mine", title: "T", body: "B", status: "monitoring" };
    const chosen = { page: site.blog.id, shown_page: "", intent: "choose-page" };
    const { status, text } = await site.send(NEW_TEMPLATE, { ...typed, ...chosen, form: "1" });
    expect(status).toBe(200);
    expect(typedIn(text, "name")).toEqual(["Mine"]);
    expect(text).toContain(`component:${site.blog.posts}`);
    expect(text).not.toContain(`component:${site.shop.till}`);
    expect(site.templates()).toEqual([]);
  });

  test("a form for the components of another page is shown again, and nothing is written", async () => {
    await using site = await createTemplateDashboard();
    const { shop, blog } = site;
    const answer = await site.create({
      page: blog.id,
      shown_page: shop.id,
      [`component:${shop.till}`]: "major_outage",
    });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["page"]);
    expect(site.templates()).toEqual([]);
    await site.create({ page: "", shown_page: shop.id, [`component:${shop.till}`]: "operational" });
    expect(site.templates()).toMatchObject([{ page: null, components: {} }]);
  });

  test("an invalid template is shown again with all errors and typed values, and nothing is written", async () => {
    await using site = await createTemplateDashboard();
    const { shop } = site;
    const audit = site.app.audit();
    const answer = await site.create({
      name: "x".repeat(101),
      page: shop.id,
      shown_page: shop.id,
      title: "",
      body: " ",
      status: "resolved",
      impact_override: "total",
      [`component:${shop.till}`]: "under_maintenance",
    });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text)).sort()).toEqual([
      "body",
      "components",
      "impact_override",
      "name",
      "status",
      "title",
    ]);
    expect(typedIn(answer.text, "name")).toEqual(["x".repeat(101)]);
    expect([site.templates(), site.app.audit()]).toEqual([[], audit]);
    expect((await site.create({ page: "page_unknown" })).status).toBe(422);
    expect(site.templates()).toEqual([]);
  });

  test("a full page says so, and the template is not created", async () => {
    await using site = await createTemplateDashboard();
    for (let made = 0; made < 100; made++) await addTemplate(site.app);
    const answer = await site.create();
    expect(answer.status).toBe(409);
    expect(answer.text).toContain("There are 100 incident templates for all pages");
    expect(site.templates()).toHaveLength(100);
  });

  test("one form submitted twice creates one template", async () => {
    await using site = await createTemplateDashboard();
    const [form = ""] = typedIn((await site.show(NEW_TEMPLATE)).text, "form");
    const fields = { ...TEMPLATE, status: "investigating", impact_override: "", form };
    const answers = await Promise.all([
      site.send(NEW_TEMPLATE, fields),
      site.send(NEW_TEMPLATE, fields),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(site.templates()).toHaveLength(1);
  });

  test("a clone starts with all values of its template, and an unknown one with none", async () => {
    await using site = await createTemplateDashboard();
    const { till } = site.shop;
    const { id } = await addTemplate(site.app, {
      name: "x".repeat(100),
      page: "shop",
      status: "monitoring",
      impact_override: "minor",
      components: { [till]: "partial_outage" },
    });
    const { text } = await site.show(`${NEW_TEMPLATE}?from=${id}`);
    expect(typedIn(text, "name")).toEqual([`Copy of ${"x".repeat(92)}`]);
    expect(typedIn(text, "title")).toEqual([TEMPLATE.title]);
    expect(typedIn(text, "status")).toEqual(["monitoring"]);
    const page = readHtml(text);
    const selected = (name: string) =>
      page.attributes(`select[name="${name}"] option[selected]`, "value");
    expect(selected("page")).toEqual([site.shop.id]);
    expect(selected("impact_override")).toEqual(["minor"]);
    expect(selected(`component:${till}`)).toEqual(["partial_outage"]);
    const unknown = await site.show(`${NEW_TEMPLATE}?from=tpl_unknown`);
    expect([unknown.status, typedIn(unknown.text, "name")]).toEqual([200, [""]]);
  });

  test("viewers can neither see, create, change nor delete templates", async () => {
    await using site = await createTemplateDashboard("viewer");
    const { id } = await addTemplate(site.app);
    const before = [site.templates(), site.app.audit()];
    for (const path of [TEMPLATE_LIST, NEW_TEMPLATE, templateScreen(id)]) {
      expectProblem(await site.show(path), "insufficient_role");
    }
    const form = { ...TEMPLATE, title: "Mine", form: "1", version: "1" };
    for (const path of [NEW_TEMPLATE, templateScreen(id), `${templateScreen(id)}/delete`]) {
      expectProblem(await site.send(path, form), "insufficient_role");
    }
    expect([site.templates(), site.app.audit()]).toEqual(before);
    const list = await site.show("/admin/incidents");
    expect(list.text).not.toContain(TEMPLATE_LIST);
  });
});

describe("the form of a stored incident template", () => {
  test("a change is applied and audited, and unchanged values write nothing", async () => {
    await using site = await createTemplateDashboard();
    const components = { [site.shop.till]: "major_outage" as const };
    const template = await addTemplate(site.app, { page: "shop", components });
    const audit = site.app.audit();
    expect((await site.edit(template, {})).status).toBe(303);
    expect(site.app.audit()).toEqual(audit);
    const { till, web } = site.shop;
    await site.edit(template, {
      title: "No orders",
      [`component:${till}`]: "",
      [`component:${web}`]: "operational",
    });
    expect(site.templates()).toMatchObject([
      { title: "No orders", page: "shop", components: { [web]: "operational" }, version: 2 },
    ]);
    expect(site.app.audit().at(-1)?.summary).toBe(
      "Changed the incident template “Database down”: title, components",
    );
  });

  test("a template moves to another page with that page's components", async () => {
    await using site = await createTemplateDashboard();
    const components = { [site.shop.till]: "major_outage" as const };
    const template = await addTemplate(site.app, { page: "shop", components });
    const { posts, id } = site.blog;
    const move = { page: id, shown_page: id, [`component:${posts}`]: "partial_outage" };
    expect((await site.edit(template, move)).status).toBe(303);
    expect(site.templates()).toMatchObject([
      { page: "blog", components: { [posts]: "partial_outage" } },
    ]);
    const [moved] = site.templates();
    if (moved) await site.edit(moved, { page: "" });
    expect(site.templates()).toMatchObject([{ page: null, components: {} }]);
  });

  test("a form for an outdated version is a conflict and writes nothing", async () => {
    await using site = await createTemplateDashboard();
    const template = await addTemplate(site.app);
    await changeTemplate(site.app, template.id, { title: "Theirs" });
    const answer = await site.edit(template, { title: "Mine", version: "1" });
    expect(answer.status).toBe(409);
    expect(site.templates()).toMatchObject([{ title: "Theirs", version: 2 }]);
  });

  test("an invalid change is shown again, and an unknown template is not found", async () => {
    await using site = await createTemplateDashboard();
    const template = await addTemplate(site.app);
    const answer = await site.edit(template, { title: "" });
    expect([answer.status, Object.keys(fieldErrorsOn(answer.text))]).toEqual([422, ["title"]]);
    expect(site.templates()).toMatchObject([{ version: 1 }]);
    expectProblem(await site.show(templateScreen("tpl_unknown")), "not_found");
  });

  test("a template is deleted after a question", async () => {
    await using site = await createTemplateDashboard();
    const { id } = await addTemplate(site.app);
    const path = `${templateScreen(id)}/delete`;
    const page = readHtml((await site.show(path)).text);
    expect(page.texts("h1")).toEqual(["Delete “Database down”?"]);
    expect(site.templates()).toHaveLength(1);
    expect((await site.send(path, {})).headers.get("location")).toBe(TEMPLATE_LIST);
    expect(site.templates()).toEqual([]);
    const list = readHtml((await site.show(TEMPLATE_LIST)).text);
    expect(list.texts(".flash")).toEqual(["“Database down” was deleted."]);
    expectProblem(await site.show(path), "not_found");
  });

  test("the screen of a template of a file warns that apply resets it", async () => {
    await using site = await createTemplateDashboard();
    await apply(
      site.app,
      "pages: []\nincident_templates:\n  - { name: A, title: T, body: B }\n  - { name: C, title: T, body: B }\n",
    );
    const [template] = site.templates();
    const { text } = await site.show(templateScreen(template?.id ?? ""));
    expect(text).toContain("Managed by a configuration file");
    const byHand = await addTemplate(site.app);
    expect((await site.show(templateScreen(byHand.id))).text).not.toContain("Managed by");
  });
});
