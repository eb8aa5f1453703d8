import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { CLI_ACTOR } from "../../src/base/actor";
import { findPageBySlug } from "../../src/features/pages/store";
import { LANGUAGES } from "../../src/languages/tags";
import type { BrowserSite } from "../support/browser-site";
import { updatePage } from "../support/examined";
import { createPageAccess, PAGE_PASSWORD } from "../support/page-access";
import { keepPseudoWords, PSEUDO_LOCALE } from "../support/pseudo-language";
import {
  ALL_DOCUMENTS_MS,
  describePublicDocuments,
  expectAccessible,
  isWiderThanWindow,
  openAll,
  PHONE,
} from "../support/public-documents";

/** Texts that people wrote on the page, names of products and formats, and the names of languages. */
const OWN_WORDS =
  /^(?:Acme|All of it|API|Web|It was (?:down|slow)|API is down|We look into it\.|Upgrade|Why|See|this|so|Core|pseudo|Asia|Tokyo|Atom|RSS|JSON|Slack|English|https?:\S*|webcal:\S*|\/feed subscribe|status\S*|feed\.\S*|calendar\.ics|summary\.json|badge\.svg|api|v2|acme|[\d.:]+\S*)$/i;

/** Year of planned times, which must be in the future. */
const YEAR = new Date().getUTCFullYear() + 1;

/** Gives the page of the documents another language. */
async function setLanguage({ app }: BrowserSite, locale: string): Promise<void> {
  await app.ctx.db.write((tx) => {
    const page = findPageBySlug(tx, { slug: "acme" });
    if (page) updatePage(app.ctx, tx, page.id, { locale, languages: ["en"] }, CLI_ACTOR);
  });
}

/** Returns the English words that a document shows or reads aloud, without those that are not of Allclear. */
async function untranslated(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      if (parentElement?.closest("script, style, code, .text")) continue;
      if (textContent) found.push(textContent);
    }
    for (const element of document.querySelectorAll(
      "[aria-label], [placeholder], [alt], [title]",
    )) {
      for (const name of ["aria-label", "placeholder", "alt", "title"]) {
        const value = element.getAttribute(name);
        if (value) found.push(value);
      }
    }
    return [...found, document.title];
  });
  return texts
    .flatMap((text) => text.split(/\s*[⟦⟧·:,/]\s*|\n/))
    .map((text) => text.replace(/\b(?:UTC|GMT|JST)\b/g, "").trim())
    .filter((text) => /[a-z]{2}/i.test(text) && !OWN_WORDS.test(text));
}

/** Returns the texts that their boxes cut off. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    Array.from(document.querySelectorAll<HTMLElement>("body *"))
      .filter((element) => {
        if (element.closest(".unseen, svg, .skip, pre, code, .text")) return false;
        const { overflowX, overflowY } = getComputedStyle(element);
        const isCut = (overflow: string) => overflow === "hidden" || overflow === "clip";
        return (
          (isCut(overflowX) && element.scrollWidth > element.clientWidth + 1) ||
          (isCut(overflowY) && element.scrollHeight > element.clientHeight + 1)
        );
      })
      .map((element) => `${element.className}: ${element.innerText.slice(0, 80)}`),
  );
}

describePublicDocuments("public documents in other languages", (site, documents) => {
  test(
    "public documents in a language with longer words from right to left show all of them",
    async () => {
      keepPseudoWords();
      const paths = Object.values(await documents());
      await setLanguage(site(), PSEUDO_LOCALE);
      const { page, errors } = await site().visit(paths[0] ?? "/");
      for (const path of paths) {
        await page.goto(site().origin + path);
        await openAll(page);
        expect(await page.locator("html").getAttribute("dir"), path).toBe("rtl");
        expect(await untranslated(page), path).toEqual([]);
        for (const width of [320, 390, 1280]) {
          await page.setViewportSize({ width, height: 844 });
          expect(await isWiderThanWindow(page), `${path} at ${width}`).toBe(false);
          expect(await cutOff(page), `${path} at ${width}`).toEqual([]);
        }
      }
      expect(errors).toEqual([]);
      await page.context().close();
    },
    ALL_DOCUMENTS_MS,
  );

  test("the form for a password in such a language shows all of them, before and after an error", async () => {
    keepPseudoWords();
    const { app, origin, visit } = site();
    const form = { slug: "inside", visibility: "private", locale: PSEUDO_LOCALE } as const;
    await createPageAccess(app, (await app.page(form, [])).page.id).password(PAGE_PASSWORD);
    const { page } = await visit("/docs/errors");
    await page.goto(`${origin}/status/inside`);
    for (const isWrong of [false, true]) {
      if (isWrong) {
        await page.locator("input[type=password]").fill("wrong");
        await page.keyboard.press("Enter");
        await page.getByRole("alert").waitFor();
      }
      expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
      expect(await untranslated(page)).toEqual([]);
      for (const width of [320, 390, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        expect(await isWiderThanWindow(page)).toBe(false);
        expect(await cutOff(page)).toEqual([]);
      }
    }
    await page.context().close();
  });

  test.each(["ar", "ja", "de"])(
    "public documents in %s have no axe violations and fit a phone",
    async (locale) => {
      const paths = Object.values(await documents());
      await setLanguage(site(), locale);
      await expectAccessible(site(), paths, { viewport: PHONE });
    },
    ALL_DOCUMENTS_MS,
  );

  test.each(LANGUAGES)(
    "the phases of an incident are in one row of a small phone in %s",
    async (locale) => {
      await documents();
      await setLanguage(site(), locale);
      const { page } = await site().visit("/", { viewport: { width: 320, height: 568 } });
      expect(await isWiderThanWindow(page)).toBe(false);
      // The current phase is in bold, so it is wider than it is later.
      const rows = await page.locator(".phases").evaluateAll((lists) =>
        lists.flatMap(({ children }) =>
          Array.from(children, (current) => {
            for (const phase of children) phase.className = phase === current ? "now" : "";
            const tops = Array.from(children, (phase) => phase.getBoundingClientRect().top);
            return new Set(tops.map(Math.round)).size;
          }),
        ),
      );
      expect(rows).toEqual([1, 1, 1, 1]);
      await page.context().close();
    },
    ALL_DOCUMENTS_MS,
  );

  test("a span of two days is read from right to left, with and without a script", async () => {
    await documents();
    await setLanguage(site(), "ar");
    const { app, origin, visit } = site();
    const key = await app.keyWith("write:maintenance");
    const json = {
      page: "acme",
      name: "Night",
      body: "Planned.",
      components: [],
      scheduled_for: `${YEAR}-12-19T22:00:00Z`,
      scheduled_until: `${YEAR}-12-20T02:00:00Z`,
    };
    const { body } = await app.call("/api/v1/maintenance", { method: "POST", key, json });
    for (const javaScriptEnabled of [true, false]) {
      const look = { timezoneId: "UTC", javaScriptEnabled };
      const { page } = await visit("/docs/errors", look);
      await page.goto(`${origin}/status/acme/maintenance/${body.id}`);
      const places = await page.locator("time[data-until]").evaluate((time) => {
        const text = time.firstChild;
        const content = text?.textContent ?? "";
        return ["19", "UTC", " – ", "20 ", "UTC"].map((part, index) => {
          const range = document.createRange();
          const at = index === 4 ? content.lastIndexOf(part) : content.indexOf(part);
          range.setStart(text ?? time, at);
          range.setEnd(text ?? time, at + part.trimEnd().length);
          return range.getBoundingClientRect().left;
        });
      });
      expect(places).toEqual(places.toSorted((a, b) => b - a));
      await page.context().close();
    }
  });

  test("arrow keys move through the days in the direction in which they are drawn", async () => {
    await documents();
    await setLanguage(site(), PSEUDO_LOCALE);
    const { page } = await site().visit("/status/acme");
    const days = page.locator(".day-chart").last().locator("[data-day]");
    const last = (await days.count()) - 1;
    await days.nth(last).focus();
    const placeOf = async (index: number) => (await days.nth(index).boundingBox())?.x ?? 0;
    // The newest day is on the left.
    expect(await placeOf(last)).toBeLessThan(await placeOf(last - 1));
    await page.keyboard.press("ArrowRight");
    expect(await days.nth(last - 1).evaluate((day) => day === document.activeElement)).toBe(true);
    await page.keyboard.press("ArrowLeft");
    expect(await days.nth(last).evaluate((day) => day === document.activeElement)).toBe(true);
    await page.context().close();
  });
});
