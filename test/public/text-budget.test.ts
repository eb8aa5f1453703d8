import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { createTextBudget, renderText } from "../../src/public/text";
import { renderStatusPage } from "../../src/public/status-page";
import { expectMissingPart, expectProblem } from "../support/app";
import { type HtmlPage, readHtml } from "../support/html";
import { createPublicSite, type PublicSite } from "../support/public-site";
import { longText, writeLongTexts } from "../support/long-texts";
import { addMaintenanceUpdate } from "../support/examined";

describe("a status page with 50 open incidents of 20 long updates each", () => {
  test("a status page contains 100 KB of texts in full, and excerpts with permalinks of the rest", async () => {
    await using site = await createPublicSite();
    const ids = await writeLongTexts(site.app, { incidents: 50, updates: 20 });
    const { text } = await site.app.call("/status/acme");
    expect(Buffer.byteLength(text)).toBeLessThan(200_000);
    const page = readHtml(text);
    // The last started comes first. Three have texts, and each says at least how its newest update begins.
    const names = ids.map((_, n) => `Trouble ${n}`).toReversed();
    expect(page.texts(".story h3")).toEqual(names.slice(0, 3));
    expect(page.texts(".line h3")).toEqual(names.slice(3, 13));
    expect(page.texts("#open > .more")).toEqual(["37 more open incidents"]);
    for (const n of [49, 48, 47]) expect(text).toContain(`word-${n}-19`);
    expect(page.texts(".text").filter((each) => each.length > 5_000).length).toBeLessThan(12);
    const readOn = page.attributes(".text > a", "href");
    expect(readOn.at(-1)).toStartWith(`/status/acme/incidents/${ids[47]}#upd_`);
  });

  test("a status page renders only the texts that it shows", async () => {
    await using site = await createPublicSite();
    await writeLongTexts(site.app, { incidents: 50, updates: 5 });
    let rendered = 0;
    const names = { version: "", find: () => undefined };
    const extras = { past: [], latency: new Map(), names };
    renderStatusPage(site.snapshot(), extras, site.app.clock.now(), {
      renderText: (source, topHeading) => {
        rendered += 1;
        return renderText(source, topHeading);
      },
    });
    expect(rendered).toBeLessThan(12);
  });
});

describe("the text budget", () => {
  test("the text budget stops rendering texts that grow too much", () => {
    let rendered = 0;
    const budget = createTextBudget(
      100_000,
      (source) => {
        rendered += 1;
        return source.repeat(1_000);
      },
      3,
    );
    for (let i = 0; i < 1_000; i++) expect(budget.fit({ body: "x".repeat(200) })).toBeUndefined();
    expect(rendered).toBeLessThan(20);
  });

  test("the text budget ends when rendering would take too long, with the same result each time", () => {
    let rendered = 0;
    const body = "[a](https://a.example) ".repeat(200);
    const spend = () => {
      const budget = createTextBudget(
        10_000_000,
        (source) => {
          rendered += 1;
          return renderText(source, 3);
        },
        3,
      );
      return Array.from({ length: 100 }, () => budget.fitOrBegin({ body }));
    };
    const shown = spend();
    const whole = shown.filter((text) => "html" in text);
    expect(rendered).toBe(whole.length);
    expect(whole.length).toBeGreaterThan(3);
    expect(whole.length).toBeLessThan(10);
    for (const text of shown.slice(whole.length)) {
      expect("words" in text && text.words.length).toBeGreaterThan(200);
    }
    expect(spend()).toEqual(shown);
  });

  test("the text budget counts the components that an update names", () => {
    const budget = createTextBudget(1_000, renderText, 3);
    const components = Array.from({ length: 10 }, (_, n) => ({ name: `C${n}` }));
    expect(budget.fit({ body: "Short.", components })).toBeUndefined();
    expect(budget.fit({ body: "Short." })).toEqual({ html: '<p dir="auto">Short.</p>\n' });
  });
});

/** Returns all parts of a permalink by following its links. */
async function readParts({ app }: PublicSite, path: string): Promise<HtmlPage[]> {
  const pages: HtmlPage[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const { text, status } = await app.call(next);
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThan(600_000);
    const page = readHtml(text);
    pages.push(page);
    next = page.attributes(".story > .more a", "href")[0];
    expect(pages.length).toBeLessThan(20);
  }
  return pages;
}

const firstWordOf = (text: string) => text.split(" ")[0];

describe("a permalink", () => {
  test("the permalink of an incident shows 500 KB per part, each update once, newest first", async () => {
    await using site = await createPublicSite();
    const [id = ""] = await writeLongTexts(site.app, { incidents: 1, updates: 120 });
    const pages = await readParts(site, `/status/acme/incidents/${id}`);
    expect(pages.length).toBeGreaterThan(1);
    const words = pages.flatMap((page) => page.texts(".timeline .text").map(firstWordOf));
    expect(words).toEqual(Array.from({ length: 120 }, (_, m) => `word-0-${119 - m}`));
    expect(pages[1]?.texts("h1")).toEqual(["Trouble 0"]);
    expect(pages[1]?.attributes("section > .more a", "href")).toEqual([
      `/status/acme/incidents/${id}`,
    ]);
  });

  test("the permalink of a maintenance shows its updates in parts, newest first", async () => {
    await using site = await createPublicSite();
    const { id } = await site.plan("2026-03-12T02:00:00Z", "2026-03-12T04:00:00Z");
    await site.app.ctx.db.write((tx) => {
      for (let m = 0; m < 120; m++) {
        addMaintenanceUpdate(site.app.ctx, tx, id, { body: longText(`word-${m}`) }, CLI_ACTOR);
      }
    });
    const pages = await readParts(site, `/status/acme/maintenance/${id}`);
    expect(pages.length).toBeGreaterThan(1);
    const words = pages.flatMap((page) => page.texts(".timeline .text").map(firstWordOf));
    expect(words).toEqual([
      ...Array.from({ length: 120 }, (_, m) => `word-${119 - m}`),
      "Planned.",
    ]);
  });

  test("a permalink is not_found for a cursor of another object and rejects an invalid cursor", async () => {
    await using site = await createPublicSite();
    const one = await site.open();
    const other = await site.open();
    const planned = await site.plan("2026-03-12T02:00:00Z", "2026-03-12T04:00:00Z");
    const call = (rest: string) => site.app.call(`/status/acme/${rest}`);
    const own = one.updates[0].id;
    expect((await call(`incidents/${one.id}?before=${own}`)).status).toBe(200);
    for (const rest of [`incidents/${other.id}`, `maintenance/${planned.id}`]) {
      expectMissingPart(await call(`${rest}?before=${own}`));
      expectProblem(await call(`${rest}?before=1`), "invalid_request");
    }
  });
});
