import { describe, expect, test } from "bun:test";
import { listComponentsOfPage } from "../../../../src/features/components/store";
import { findDefaultPage, listAllPages } from "../../../../src/features/pages/store";
import { releaseSlug } from "../../../../src/features/pages/pages";
import { storeFirstRun } from "../../../../src/first-run";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { actionsOf, openForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  chosenIn,
  createPageDashboard,
  PAGE_FIELDS,
  PAGES,
  flashAfter,
} from "../../../support/page-dashboard";
import { updatePage } from "../../../support/examined";

const NEW = `${PAGES}/new`;

/** Path of the new page's components, of which it has none. */
const COMPONENTS_OF_IT = "/admin/components?page=northwind";

describe("creating a page", () => {
  test("a new page has the typed values and redirects to its components with a confirmation", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    const answer = await site.create();
    const [page] = listAllPages(site.app.ctx.db, {});
    expect(page).toMatchObject({
      name: "Northwind",
      slug: "northwind",
      description: "All of Northwind.",
      visibility: "public",
      timeZone: "Europe/Berlin",
      locale: "de",
      historyDays: 60,
      joinMinutes: 25,
      theme: "dark",
      accent: "#0b6b53",
      isDefault: true,
    });
    expect(await flashAfter(site, answer, COMPONENTS_OF_IT)).toStartWith("The page was created.");
    expect((await site.app.call("/status/northwind")).text).toContain("All of Northwind.");
    expect(actionsOf(site.app)).toContain("page.create");
  });

  test("a new page without slug gets one from its name, and empty fields are omitted", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    const empty = { slug: " ", description: " \r\n", accent: "" };
    await site.create({ name: " Überblick: Störungen & Co. ", ...empty });
    expect(listAllPages(site.app.ctx.db, {})[0]).toMatchObject({
      name: "Überblick: Störungen & Co.",
      slug: "uberblick-storungen-co",
      description: null,
      accent: null,
    });
  });

  test("a new page normalises line ends, the colour and the slug", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    await site.create({ description: "One.\r\nTwo.", accent: "c2272d", slug: " NorthWind " });
    expect(listAllPages(site.app.ctx.db, {})[0]).toMatchObject({
      description: "One.\nTwo.",
      accent: "#c2272d",
      slug: "northwind",
    });
  });

  test("submitting one form for a new page several times creates one page, and all answers lead to it", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    const form = { form: await openForm(site.app, NEW, site.admin), ...PAGE_FIELDS };
    const answers = await Promise.all([site.send(NEW, form), site.send(NEW, form)]);
    answers.push(await site.send(NEW, form));
    expect(listAllPages(site.app.ctx.db, {})).toHaveLength(1);
    expect(answers.map(({ status, headers }) => [status, headers.get("location")])).toEqual(
      answers.map(() => [303, COMPONENTS_OF_IT]),
    );
    expect(actionsOf(site.app).filter((action) => action === "page.create")).toHaveLength(1);
  });

  test("the lines of the form for a new page become its components, in their order", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    await site.create({ components: "Website\r\n\r\n  Checkout \nCheckout\n日本" });
    const [page] = listAllPages(site.app.ctx.db, {});
    const rows = listComponentsOfPage(site.app.ctx.db, { pageId: page?.id ?? "" });
    expect(rows.map(({ name, ref }) => [name, ref])).toEqual([
      ["Website", "website"],
      ["Checkout", "checkout"],
      ["Checkout", "checkout-2"],
      ["日本", "component"],
    ]);
    expect(actionsOf(site.app).filter((action) => action === "component.create")).toHaveLength(4);
  });

  test("a new page with invalid components is redisplayed with all lines, and nothing is written", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const typed = ["Website", "x".repeat(256)].join("\n");
    const answer = await site.create({ components: typed, slug: "no spaces" });
    expect(answer.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["slug", "components"]);
    expect(fieldErrorsOn(answer.text)["components"]).toBe(
      "Components have an invalid name, number 2: it is 256 characters long; 255 is the most.",
    );
    expect(readHtml(answer.text).texts('textarea[name="components"]')[0]).toContain("Website");
    const many = await site.create({ components: "x\n".repeat(101) });
    expect(fieldErrorsOn(many.text)["components"]).toBe(
      "Components has 101 lines; 100 is the most.",
    );
    expect(site.state()).toEqual(before);
  });

  test("a new page becomes the default one only if that is chosen", async () => {
    await using site = await createPageDashboard();
    await site.create();
    expect(findDefaultPage(site.app.ctx.db, {})?.slug).toBe("acme");
    await site.create({ name: "Second", slug: "second", default: "yes" });
    expect(findDefaultPage(site.app.ctx.db, {})?.slug).toBe("second");
  });

  test("the form for the first page does not offer to make it the default one", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    const hasQuestion = async () =>
      readHtml((await site.show(NEW)).text).controls.some(({ name }) => name === "default");
    expect(await hasQuestion()).toBe(false);
    await site.create();
    expect(await hasQuestion()).toBe(true);
  });

  test("the first page replaces the sample page, as the form announces, and may take its slug", async () => {
    await using site = await createPageDashboard({ isEmpty: true });
    await storeFirstRun(site.app.ctx);
    expect(readHtml((await site.show(NEW)).text).texts("main .notice")[0]).toContain(
      "deletes the sample page",
    );
    expect((await site.create({ slug: "sample" })).status).toBe(303);
    expect(listAllPages(site.app.ctx.db, {}).map(({ name }) => name)).toEqual(["Northwind"]);
    expect(readHtml((await site.show(NEW)).text).texts("main .notice:not(.flash)")).toEqual([]);
  });

  test("the form for a new page ignores custom domains", async () => {
    await using site = await createPageDashboard();
    const form = { name: "New", slug: "new-page", custom_domains: "dashboard.test" };
    const more = {
      visibility: "public",
      time_zone: "UTC",
      locale: "en",
      history_days: "90",
      join_minutes: "10",
    };
    const answer = await site.send(
      NEW,
      { ...form, ...more, theme: "system" },
      { host: "dashboard.test" },
    );
    expect(answer.status).toBe(303);
    const made = listAllPages(site.app.ctx.db, {}).find(({ slug }) => slug === "new-page");
    expect(made?.customDomains).toEqual([]);
    expect((await site.show(PAGES, { host: "dashboard.test" })).status).toBe(200);
  });
});

describe("an invalid form for a new page", () => {
  test("an invalid new page is redisplayed with all errors and typed values, and nothing is written", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const wrong = {
      name: "\u202eevil",
      slug: "no spaces",
      description: "x".repeat(1_001),
      visibility: "friends",
      time_zone: "Europe/Nowhere",
      locale: "not a tag",
      history_days: "29",
      join_minutes: "1441",
      theme: "pink",
      accent: "green",
    };
    const answer = await site.create(wrong);
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)).toEqual({
      name: "Name holds control characters or bidirectional overrides.",
      slug: "Slug must be at most 63 lower-case letters, digits and hyphens, and must not start or end with a hyphen.",
      description: "Description is 1001 characters long; 1000 is the most.",
      visibility: "Visibility must be one of public, private.",
      time_zone: "Time zone must be a time zone, such as Europe/Berlin.",
      locale: "Language must be a language tag, such as en or pt-BR.",
      history_days: "Days of history must be a whole number from 30 to 365.",
      join_minutes: "Minutes in which outages join must be a whole number from 0 to 1,440.",
      theme: "Theme must be one of system, light, dark.",
      accent: "Accent colour must be # and six hexadecimal digits, such as #0b6b53.",
    });
    for (const name of [
      "slug",
      "time_zone",
      "locale",
      "history_days",
      "join_minutes",
      "accent",
    ] as const) {
      expect(typedIn(answer.text, name)).toEqual([wrong[name]]);
    }
    expect(chosenIn(answer.text, "description")).toBe(wrong.description);
    // What is wrong in a part that is folded away must be in sight.
    expect(readHtml(answer.text).attributes("details.fold", "open")).toEqual([""]);
    expect(site.state()).toEqual(before);
  });

  test.each([
    { slug: "status", why: "Slug is reserved." },
    { slug: "-a", why: "Slug must be at most 63 lower-case letters" },
    { slug: "..", why: "Slug must be at most 63 lower-case letters" },
    { slug: "a".repeat(64), why: "Slug is 64 characters long; 63 is the most." },
    { slug: "acme", why: "Slug is taken by the page “Acme”." },
  ])("a new page with the slug $slug is rejected: $why", async ({ slug, why }) => {
    await using site = await createPageDashboard();
    const before = site.state();
    const answer = await site.create({ slug });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)["slug"]).toStartWith(why);
    expect(site.state()).toEqual(before);
  });

  test.each(["状态页面", "🎉", "---"])(
    "a name without letters for a slug requires a typed slug: %s",
    async (name) => {
      await using site = await createPageDashboard();
      const before = site.state();
      const answer = await site.create({ name, slug: "", accent: "green" });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)).toEqual({
        slug: "Slug must be entered, such as status-page, because none can be made from this name.",
        accent: "Accent colour must be # and six hexadecimal digits, such as #0b6b53.",
      });
      expect(typedIn(answer.text, "name")).toEqual([name]);
      expect(site.state()).toEqual(before);
      expect((await site.create({ name, slug: "zhuangtai" })).status).toBe(303);
    },
  );

  test("an empty name causes no second error about the slug", async () => {
    await using site = await createPageDashboard();
    const answer = await site.create({ name: " ", slug: "" });
    expect(Object.keys(fieldErrorsOn(answer.text))).toEqual(["name"]);
  });

  test("a rejected slug that was made from the name is shown in its field", async () => {
    await using site = await createPageDashboard();
    const answer = await site.create({ name: "ACME", slug: "" });
    expect(fieldErrorsOn(answer.text)).toEqual({ slug: "Slug is taken by the page “Acme”." });
    expect(typedIn(answer.text, "slug")).toEqual(["acme"]);
  });

  test("an earlier slug of another page is rejected until that page releases it", async () => {
    await using site = await createPageDashboard();
    const { ctx } = site.app;
    await ctx.db.write((tx) => updatePage(ctx, tx, site.id, { slug: "new-acme" }, CLI_ACTOR));
    const answer = await site.create({ slug: "acme" });
    expect(fieldErrorsOn(answer.text)["slug"]).toContain("which must release it first");
    await ctx.db.write((tx) => releaseSlug(ctx, tx, site.id, "acme", CLI_ACTOR));
    expect((await site.create({ slug: "acme" })).status).toBe(303);
  });

  test("a corrected form creates the page with the same form token", async () => {
    await using site = await createPageDashboard();
    const form = { form: await openForm(site.app, NEW, site.admin), ...PAGE_FIELDS };
    expect((await site.send(NEW, { ...form, name: "" })).status).toBe(422);
    expect((await site.send(NEW, form)).status).toBe(303);
  });
});
