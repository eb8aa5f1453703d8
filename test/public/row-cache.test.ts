import { expect, test } from "bun:test";
import { createEntryNamesCache } from "../../src/features/status/entries";
import { LANGUAGES_MAX } from "../../src/languages/tags";
import { createRowCache, rowSteps } from "../../src/public/component-list";
import { contextOf, type Rendering } from "../../src/public/page-context";
import { readRowExtras } from "../../src/public/status-page";
import { type PageWords, pageWordsOf } from "../../src/ui/words";
import { createPublicSite, type PublicSite } from "../support/public-site";

/** Returns a function that prepares the rows of a page in a language, and counts what is rendered. */
function createPreparing(site: PublicSite, rows: ReturnType<typeof createRowCache>) {
  const snapshot = site.snapshot();
  const now = site.app.clock.now();
  const extras = readRowExtras(site.app.ctx.db, snapshot, now, createEntryNamesCache());
  return (locale: string) => {
    let rendered = 0;
    const own = pageWordsOf(locale);
    const words: PageWords = {
      ...own,
      say(key, args) {
        rendered += 1;
        return own.say(key, args);
      },
    };
    const steps = (rendering: Rendering = {}) => {
      const context = { ...contextOf(snapshot.document, rendering), words };
      return rowSteps({ snapshot, ...extras, context }, rows.prepare);
    };
    return { steps, rendered: () => rendered };
  };
}

/** Takes the steps of several preparations in turns, as concurrent requests do. */
function takeInTurns(all: readonly Generator<number, void>[]): void {
  while (all.map((steps) => steps.next().done).includes(false));
}

test("rows in several languages that are prepared at the same time are rendered once in each", async () => {
  await using site = await createPublicSite();
  const prepare = createPreparing(site, createRowCache());
  const each = ["en", "de", "ja"].map((locale) => prepare(locale));
  takeInTurns(each.map(({ steps }) => steps()));
  const once = each.map(({ rendered }) => rendered());
  expect(Math.min(...once)).toBeGreaterThanOrEqual(3);
  takeInTurns(each.map(({ steps }) => steps()));
  expect(each.map(({ rendered }) => rendered())).toEqual(once);
});

test("rows are kept in as many languages as a page can have, those that were rendered last", async () => {
  await using site = await createPublicSite();
  const prepare = createPreparing(site, createRowCache());
  const first = prepare("de");
  const others = Array.from({ length: LANGUAGES_MAX + 1 }, () => prepare("de"));
  for (const { steps } of [first, ...others]) takeInTurns([steps()]);
  const once = first.rendered();
  for (const { steps } of others) takeInTurns([steps()]);
  expect(others.map(({ rendered }) => rendered())).toEqual(others.map(() => once));
  takeInTurns([first.steps()]);
  expect(first.rendered()).toBe(2 * once);
});

test("rows whose links get or lose a language are rendered again", async () => {
  await using site = await createPublicSite();
  const { steps, rendered } = createPreparing(site, createRowCache())("de");
  takeInTurns([steps()]);
  const once = rendered();
  takeInTurns([steps({ language: "de" })]);
  expect(rendered()).toBe(2 * once);
  takeInTurns([steps({ language: "de" })]);
  expect(rendered()).toBe(2 * once);
  takeInTurns([steps()]);
  expect(rendered()).toBe(3 * once);
});
