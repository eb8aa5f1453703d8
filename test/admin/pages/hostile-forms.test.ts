import { describe, expect, test } from "bun:test";
import { listAllPages } from "../../../src/features/pages";
import { createPageDashboard, PAGES } from "../../support/page-dashboard";

// Marks that Unicode's normal forms reorder, in time that grows with the square of their number.
const MARKS = `a${"\u0315".repeat(20_000)}${"\u0300".repeat(20_000)}`;

describe("a form about a page that is made to be slow", () => {
  test("a page name that is slow to normalise is answered at once", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const startedAt = performance.now();
    expect((await site.create({ name: MARKS, slug: "" })).status).toBe(422);
    // It would be seconds, in which nobody else is answered.
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(site.state()).toEqual(before);
  });

  test("a custom domain that is slow to normalise is answered at once", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const startedAt = performance.now();
    const answer = await site.change("domains", { custom_domains: `${MARKS}.example.com` });
    expect(answer.status).toBe(422);
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(site.state()).toEqual(before);
  });
});

describe("the form for a new page", () => {
  test("the form for a new page ignores custom domains", async () => {
    await using site = await createPageDashboard();
    const form = { name: "New", slug: "new-page", custom_domains: "dashboard.test" };
    const more = { visibility: "public", time_zone: "UTC", locale: "en", history_days: "90" };
    const answer = await site.send(
      `${PAGES}/new`,
      { ...form, ...more, theme: "system" },
      { host: "dashboard.test" },
    );
    expect(answer.status).toBe(303);
    const made = listAllPages(site.app.ctx.db, {}).find(({ slug }) => slug === "new-page");
    expect(made?.customDomains).toEqual([]);
    expect((await site.show(PAGES, { host: "dashboard.test" })).status).toBe(200);
  });
});
