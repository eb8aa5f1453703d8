import { expect, test } from "bun:test";
import { fieldErrorsOn, readHtml } from "../../../support/html";
import { createPageDashboard, PAGES } from "../../../support/page-dashboard";
import { createPageAccess } from "../../../support/page-access";

const GENERAL = {
  name: "Acme",
  description: "",
  time_zone: "UTC",
  locale: "en",
  history_days: "90",
  join_minutes: "10",
  report: "team",
};

test("the form of a page offers every language, and keeps one with a region", async () => {
  await using site = await createPageDashboard();
  await createPageAccess(site.app, site.id).update({ languages: ["de-CH", "ja"] });
  const form = readHtml((await site.show(`${PAGES}/${site.id}/general`)).text);
  expect(form.attributes("input[name=languages][checked]", "value")).toEqual(["de-CH", "ja"]);
  expect(form.attributes("input[name=languages]", "value")).toContain("zh-TW");
  await site.change("general", { ...GENERAL, languages: ["ja", "ar", "de-CH"] });
  expect(site.page().languages).toEqual(["ja", "ar", "de-CH"]);
  const screen = (await site.show(`${PAGES}/${site.id}`)).text;
  expect(screen).toContain("Japanese (ja), Arabic (ar), Swiss High German (de-CH)");
  await site.change("general", GENERAL);
  expect(site.page().languages).toEqual([]);
});

test("the form of a page names a language that it does not offer", async () => {
  await using site = await createPageDashboard();
  const answer = await site.change("general", { ...GENERAL, languages: ["hu"] });
  expect(answer.status).toBe(422);
  expect(fieldErrorsOn(answer.text)["languages"]).toContain("a language with a catalog");
  expect(site.page().languages).toEqual([]);
});
