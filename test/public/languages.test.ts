import { describe, expect, spyOn, test } from "bun:test";
import type { Problem } from "../../src/base/errors";
import { HOUR_MS } from "../../src/base/time";
import { expectProblem } from "../support/app";
import { readHtml } from "../support/html";
import { createPageAccess, PAGE_PASSWORD } from "../support/page-access";
import { createPublicSite, type PublicSite } from "../support/public-site";
import { wordsOf } from "../../src/languages/words";

const { t: de } = wordsOf("de");

/** Creates a page in English with German and Swiss German to choose. */
const createSite = (input: Parameters<typeof createPublicSite>[0] = {}): Promise<PublicSite> =>
  createPublicSite({ languages: ["de", "de-CH"], ...input });

const ORIGIN = "https://status.test";

describe("a page with several languages", () => {
  test("has a switch to the same document in each, and names them to search engines", async () => {
    await using site = await createSite();
    for (const path of ["/status/acme", "/status/acme/incidents", "/status/acme/subscribe"]) {
      const page = readHtml((await site.app.call(path)).text);
      expect(page.attributes(".languages a", "href")).toEqual([
        path,
        `${path}?lang=de`,
        `${path}?lang=de-CH`,
      ]);
      expect(page.attributes(".languages a", "lang")).toEqual(["en", "de", "de-CH"]);
      expect(page.attributes(".languages [aria-current]", "lang")).toEqual(["en"]);
      expect(page.texts(".languages a")).toEqual(["English", "Deutsch", "Deutsch (Schweiz)"]);
      expect(page.attributes("link[hreflang]", "hreflang")).toEqual([
        "en",
        "de",
        "de-CH",
        "x-default",
      ]);
      expect(page.attributes("link[hreflang]", "href")).toEqual([
        ORIGIN + path,
        `${ORIGIN + path}?lang=de`,
        `${ORIGIN + path}?lang=de-CH`,
        ORIGIN + path,
      ]);
      expect(page.attributes("link[rel=canonical]", "href")).toEqual([ORIGIN + path]);
    }
  });

  test("is shown in a language that a visitor chooses, which every link keeps", async () => {
    await using site = await createSite();
    const { id } = await site.open({
      name: "Errors",
      components: { [site.ids["API"] ?? ""]: "major_outage" },
    });
    const paths = [
      "/status/acme",
      `/status/acme/incidents/${id}`,
      "/status/acme/incidents",
      "/status/acme/history?month=2026-03",
      "/status/acme/subscribe",
      "/status/acme/groups/other",
    ];
    for (const path of paths) {
      const address = `${path}${path.includes("?") ? "&" : "?"}lang=de`;
      const answer = await site.app.call(address);
      expect(answer.status).toBe(200);
      const page = readHtml(answer.text);
      expect(page.attributes("html", "lang")).toEqual(["de"]);
      expect(page.texts("header nav a")).toEqual([
        de("page.status"),
        de("page.history"),
        de("page.subscribe"),
      ]);
      expect(page.attributes("link[rel=canonical]", "href")).toEqual([ORIGIN + address]);
      const links = [
        ...page.attributes("a[href^='/status/'], link[rel=alternate][type]", "href"),
        ...page.attributes("form", "action"),
      ].filter((href) => !href.endsWith("/summary.json"));
      const own = links.filter((href) => !page.attributes(".languages a", "href").includes(href));
      expect(own).not.toEqual([]);
      expect(own.filter((href) => !href.split("#")[0]?.includes("lang=de"))).toEqual([]);
    }
    const german = readHtml((await site.app.call("/status/acme?lang=de")).text);
    expect(german.texts("#banner h1")).toEqual([de("headline.major")]);
    expect(german.texts("#banner .banner-now p")).toEqual([
      `API ist ausgefallen. ${de("now.others_fine")}`,
    ]);
  });

  test("is in its own language for any other parameter, and for every header", async () => {
    await using site = await createSite();
    const own = (await site.app.call("/status/acme")).text;
    for (const query of ["?lang=fr", "?lang=en", "?lang=", "?lang=DE", "?long=de", "?lang=de%00"]) {
      expect((await site.app.call(`/status/acme${query}`)).text).toBe(own);
    }
    const headers = { "accept-language": "de-DE,de;q=0.9" };
    expect((await site.app.call("/status/acme", { headers })).text).toBe(own);
  });

  test("has the same version in every language, and new content in each after a change", async () => {
    await using site = await createSite();
    const versionIn = (html: string) => readHtml(html).attributes("script", "data-version")[0];
    const [own, german] = await Promise.all(
      ["", "?lang=de"].map(async (query) => (await site.app.call(`/status/acme${query}`)).text),
    );
    expect(versionIn(german ?? "")).toBe(versionIn(own ?? ""));
    expect((await site.app.call("/status/acme/version")).text).toBe(versionIn(own ?? "") ?? "");
    await site.open({ name: "Errors" });
    expect((await site.app.call("/status/acme?lang=de")).text).toContain("Errors");
  });

  test("keeps as many documents as a page with one, besides the page itself in each", async () => {
    await using site = await createSite();
    const { app } = site;
    const reading = spyOn(app.ctx.db.statements, "prepared");
    const readsOf = async (path: string) => {
      const before = reading.mock.calls.length;
      expect((await app.call(`/status/acme${path}`)).status).toBe(200);
      return reading.mock.calls.length - before;
    };
    const own = "/history?month=2025-01";
    for (const path of [own, "", "?lang=de"]) expect(await readsOf(path)).toBeGreaterThan(0);
    for (const path of [own, "", "?lang=de"]) expect(await readsOf(path)).toBe(0);
    for (let number = 1; number <= 16; number++) {
      const year = 1990 + number;
      expect(await readsOf(`/history?month=${year}-01&lang=de`)).toBeGreaterThan(0);
      expect(await readsOf(`/history?month=${year}-01&lang=de-CH`)).toBeGreaterThan(0);
    }
    expect(await readsOf("/history?month=2006-01&lang=de")).toBe(0);
    for (const path of ["", "?lang=de"]) expect(await readsOf(path)).toBe(0);
    expect(await readsOf(own)).toBeGreaterThan(0);
  });

  test("keeps its files in the last four further languages, with its own", async () => {
    const [first = "", ...others] = ["de", "fr", "es", "it", "ja"];
    await using site = await createSite({ languages: [first, ...others] });
    const { app } = site;
    await site.open();
    const reading = spyOn(app.ctx.db.statements, "prepared");
    const readsOf = async (file: string, query: string) => {
      const before = reading.mock.calls.length;
      expect((await app.call(`/status/acme/${file}${query}`)).status).toBe(200);
      return reading.mock.calls.length - before;
    };
    for (const file of ["feed.atom", "feed.rss", "calendar.ics"]) {
      const queries = ["", `?lang=${first}`, ...others.map((language) => `?lang=${language}`)];
      for (const query of queries) expect(await readsOf(file, query)).toBeGreaterThan(0);
      for (const language of others) expect(await readsOf(file, `?lang=${language}`)).toBe(0);
      expect(await readsOf(file, "")).toBe(0);
      expect(await readsOf(file, `?lang=${first}`)).toBeGreaterThan(0);
    }
  });

  test("keeps files with a link in their addresses in the last further language alone", async () => {
    await using site = await createSite({ visibility: "private" });
    const { app } = site;
    const { token } = await createPageAccess(app, site.page.id).link("Partner");
    const reading = spyOn(app.ctx.db.statements, "prepared");
    const readsOf = async (query: string) => {
      const before = reading.mock.calls.length;
      const path = `/status/acme/with/${token}/calendar.ics${query}`;
      expect((await app.call(path)).status).toBe(200);
      return reading.mock.calls.length - before;
    };
    for (const query of ["", "?lang=de", "?lang=de-CH"]) {
      expect(await readsOf(query)).toBeGreaterThan(0);
    }
    for (const query of ["", "?lang=de-CH"]) expect(await readsOf(query)).toBe(0);
    expect(await readsOf("?lang=de")).toBeGreaterThan(0);
  });

  test("has links of its own language alone after its languages have changed", async () => {
    await using site = await createSite();
    await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
    await site.app.clock.advance(HOUR_MS);
    const hrefsOf = async (query: string) =>
      readHtml((await site.app.call(`/status/acme${query}`)).text)
        .attributes("main a", "href")
        .filter((href): href is string => href?.includes("/incidents/") === true);
    // Rows are in the cache in German with ?lang, and in English without.
    const [own, german] = [await hrefsOf(""), await hrefsOf("?lang=de")];
    expect(own.length).toBeGreaterThan(1);
    expect(german).toEqual(own.map((href) => `${href}?lang=de`));
    await createPageAccess(site.app, site.page.id).update({ locale: "de", languages: ["en"] });
    expect(await hrefsOf("")).toEqual(own);
    expect(await hrefsOf("?lang=en")).toEqual(own.map((href) => `${href}?lang=en`));
  });

  test("keeps the language when it is asked for by an earlier slug", async () => {
    await using site = await createSite();
    await createPageAccess(site.app, site.page.id).update({ slug: "fresh" });
    for (const path of ["", "/history", "/feed.atom", "/badge.svg"]) {
      const { headers } = await site.app.call(`/status/acme${path}?lang=de`);
      expect(headers.get("location")).toBe(`/status/fresh${path}?lang=de`);
    }
  });

  test("has its feeds, calendar, badges, frame and widget in each", async () => {
    await using site = await createSite();
    await site.open({ components: { [site.ids["API"] ?? ""]: "major_outage" } });
    await site.plan("2026-03-12T02:00:00Z", "2026-03-12T04:00:00Z", {
      components: [site.ids["Web"]],
    });
    const read = async (path: string) => (await site.app.call(`/status/acme/${path}?lang=de`)).text;
    const atom = await read("feed.atom");
    expect(atom).toContain(de("incident.investigating"));
    expect(atom).toContain("incidents/");
    expect(atom.match(/<link rel="alternate" href="[^"]*lang=de"/g)).not.toBeNull();
    expect(await read("feed.rss")).toContain("<language>de</language>");
    expect(await read("calendar.ics")).toContain(de("list.affected", { names: "Web" }));
    expect(await read("badge.svg")).toContain(de("headline.major"));
    expect(JSON.parse(await read("badge.json")).message).toBe(de("headline.major"));
    expect(await read(`badge/${site.ids["API"]}.svg`)).toContain(de("status.major_outage"));
    expect(await read("embed")).toContain("Statusseite öffnen");
    expect(await read("widget.js")).toMatch(/"url":"[^"]*\?lang=de"/);
    // Other programs read the same in every language.
    expect(await read("summary.json")).toBe(
      (await site.app.call("/status/acme/summary.json")).text,
    );
    expect((await site.app.call("/status/acme/badge.svg")).text).toContain("Major System Outage");
  });

  test("refuses a language without a catalog, and lists each once by its usual tag", async () => {
    await using site = await createPublicSite();
    const access = createPageAccess(site.app, site.page.id);
    for (const wrong of ["hu", "no such", "x1"]) {
      const error: Problem = await access
        .update({ languages: ["de", wrong] })
        .catch((each) => each);
      expect(error.fields.map(({ pointer }) => pointer)).toEqual(["#/languages/1"]);
    }
    const { languages } = await access.update({ languages: ["de", "DE-ch", "de-CH", "en"] });
    expect(languages).toEqual(["de", "de-CH", "en"]);
    expect((await site.document()).page.languages).toEqual(languages);
  });
});

describe("the language of a page", () => {
  test("is that of its words, and a tag without a catalog is only that of its times", async () => {
    await using site = await createPublicSite({ locale: "hu" });
    await site.open();
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.attributes("html", "lang")).toEqual(["en"]);
    expect(page.attributes("html", "dir")).toEqual([]);
    expect(page.texts("#banner h1")).not.toEqual([]);
    expect(new Set(page.attributes("time[data-clock]", "lang"))).toEqual(new Set(["hu"]));
    expect(page.texts(".languages a")).toEqual([]);
  });

  test("is named by that of the words, and offered once among those with the same words", async () => {
    await using site = await createPublicSite({ locale: "hu", languages: ["en", "de"] });
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.attributes(".languages a", "lang")).toEqual(["en", "de"]);
    expect(page.attributes(".languages a", "hreflang")).toEqual(["en", "de"]);
    expect(page.attributes(".languages a", "href")).toEqual([
      "/status/acme",
      "/status/acme?lang=de",
    ]);
    expect(page.attributes(".languages [aria-current]", "lang")).toEqual(["en"]);
    expect(page.attributes("link[hreflang]", "hreflang")).toEqual(["en", "de", "x-default"]);
    await createPageAccess(site.app, site.page.id).update({ languages: ["en"] });
    const single = readHtml((await site.app.call("/status/acme")).text);
    expect(single.texts(".languages a")).toEqual([]);
  });

  test("is stored by its usual tag", async () => {
    await using site = await createPublicSite({ locale: "PT-br", languages: ["pt-BR", "de"] });
    expect((await site.document()).page.locale).toBe("pt-BR");
    const { locale } = await createPageAccess(site.app, site.page.id).update({ locale: "DE" });
    expect(locale).toBe("de");
    const page = readHtml((await site.app.call("/status/acme")).text);
    expect(page.attributes(".languages [aria-current]", "lang")).toEqual(["de"]);
  });

  test("is that of the room for what a script writes", async () => {
    await using site = await createSite();
    const page = readHtml((await site.app.call("/status/acme?lang=de")).text);
    expect(page.attributes("[data-live-note]", "data-live-note")).toEqual([
      `· ${de("live.refreshes")}`,
    ]);
  });

  test("is that of the form for its password, with what follows from it", async () => {
    await using site = await createPublicSite({
      visibility: "private",
      locale: "de",
      languages: ["en"],
    });
    await createPageAccess(site.app, site.page.id).password(PAGE_PASSWORD);
    const form = await site.app.call("/status/acme/history");
    expect(form.status).toBe(401);
    const page = readHtml(form.text);
    expect(page.attributes("html", "lang")).toEqual(["de"]);
    expect(page.texts("h1")).toEqual([de("private.title")]);
    const english = readHtml((await site.app.call("/status/acme/history?lang=en")).text);
    expect(english.texts("h1")).toEqual(["This page is private"]);
    expect(english.attributes("input[name=next]", "value")).toEqual([
      "/status/acme/history?lang=en",
    ]);
    const wrong = await site.app.call("/status/acme/access", {
      form: { password: "wrong", next: "/status/acme/history?lang=en" },
    });
    expect(wrong.status).toBe(422);
    expect(readHtml(wrong.text).texts("[role=alert]")).toEqual([
      "That is not the password of this page. Check capital letters and try again.",
    ]);
    const own = await site.app.call("/status/acme/access", { form: { password: "wrong" } });
    expect(readHtml(own.text).texts("[role=alert]")).toEqual([de("private.wrong")]);
  });
});

describe("an error page", () => {
  const headers = { accept: "text/html" };

  test("is in the language of its public page", async () => {
    await using site = await createPublicSite({ locale: "de" });
    const { text } = await site.app.call("/status/acme/incidents/none", { headers });
    const page = readHtml(text);
    expect(page.attributes("html", "lang")).toEqual(["de"]);
    expect(page.texts("h1")).toEqual([de("failure.not_found")]);
    expect(text).not.toContain("There is no");
  });

  test("is in the language that the visitor has chosen, with a link that keeps it", async () => {
    await using site = await createSite();
    const { text } = await site.app.call("/status/acme/incidents/none?lang=de", { headers });
    const page = readHtml(text);
    expect(page.texts("h1")).toEqual([de("failure.not_found")]);
    expect(page.attributes("main a", "href")).toEqual(["/status/acme?lang=de"]);
    const other = readHtml((await site.app.call("/status/acme/x?lang=fr", { headers })).text);
    expect(other.texts("h1")).toEqual(["Not found"]);
    expect(other.attributes("main a", "href")).toEqual(["/status/acme"]);
  });

  test("is in the language of a private page for visitors who may see it, and for no others", async () => {
    await using site = await createPublicSite({ visibility: "private", locale: "de" });
    const { app } = site;
    await createPageAccess(app, site.page.id).password(PAGE_PASSWORD);
    const path = "/status/acme/incidents/none";
    const session = await app.signedIn("viewer");
    const admitted = readHtml((await app.call(path, { headers, session })).text);
    expect(admitted.attributes("html", "lang")).toEqual(["de"]);
    expect(admitted.texts("h1")).toEqual([de("failure.not_found")]);
    await createPageAccess(app, site.page.id).password(null);
    const other = await app.call(path, { headers });
    expect(other.status).toBe(404);
    expect(readHtml(other.text).attributes("html", "lang")).toEqual(["en"]);
  });

  test("does not tell a private page from none by its language", async () => {
    await using site = await createPublicSite({ locale: "en" });
    const { app } = site;
    await app.page({ slug: "inside", visibility: "private", locale: "de" });
    const strip = (text: string) => text.replace(/<code>[^<]*<\/code>/g, "");
    const [hidden, none] = await Promise.all(
      ["/status/inside/x", "/status/nobody/x"].map(async (path) => {
        const answer = await app.call(path, { headers });
        return strip(answer.text).replaceAll(/inside|nobody/g, "");
      }),
    );
    expect(hidden).toBe(none ?? "");
  });

  test("is English for the API, and for programs", async () => {
    await using site = await createPublicSite({ locale: "de" });
    const problem = await site.app.call("/api/v1/status/none", { key: site.key });
    expectProblem(problem, "not_found");
    expect(problem.body.title).toBe("Not found");
  });
});
