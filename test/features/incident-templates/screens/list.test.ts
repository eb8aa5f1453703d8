import { describe, expect, test } from "bun:test";
import { expectProblem } from "../../../support/app";
import { readHtml } from "../../../support/html";
import { addTemplate } from "../../../support/incident-templates";
import { createTemplateDashboard, TEMPLATE_LIST } from "../../../support/template-dashboard";

const HIDE = `${TEMPLATE_LIST}/built-in/hide`;
const SHOW = `${TEMPLATE_LIST}/built-in/show`;
const REPORT = "/admin/incidents/new";

describe("the list of incident templates", () => {
  test("the list shows templates by name and can be filtered by page and words", async () => {
    await using site = await createTemplateDashboard();
    await addTemplate(site.app, { name: "Till", page: "shop" });
    await addTemplate(site.app, { name: "Anything" });
    await addTemplate(site.app, { name: "Posts", page: "blog", title: "Nothing to read" });
    const names = async (query = "") =>
      readHtml((await site.show(`${TEMPLATE_LIST}${query}`)).text).texts(".row-link");
    expect(await names()).toEqual(["Anything", "Posts", "Till"]);
    expect(await names("?page=shop")).toEqual(["Anything", "Till"]);
    expect(await names("?q=READ")).toEqual(["Posts"]);
    expect(await names("?q=mainframe")).toEqual([]);
    expect((await site.show(`${TEMPLATE_LIST}?q=mainframe`)).text).toContain(
      "No templates match these filters",
    );
  });

  test("a long list of templates is shown in parts by name, each template once", async () => {
    await using site = await createTemplateDashboard();
    for (let made = 10; made < 62; made++)
      await addTemplate(site.app, { name: `Template ${made}` });
    const first = readHtml((await site.show(`${TEMPLATE_LIST}?q=template`)).text);
    expect(first.texts(".row-link")).toHaveLength(50);
    expect(first.texts(".list-count")).toEqual(["52 templates"]);
    const [next = ""] = first.attributes(".pagination a", "href");
    const second = readHtml((await site.show(next)).text);
    expect(second.texts(".row-link")).toEqual(["Template 60", "Template 61"]);
    expect(second.attributes(".pagination a", "href")).toEqual([`${TEMPLATE_LIST}?q=template`]);
    const unknown = readHtml((await site.show(`${TEMPLATE_LIST}?after=tpl_none`)).text);
    expect(unknown.texts(".row-link")[0]).toBe("Template 10");
  });

  test("the list of templates can be ordered by its columns, and the next part keeps the order", async () => {
    await using site = await createTemplateDashboard();
    for (let made = 10; made < 61; made++) {
      await addTemplate(site.app, { name: `Template ${made}`, title: `Problem ${99 - made}` });
    }
    const open = async (path: string) => readHtml((await site.show(path)).text);
    const usual = await open(TEMPLATE_LIST);
    expect(usual.attributes("th[aria-sort]", "aria-sort")).toEqual(["ascending"]);
    const first = await open(`${TEMPLATE_LIST}?q=template&sort=title`);
    expect(first.texts(".row-link")[0]).toBe("Template 60");
    const [next = ""] = first.attributes(".pagination a", "href");
    const second = await open(next);
    expect(second.texts(".row-link")).toEqual(["Template 10"]);
    expect(second.attributes("th[aria-sort]", "aria-sort")).toEqual(["ascending"]);
    expect((await open(`${TEMPLATE_LIST}?sort=-name`)).texts(".row-link")[0]).toBe("Template 60");
  });

  test("a link to a part whose templates were deleted shows the first part", async () => {
    await using site = await createTemplateDashboard();
    const { id } = await addTemplate(site.app, { name: "Only" });
    const page = readHtml((await site.show(`${TEMPLATE_LIST}?after=${id}`)).text);
    expect(page.texts(".row-link")).toEqual(["Only"]);
    expect(page.texts(".empty h2")).toEqual([]);
  });

  test("an installation without templates explains them, and both ways to the list exist", async () => {
    await using site = await createTemplateDashboard();
    expect((await site.show(TEMPLATE_LIST)).text).toContain("No templates yet");
    for (const path of ["/admin/incidents", REPORT]) {
      const page = readHtml((await site.show(path)).text);
      expect(page.attributes(`a[href="${TEMPLATE_LIST}"]`, "href")).toHaveLength(1);
    }
  });
});

describe("the built-in templates", () => {
  test("an admin hides the built-in templates in all forms and offers them again, which is audited", async () => {
    await using site = await createTemplateDashboard("admin");
    await addTemplate(site.app, { page: "shop" });
    const key = await site.app.keyWith("write:incidents");
    const json = { page: "shop", name: "Down", body: "Down." };
    const { body } = await site.app.call("/api/v1/incidents", { method: "POST", key, json });
    const offered = async (path: string) =>
      readHtml((await site.show(path)).text).texts(".presets button, .template-menu button");
    const incident = `/admin/incidents/${body.id}`;
    const before = [await offered(REPORT), await offered(incident)];
    expect(before).toEqual([
      [
        "Database down",
        "Investigating an error",
        "Slow responses",
        "Third-party provider",
        "Cause unknown",
      ],
      ["Cause found", "Fix in place", "Resolved"],
    ]);
    expect((await site.send(HIDE, {})).headers.get("location")).toBe(TEMPLATE_LIST);
    expect([await offered(REPORT), await offered(incident)]).toEqual([["Database down"], []]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "settings.built_in_templates",
      summary: "Hid the built-in incident templates",
    });
    const audit = site.app.audit();
    await site.send(HIDE, {});
    expect(site.app.audit()).toEqual(audit);
    await site.send(SHOW, {});
    expect([await offered(REPORT), await offered(incident)]).toEqual(before);
  });

  test("an editor sees the state of the built-in templates and cannot change it", async () => {
    await using site = await createTemplateDashboard();
    const { text } = await site.show(TEMPLATE_LIST);
    expect(text).toContain("An admin can change this.");
    expect(text).not.toContain(HIDE);
    const audit = site.app.audit();
    expectProblem(await site.send(HIDE, {}), "insufficient_role");
    expectProblem(await site.send(SHOW, {}), "insufficient_role");
    expect(site.app.audit()).toEqual(audit);
  });
});
