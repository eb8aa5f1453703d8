import { describe, expect, test } from "bun:test";
import { findDefaultPage, listAllPages } from "../../src/features/pages";
import { actionsOf, openForm } from "../support/dashboard";
import { complaintsOn, readHtml, typedIn } from "../support/html";
import {
  createPageDashboard,
  type PageDashboard,
  PAGES,
  toldAfter,
} from "../support/page-dashboard";

const deletionOf = ({ id }: PageDashboard) => `${PAGES}/${id}/delete`;

describe("deleting a page", () => {
  test("is asked about in a dialog, and done when its slug is typed", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    const question = readHtml((await site.show(path)).text);
    expect(question.texts("[data-dialog-body] h1")).toEqual(["Delete “Acme”"]);
    expect(question.texts(".danger")).toEqual(["Delete page"]);
    const form = await openForm(site.app, path, site.admin);
    const answer = await site.send(path, { form, slug: " acme " });
    expect(await toldAfter(site, answer, PAGES)).toBe("The page was deleted.");
    expect(listAllPages(site.app.ctx.db, {})).toEqual([]);
    expect((await site.app.call("/status/acme")).status).toBe(404);
    expect(actionsOf(site.app).at(-1)).toBe("page.delete");
    expect((await site.create({ slug: "acme" })).status).toBe(303);
  });

  test("is refused when anything else is typed, and nothing is written", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    const before = site.state();
    for (const slug of ["", "Acme", "acm", "acme2", "*"]) {
      const form = await openForm(site.app, path, site.admin);
      const answer = await site.send(path, { form, slug });
      expect(answer.status).toBe(422);
      expect(complaintsOn(answer.text)["slug"]).toContain("Nothing was deleted");
      expect(typedIn(answer.text, "slug")).toEqual([slug]);
    }
    expect(site.state()).toEqual(before);
  });

  test("by a form that is sent twice is done once, and both answers say that it is done", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    const form = { form: await openForm(site.app, path, site.admin), slug: "acme" };
    const answers = await Promise.all([site.send(path, form), site.send(path, form)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(actionsOf(site.app).filter((action) => action === "page.delete")).toHaveLength(1);
    const other = await site.send(path, { form: "another showing", slug: "acme" });
    expect(other.status).toBe(404);
  });

  test("passes the default on to the oldest of the others, as it says", async () => {
    await using site = await createPageDashboard();
    const path = deletionOf(site);
    expect((await site.show(path)).text).toContain("There is no other");
    await site.create();
    await site.create({ name: "Youngest", slug: "youngest" });
    expect((await site.show(path)).text).toContain("“Northwind” takes its place.");
    const form = await openForm(site.app, path, site.admin);
    await site.send(path, { form, slug: "acme" });
    expect(findDefaultPage(site.app.ctx.db, {})?.slug).toBe("northwind");
  });
});
