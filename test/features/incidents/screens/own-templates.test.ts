import { describe, expect, test } from "bun:test";
import { readHtml, typedIn } from "../../../support/html";
import { addTemplate } from "../../../support/incident-templates";
import {
  createTemplateDashboard,
  type TemplateDashboard,
} from "../../../support/template-dashboard";

const REPORT = "/admin/incidents/new";

const selectedIn = (html: string, name: string) =>
  readHtml(html).attributes(`select[name="${name}"] option[selected]`, "value");

/** Adds a template of the page shop that fills in every input. */
const addFull = (site: TemplateDashboard) =>
  addTemplate(site.app, {
    page: "shop",
    name: "Till down",
    status: "identified",
    impact_override: "critical",
    components: { [site.shop.till]: "major_outage" },
  });

describe("a user's template in the form for a new incident", () => {
  test("the form offers the templates of its page, then those for all pages, then the built-in ones", async () => {
    await using site = await createTemplateDashboard();
    await addTemplate(site.app, { name: "Everywhere" });
    await addFull(site);
    await addTemplate(site.app, { name: "Posts", page: "blog" });
    const shown = async (query: string) => {
      const page = readHtml((await site.show(`${REPORT}${query}`)).text);
      return { buttons: page.texts(".presets button"), labels: page.texts("p.label") };
    };
    const shop = await shown("?page=shop");
    expect(shop.buttons.slice(0, 3)).toEqual(["Till down", "Everywhere", "Investigating an error"]);
    expect(shop.labels).toEqual(["Your templates", "Built-in templates"]);
    expect((await shown("?page=blog")).buttons.slice(0, 2)).toEqual(["Posts", "Everywhere"]);
  });

  test("a link to the form fills in a template of its page, and an unknown one nothing", async () => {
    await using site = await createTemplateDashboard();
    const { id, title, body } = await addFull(site);
    const { text } = await site.show(`${REPORT}?page=shop&template=${id}`);
    expect(typedIn(text, "name")).toEqual([title]);
    expect(readHtml(text).texts("textarea")).toEqual([body]);
    expect(typedIn(text, "status")).toEqual(["identified"]);
    expect(selectedIn(text, "impact_override")).toEqual(["critical"]);
    expect(selectedIn(text, `component:${site.shop.till}`)).toEqual(["major_outage"]);
    expect(selectedIn(text, `component:${site.shop.web}`)).toEqual([""]);
    for (const other of ["page=blog&template=" + id, "page=shop&template=tpl_unknown"]) {
      const blank = await site.show(`${REPORT}?${other}`);
      expect([blank.status, typedIn(blank.text, "name")]).toEqual([200, [""]]);
    }
  });

  test("without a script, the button fills in empty inputs and keeps typed texts, and writes nothing", async () => {
    await using site = await createTemplateDashboard();
    const { id: page, till, web } = site.shop;
    const { id: template, body } = await addFull(site);
    const typed = {
      page,
      shown_page: page,
      name: "My own name",
      body: "",
      [`component:${web}`]: "partial_outage",
    };
    const { status, text } = await site.send(REPORT, { ...typed, template });
    expect(status).toBe(200);
    expect(typedIn(text, "name")).toEqual(["My own name"]);
    expect(readHtml(text).texts("textarea")).toEqual([body]);
    expect(selectedIn(text, `component:${till}`)).toEqual(["major_outage"]);
    expect(selectedIn(text, `component:${web}`)).toEqual(["partial_outage"]);
    expect(site.app.events()).toEqual([]);
    const own = await site.send(REPORT, { ...typed, body: "It is\r\nthe disk.", template });
    expect(readHtml(own.text).texts("textarea")).toEqual(["It is the disk."]);
  });

  test("another template replaces everything that the first one filled in", async () => {
    await using site = await createTemplateDashboard();
    const { id: page, till } = site.shop;
    const first = await addFull(site);
    const second = await addTemplate(site.app, { name: "B", title: "Second", body: "Two" });
    const filled = {
      page,
      shown_page: page,
      name: first.title,
      body: first.body,
      status: "identified",
      impact_override: "critical",
      [`component:${till}`]: "major_outage",
    };
    const { text } = await site.send(REPORT, { ...filled, template: second.id });
    expect(typedIn(text, "name")).toEqual(["Second"]);
    expect(readHtml(text).texts("textarea")).toEqual(["Two"]);
    expect(typedIn(text, "status")).toEqual(["investigating"]);
    expect(selectedIn(text, "impact_override")).toEqual([""]);
    expect(selectedIn(text, `component:${till}`)).toEqual([""]);
    const builtIn = await site.send(REPORT, { ...filled, template: "slow" });
    expect(typedIn(builtIn.text, "name")).toEqual([""]);
    expect(selectedIn(builtIn.text, `component:${till}`)).toEqual([""]);
  });

  test("large templates are filled in by the server, so that the form stays small", async () => {
    await using site = await createTemplateDashboard();
    const presets = async () =>
      readHtml((await site.show(`${REPORT}?page=shop`)).text).attributes(
        ".presets button",
        "data-preset",
      );
    await addTemplate(site.app, { body: "a".repeat(10_000) });
    expect(await presets()).toHaveLength(5);
    let id = "";
    for (let made = 0; made < 99; made++) {
      ({ id } = await addTemplate(site.app, { body: `${made} ${"a".repeat(9_000)}` }));
    }
    expect(await presets()).toEqual([]);
    const { text } = await site.show(`${REPORT}?page=shop`);
    expect(text.length).toBeLessThan(150_000);
    const { id: page } = site.shop;
    const answer = await site.send(REPORT, { page, shown_page: page, template: id });
    expect(readHtml(answer.text).texts("textarea")[0]).toStartWith("98 aaa");
  });
});
