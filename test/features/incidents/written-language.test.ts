import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../src/base/actor";
import { HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { listInWords } from "../../../src/features/incidents/automatic-updates";
import { readHtml } from "../../support/html";
import { openOutageSite, type OutageSite } from "../../support/outage-site";
import { createMailingSite } from "../../support/mailing-site";
import { updatePage } from "../../support/examined";
import { wordsOf } from "../../../src/languages/words";

const { t: de } = wordsOf("de");

function setLanguages({ app, pageId }: OutageSite, locale: string, languages: string[] = []) {
  const { ctx } = app;
  return ctx.db.write((tx) => updatePage(ctx, tx, pageId, { locale, languages }, CLI_ACTOR));
}

async function pageOf({ app }: OutageSite, query = "") {
  return readHtml((await app.call(`/status/acme${query}`)).text);
}

test("texts with names are sentences in German, also with the number of further ones", () => {
  const words = wordsOf("de");
  const names = listInWords(words, ["A", "B", "C", "D"], 3);
  expect(names).toBe("A, B und 2 weitere");
  expect(de("written.title.several", { names })).toBe("Probleme: A, B und 2 weitere");
  expect(de("written.worse", { names, count: 4 })).toBe(
    "Für A, B und 2 weitere hat sich die Lage verschlechtert.",
  );
  expect(de("written.recovered", { names })).toBe(
    "Automatische Prüfungen für A, B und 2 weitere sind wieder erfolgreich.",
  );
});

describe("the texts that Allclear writes about outages", () => {
  test("have no comma before “and” in English, as in the dashboard", async () => {
    await using site = await openOutageSite({ a: {}, b: {}, c: {} });
    await setLanguages(site, "en-US");
    await site.down("a", "b", "c");
    expect(await site.titles()).toEqual(["Problems with A, B and C: investigating"]);
  });

  test("are in the language of the page, and stored in it", async () => {
    await using site = await openOutageSite({ a: {}, b: {} });
    await setLanguages(site, "de", ["en"]);
    await site.down("a");
    expect(await site.titles()).toEqual([
      `${de("written.title.major_outage", { name: "A" })}: investigating`,
    ]);
    await site.down("b");
    await site.clock.advance(6 * MINUTE_MS);
    await site.up("a", "b");
    const [incident] = await site.incidents();
    expect(incident?.name).toBe(de("written.title.several", { names: "A und B" }));
    expect(incident?.updates.map(({ body }) => body)).toEqual([
      de("written.over"),
      de("written.failing_too", { names: "B" }),
      de("written.failing"),
    ]);
    expect(JSON.stringify(site.app.events())).toContain(de("written.failing"));
  });

  test("carry their language where the page is in another one", async () => {
    await using site = await openOutageSite({ a: {} });
    await setLanguages(site, "de", ["en"]);
    await site.down("a");
    const own = await pageOf(site);
    expect(own.attributes("article h3, article .text", "lang")).toEqual([]);
    const english = await pageOf(site, "?lang=en");
    expect(english.attributes("article h3", "lang")).toEqual(["de"]);
    expect(english.attributes("article .text", "lang")).toEqual(["de"]);
    // The page is changed later.
    await setLanguages(site, "en");
    const later = await pageOf(site);
    expect(later.texts("article h3")).toEqual([de("written.title.major_outage", { name: "A" })]);
    expect(later.attributes("article h3, article .text", "lang")).toEqual(["de", "de"]);
    const { text: feed } = await site.app.call("/status/acme/feed.atom");
    expect(feed).toContain('<div lang="de">');
    // Only a page knows: the API shows the texts alone.
    expect(Object.keys((await site.incidents())[0] ?? {})).not.toContain("lang");
  });

  test("are of no known language once a person has changed them", async () => {
    await using site = await openOutageSite({ a: {} });
    await setLanguages(site, "de", ["en"]);
    await site.down("a");
    const [incident] = await site.incidents();
    const { id = "", updates = [] } = incident ?? {};
    await site.post(`/${id}/updates/${updates[0]?.id}`, { body: "We look into it." }, "PATCH");
    await site.post(`/${id}`, { name: "A is down" }, "PATCH");
    const english = await pageOf(site, "?lang=en");
    expect(english.texts("article h3")).toEqual(["A is down"]);
    expect(english.attributes("article h3", "lang")).toEqual([]);
  });
});

test("updates of maintenance that begins and ends at its time are in the language of the page", async () => {
  await using site = await createMailingSite();
  await site.change({ locale: "de", languages: ["en"] });
  await site.subscribe("ann", { language: "en" });
  const id = await site.plan();
  await site.advance(4 * HOUR_MS);
  const { body } = await site.call(`maintenance/${id}`, undefined, "GET");
  expect(body.updates.map((update: { body: string }) => update.body).slice(0, 2)).toEqual([
    de("written.maintenance_completed"),
    de("written.maintenance_begun"),
  ]);
  const { text } = await site.app.call(`/status/acme/maintenance/${id}?lang=en`);
  expect(readHtml(text).attributes(".timeline .text", "lang")).toEqual(["de", "de"]);
});
