import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { ownLetter, renderLetter } from "../../src/features/mail/letter";
import { describeInBrowser } from "../support/browser";

/** Text of several scripts, in the languages of whose paragraphs no page is. */
const SOURCE = `# שלום עולם

Hello world

مرحبا بالعالم

- שלום
- Hello
- مرحبا

  Good morning

\`\`\`
x = "שלום"
\`\`\``;

/** Directions that the browser must choose, in the order of the text. */
const DIRECTIONS = [
  "שלום עולם rtl",
  "Hello world ltr",
  "مرحبا بالعالم rtl",
  "שלום rtl",
  "Hello ltr",
  "مرحبا rtl",
  "Good morning ltr",
  'x = "שלום" ltr',
];

/** Returns the direction of each heading, paragraph, list item and code block in the parts of a page. */
function directionsIn(page: Page, parts: string): Promise<string[]> {
  return page.evaluate((selector) => {
    const blocks = document.querySelectorAll<HTMLElement>(
      `:is(${selector}) :is(h2, h3, h4, p, li:not(:has(> p)), pre)`,
    );
    return Array.from(
      blocks,
      (block) => `${block.innerText.trim()} ${getComputedStyle(block).direction}`,
    );
  }, parts);
}

describeInBrowser("texts of several scripts", (site) => {
  test("each paragraph, heading and list item has its own direction, on the page, in the dashboard, in feeds and mails", async () => {
    const { app, origin, visit } = site();
    const name = "תקלה בתשלומים";
    const { page: acme } = await app.page({ slug: "mixed", description: name }, [name]);
    const key = await app.keyWith("write:incidents");
    const json = { page: acme.slug, name, body: SOURCE };
    const answer = await app.call("/api/v1/incidents", { method: "POST", key, json });
    expect(answer.status).toBe(201);
    const { id } = answer.body;
    const session = await app.signedIn("editor");
    for (const { path, parts, names, as } of [
      { path: "/status/mixed", parts: ".newest", names: "article h3, .lead, .component strong" },
      { path: `/status/mixed/incidents/${id}`, parts: ".timeline .text", names: "h1" },
      { path: `/admin/incidents/${id}`, parts: ".timeline .text", names: "h1", as: session },
    ]) {
      const { page } = await visit(path, { session: as });
      const found = await directionsIn(page, parts);
      expect(found.slice(0, DIRECTIONS.length), path).toEqual(DIRECTIONS);
      const ofNames = await page
        .locator(names)
        .evaluateAll((all) => all.map((one) => getComputedStyle(one).direction));
      expect(new Set(ofNames), path).toEqual(new Set(["rtl"]));
      // The markers are on the side from which their items run.
      const sides = await page.locator(`${parts} li`).evaluateAll((all) =>
        all.map((one) => {
          const [own, list] = [one, one.parentElement ?? one].map((each) =>
            each.getBoundingClientRect(),
          );
          return own && list && own.right < list.right ? "right" : "left";
        }),
      );
      expect(sides, path).toEqual(["right", "left", "right"]);
      await page.context().close();
    }

    const { page } = await visit("/status/mixed", { javaScriptEnabled: true });
    await page.evaluate(async (address) => {
      const text = await (await fetch(address)).text();
      const feed = new DOMParser().parseFromString(text, "application/xml");
      document.body.innerHTML = feed.querySelector("entry > content")?.textContent ?? "";
    }, `${origin}/status/mixed/feed.atom`);
    expect(await directionsIn(page, "div")).toEqual(DIRECTIONS);
    const { html } = renderLetter(
      ownLetter({ preheader: "", blocks: [{ type: "markdown", source: SOURCE, url: origin }] }),
    );
    await page.setContent(html);
    expect(await directionsIn(page, "div.ink")).toEqual(DIRECTIONS);
    await page.context().close();
  }, 600_000);
});
