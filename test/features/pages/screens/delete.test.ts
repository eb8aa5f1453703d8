import { describe, expect, test } from "bun:test";
import { findDefaultPage, listAllPages } from "../../../../src/features/pages/store";
import { actionsOf, openForm } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import {
  createPageDashboard,
  type PageDashboard,
  PAGES,
  flashAfter,
} from "../../../support/page-dashboard";

const deletionOf = ({ id }: PageDashboard) => `${PAGES}/${id}/delete`;

describe("deleting a page", () => {
  test("deleting a page asks for its slug, then removes the page and frees the slug", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    const question = readHtml((await site.show(path)).text);
    expect(question.texts("[data-dialog-body] h1")).toEqual(["Delete “Acme”?"]);
    expect(question.texts(".danger")).toEqual(["Delete page"]);
    const form = await openForm(site.app, path, site.admin);
    const answer = await site.send(path, { form, slug: " acme " });
    expect(await flashAfter(site, answer, PAGES)).toBe("The page was deleted.");
    expect(listAllPages(site.app.ctx.db, {})).toEqual([]);
    expect((await site.app.call("/status/acme")).status).toBe(404);
    expect(actionsOf(site.app).at(-1)).toBe("page.delete");
    expect((await site.create({ slug: "acme" })).status).toBe(303);
  });

  test("deleting a page with another slug typed is rejected, and nothing is written", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    const before = site.state();
    for (const slug of ["", "Acme", "acm", "acme2", "*"]) {
      const form = await openForm(site.app, path, site.admin);
      const answer = await site.send(path, { form, slug });
      expect(answer.status).toBe(422);
      expect(fieldErrorsOn(answer.text)["slug"]).toContain("Nothing was deleted");
      expect(typedIn(answer.text, "slug")).toEqual([slug]);
    }
    expect(site.state()).toEqual(before);
  });

  test("submitting a page's deletion twice deletes once, and a new form for it is not_found", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    const form = { form: await openForm(site.app, path, site.admin), slug: "acme" };
    const answers = await Promise.all([site.send(path, form), site.send(path, form)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(actionsOf(site.app).filter((action) => action === "page.delete")).toHaveLength(1);
    const other = await site.send(path, { form: "another showing", slug: "acme" });
    expect(other.status).toBe(404);
  });

  test("after deletion of the default page, the oldest other page is the default one, as announced", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    expect((await site.show(path)).text).toContain("There is no other");
    await site.create();
    await site.create({ name: "Youngest", slug: "youngest" });
    expect((await site.show(path)).text).toContain("“Northwind” becomes the default page.");
    const form = await openForm(site.app, path, site.admin);
    await site.send(path, { form, slug: "acme" });
    expect(findDefaultPage(site.app.ctx.db, {})?.slug).toBe("northwind");
  });

  test("after deletion of the default page, the oldest public page is preferred to an older private one", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    await site.create({ name: "Inside", slug: "inside", visibility: "private" });
    await site.create({ name: "Outside", slug: "outside" });
    await site.create({ name: "Youngest", slug: "youngest" });
    expect((await site.show(path)).text).toContain("“Outside” becomes the default page.");
    const form = await openForm(site.app, path, site.admin);
    await site.send(path, { form, slug: "acme" });
    expect(findDefaultPage(site.app.ctx.db, {})?.slug).toBe("outside");
    const home = await site.app.call("/");
    expect([home.status, readHtml(home.text).texts(".brand")[0]]).toEqual([200, "Outside"]);
  });

  test("after deletion of the only public page, the oldest private page is the default one, as announced", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    await site.create({ name: "Inside", slug: "inside", visibility: "private" });
    await site.create({ name: "Staff", slug: "staff", visibility: "private" });
    expect((await site.show(path)).text).toContain(
      "“Inside” becomes the default page. It is private, so visitors see no page at /.",
    );
    const form = await openForm(site.app, path, site.admin);
    await site.send(path, { form, slug: "acme" });
    expect(findDefaultPage(site.app.ctx.db, {})?.slug).toBe("inside");
  });
});
