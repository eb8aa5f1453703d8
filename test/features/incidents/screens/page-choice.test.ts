import { describe, expect, test } from "bun:test";
import { createTestApp, type TestApp } from "../../../support/app";
import { fieldErrorsOn, type HtmlPage, readHtml, typedIn } from "../../../support/html";
import { PREVIEW, REPORT } from "../../../support/report-dashboard";

/** An app with two pages, of which `acme` is the default, and an editor. */
async function createTwoPages(app: TestApp) {
  const acme = await app.page({ slug: "acme", name: "Acme" }, ["API"]);
  const shop = await app.page({ slug: "shop", name: "Shop" }, ["Till"]);
  return { acme, shop, session: await app.signedIn("editor") };
}

function chosenPage(page: HtmlPage): string[] {
  return page.attributes('select[name="page"] option[selected]', "value");
}

function componentsIn(page: HtmlPage): string[] {
  return page.texts(".select-row label");
}

describe("the page of a reported incident", () => {
  test("the report form does not ask for the page if there is only one", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const session = await app.signedIn("editor");
    const { text } = await app.call(REPORT, { session });
    expect(readHtml(text).texts("select[name=page]")).toEqual([]);
    expect(typedIn(text, "page")).toEqual([page.id]);
  });

  test("the report form starts with the default page, and choosing another keeps the typed text", async () => {
    await using app = await createTestApp();
    const { acme, shop, session } = await createTwoPages(app);
    const first = readHtml((await app.call(REPORT, { session })).text);
    expect(chosenPage(first)).toEqual([acme.page.id]);
    expect(componentsIn(first)).toEqual(["API"]);

    const linked = readHtml((await app.call(`${REPORT}?page=shop`, { session })).text);
    expect(chosenPage(linked)).toEqual([shop.page.id]);
    expect(componentsIn(linked)).toEqual(["Till"]);

    const chosen = await app.call(REPORT, {
      session,
      form: {
        page: shop.page.id,
        shown_page: acme.page.id,
        intent: "choose-page",
        name: "Checkout fails",
        body: "Soon more.",
      },
    });
    expect(chosen.status).toBe(200);
    const page = readHtml(chosen.text);
    expect(chosenPage(page)).toEqual([shop.page.id]);
    expect(componentsIn(page)).toEqual(["Till"]);
    expect(typedIn(chosen.text, "name")).toEqual(["Checkout fails"]);
    expect(page.texts("textarea")).toEqual(["Soon more."]);
    expect(app.events()).toEqual([]);
  });

  test("a report whose page was changed is rejected until the form has shown the components of that page", async () => {
    await using app = await createTestApp();
    const { acme, shop, session } = await createTwoPages(app);
    const form = {
      page: shop.page.id,
      shown_page: acme.page.id,
      name: "Checkout fails",
      body: "Soon more.",
      status: "investigating",
    };
    for (const path of [REPORT, PREVIEW]) {
      const answer = await app.call(path, { session, form });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)["page"]).toStartWith("Page was changed.");
      expect(typedIn(answer.text, "shown_page")).toEqual([shop.page.id]);
    }
    expect(app.events()).toEqual([]);
    const sent = await app.call(REPORT, { session, form: { ...form, shown_page: shop.page.id } });
    expect(sent.status).toBe(303);
    const events = app.events().map(({ type, data }) => [type, data["page"]]);
    expect(events).toEqual([["incident.created", "shop"]]);
  });

  test("a report for a deleted page is rejected with an error, and nothing is written", async () => {
    await using app = await createTestApp();
    const { session } = await createTwoPages(app);
    const form = { page: "page_gone", shown_page: "page_gone", name: "Errors", body: "Soon." };
    const answer = await app.call(REPORT, { session, form });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toHaveProperty("page");
    expect(app.events()).toEqual([]);
  });
});

describe("an installation without a status page", () => {
  for (const path of [REPORT, "/admin/incidents"]) {
    test(`${path} without a status page asks for one to be created, with a link only for admins`, async () => {
      await using app = await createTestApp();
      const toCreate = async (role: "admin" | "editor") => {
        const session = await app.signedIn(role);
        const page = readHtml((await app.call(path, { session })).text);
        expect(page.texts(".empty h2")).toEqual(["No status page yet"]);
        return page.attributes(".empty a", "href");
      };
      expect(await toCreate("admin")).toEqual(["/admin/pages/new"]);
      expect(await toCreate("editor")).toEqual([]);
    });
  }

  test("an incident cannot be reported without a status page", async () => {
    await using app = await createTestApp();
    const session = await app.signedIn("editor");
    const answer = await app.call(REPORT, { session, form: { name: "Errors", body: "Soon." } });
    expect(answer.text).toContain("No status page yet");
    expect(app.events()).toEqual([]);
  });
});

test("many components are folded by group, and a group with a chosen status or a failing one is open", async () => {
  await using app = await createTestApp();
  const names = Array.from({ length: 13 }, (_, index) => `Service ${index}`);
  const { page, components } = await app.page({}, names);
  const session = await app.signedIn("editor");
  const fresh = readHtml((await app.call(REPORT, { session })).text);
  expect(fresh.texts(".select-parts details summary")).toEqual(["Core"]);
  expect(fresh.attributes(".select-parts details", "open")).toEqual([]);
  const form = {
    page: page.id,
    shown_page: page.id,
    [`component:${components["Service 3"]}`]: "partial_outage",
  };
  const back = readHtml((await app.call(REPORT, { session, form })).text);
  expect(back.attributes(".select-parts details", "open")).toHaveLength(1);
  const { value } = await app.createKey({ scopes: ["write:components"] });
  const json = { status: "major_outage", reason: "Errors" };
  const path = `/api/v1/components/${components["Service 5"]}`;
  expect((await app.call(path, { method: "PATCH", key: value, json })).status).toBe(200);
  const failing = readHtml((await app.call(REPORT, { session })).text);
  expect(failing.attributes(".select-parts details", "open")).toHaveLength(1);
});

describe("a template of the report form", () => {
  test("without JavaScript, a template fills in message and status and keeps all other fields", async () => {
    await using app = await createTestApp();
    const { shop, session } = await createTwoPages(app);
    const { text } = await app.call(`${REPORT}?page=shop`, { session });
    const page = readHtml(text);
    const values = page.attributes(".presets button", "value");
    const presets = page
      .attributes(".presets button", "data-preset")
      .map((json) => JSON.parse(json));
    expect(page.texts(".presets button")).toEqual([
      "Investigating an error",
      "Slow responses",
      "Third-party provider",
      "Cause unknown",
    ]);
    const till = `component:${shop.components["Till"]}`;
    let body = "";
    for (const [index, template] of values.entries()) {
      const filled = await app.call(REPORT, {
        session,
        form: {
          page: shop.page.id,
          shown_page: shop.page.id,
          name: "Card payments fail",
          [till]: "partial_outage",
          // The text of the previous template, which the next one replaces.
          body,
          template,
        },
      });
      expect(filled.status).toBe(200);
      const form = readHtml(filled.text);
      [body = ""] = form.texts("textarea");
      expect(typedIn(filled.text, "name")).toEqual(["Card payments fail"]);
      expect(form.attributes(".select-row option[selected]", "value")).toEqual(["partial_outage"]);
      expect(form.texts("textarea")).toEqual([presets[index].body]);
      expect(typedIn(filled.text, "status")).toEqual([presets[index].status]);
      expect(chosenPage(form)).toEqual(chosenPage(page));
    }
  });

  test.each([{ template: "slow" }, { template: "nonsense" }])(
    "a template keeps a message that the user wrote, and publishes nothing: $template",
    async ({ template }) => {
      await using app = await createTestApp();
      const { page } = await app.page();
      const session = await app.signedIn("editor");
      const before = app.events();
      const own = { page: page.id, name: "Errors", body: "It is the disk." };
      const { status, text } = await app.call(REPORT, { session, form: { ...own, template } });
      expect(status).toBe(200);
      expect(readHtml(text).texts("textarea")).toEqual(["It is the disk."]);
      expect(typedIn(text, "status")).toEqual(["investigating"]);
      expect(app.events()).toEqual(before);
    },
  );
});
