import { describe, expect, test } from "bun:test";
import { findDefaultPage } from "../../../../src/features/pages/store";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { actionsOf, type Fields } from "../../../support/dashboard";
import { fieldErrorsOn, readHtml, typedIn } from "../../../support/html";
import { chosenIn, createPageDashboard, PAGES, flashAfter } from "../../../support/page-dashboard";
import { updatePage } from "../../../support/examined";

const GENERAL: Fields = {
  name: "Acme",
  description: "",
  time_zone: "UTC",
  locale: "en",
  history_days: "90",
  join_minutes: "10",
  report: "team",
};

describe("a page's forms", () => {
  test.each<{ tab: string; form: Fields; flash: string; stored: object }>([
    {
      tab: "general",
      form: {
        name: " Acme & Sons ",
        description: "Two\r\nlines",
        time_zone: "Asia/Kolkata",
        locale: "pt-BR",
        history_days: "30",
        join_minutes: "1,440",
        report: "public",
      },
      flash: "The page was changed.",
      stored: {
        name: "Acme & Sons",
        description: "Two\nlines",
        timeZone: "Asia/Kolkata",
        locale: "pt-BR",
        historyDays: 30,
        joinMinutes: 1_440,
        report: "public",
      },
    },
    {
      tab: "look",
      form: { theme: "light", accent: "#C2272D" },
      flash: "The appearance was changed.",
      stored: { theme: "light", accent: "#c2272d" },
    },
    {
      tab: "access",
      form: { visibility: "private" },
      flash: "The page is now private. Only signed-in users can see it.",
      stored: { visibility: "private" },
    },
  ])(
    "the form $tab changes its fields, keeps all others, and is audited and confirmed",
    async (way) => {
      await using site = await createPageDashboard();
      const before = site.page();
      const answer = await site.change(way.tab, way.form);
      expect(await flashAfter(site, answer, `${PAGES}/${site.id}/${way.tab}`)).toBe(way.flash);
      const { contentVersion, contentChangedAt, version, updatedAt, ...after } = site.page();
      expect({ ...before, ...way.stored }).toMatchObject(after);
      expect([version, contentVersion]).toEqual([before.version + 1, before.contentVersion + 1]);
      expect([contentChangedAt, updatedAt]).toEqual([site.app.clock.now(), site.app.clock.now()]);
      expect(actionsOf(site.app).at(-1)).toBe("page.update");
    },
  );

  test("submitting an unchanged form of a page writes nothing and shows “Nothing was changed.”", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    for (const [tab, form] of [
      ["general", { ...GENERAL, name: " Acme " }],
      ["look", { theme: "system", accent: " " }],
      ["access", { visibility: "public" }],
    ] as const) {
      const answer = await site.change(tab, form);
      const flash = await flashAfter(site, answer, `${PAGES}/${site.id}/${tab}`);
      expect(flash).toBe("Nothing was changed.");
    }
    expect(site.state()).toEqual(before);
  });

  test("an invalid form of a page is redisplayed with errors and typed values, and nothing is written", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const typed = {
      name: "",
      description: "Kept",
      time_zone: "Mars",
      locale: "!",
      history_days: "x",
      join_minutes: "",
      report: "all",
    };
    const general = await site.change("general", typed);
    expect(general.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(general.text)).sort()).toEqual([
      "history_days",
      "join_minutes",
      "locale",
      "name",
      "report",
      "time_zone",
    ]);
    expect(typedIn(general.text, "time_zone")).toEqual(["Mars"]);
    expect(chosenIn(general.text, "description")).toBe("Kept");
    const look = await site.change("look", { theme: "pink", accent: "#12" });
    expect(look.status).toBe(422);
    expect(Object.keys(fieldErrorsOn(look.text)).sort()).toEqual(["accent", "theme"]);
    const visibility = await site.change("access", {});
    expect(Object.keys(fieldErrorsOn(visibility.text))).toEqual(["visibility"]);
    expect(site.state()).toEqual(before);
  });

  test("a change of a page is on the public page at its next request", async () => {
    await using site = await createPageDashboard();
    expect((await site.app.call("/status/acme")).text).toContain("Acme");
    await site.change("general", { ...GENERAL, name: "Renamed" });
    expect((await site.app.call("/status/acme")).text).toContain("Renamed");
    await site.change("access", { visibility: "private" });
    expect((await site.app.call("/status/acme")).status).toBe(404);
    expect((await site.show("/status/acme")).status).toBe(200);
  });
});

describe("an outdated form of a page", () => {
  /** Opens the form, lets another rename the page meanwhile, and answers the version it was opened at. */
  async function overtaken() {
    const site = await createPageDashboard();
    const path = `${PAGES}/${site.id}/general`;
    const [version = ""] = typedIn((await site.show(path)).text, "version");
    const { ctx } = site.app;
    const change = { description: "Written meanwhile." };
    await ctx.db.write((tx) => updatePage(ctx, tx, site.id, change, CLI_ACTOR));
    return { site, path, version };
  }

  test("an outdated form of a page is a conflict that keeps the typed text, and nothing is written", async () => {
    const { site, path, version } = await overtaken();
    await using _site = site;
    const before = site.state();
    const answer = await site.send(path, { version, ...GENERAL, name: "Mine" });
    expect(answer.status).toBe(409);
    const page = readHtml(answer.text);
    expect(page.texts('[role="alert"]')[0]).toStartWith("Someone changed this while you were");
    expect(page.attributes("[autofocus]", "role")).toEqual(["alert"]);
    expect(typedIn(answer.text, "name")).toEqual(["Mine"]);
    expect(chosenIn(answer.text, "description")).toBe("");
    expect(site.state()).toEqual(before);
  });

  test("an outdated form of a page is accepted when submitted again", async () => {
    const { site, path, version } = await overtaken();
    await using _site = site;
    const form = { ...GENERAL, name: "Mine" };
    const rejected = await site.send(path, { version, ...form });
    const [now = ""] = typedIn(rejected.text, "version");
    expect((await site.send(path, { version: now, ...form })).status).toBe(303);
    expect(site.page()).toMatchObject({ name: "Mine", description: null });
  });

  test("submitting one form of a page twice at once applies it once without a conflict", async () => {
    await using site = await createPageDashboard();
    const path = `${PAGES}/${site.id}/general`;
    const [version = ""] = typedIn((await site.show(path)).text, "version");
    const form = { version, ...GENERAL, name: "Once" };
    const answers = await Promise.all([site.send(path, form), site.send(path, form)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(actionsOf(site.app).filter((action) => action === "page.update")).toHaveLength(1);
  });

  test("a form of a page without a valid version is a conflict", async () => {
    await using site = await createPageDashboard();
    const before = site.state();
    const path = `${PAGES}/${site.id}/general`;
    for (const version of ["", "one", "0", "1.0"]) {
      const answer = await site.send(path, { version, ...GENERAL, name: "Mine" });
      expect(answer.status).toBe(409);
    }
    expect(site.state()).toEqual(before);
  });
});

describe("choosing the default page", () => {
  test("another page can be made the default one, and a second submission changes nothing", async () => {
    await using site = await createPageDashboard();
    const path = site.screenOf(await site.create());
    const screen = readHtml((await site.show(`${path}/access`)).text);
    expect(screen.attributes("main form", "action")).toContain(`${path}/default`);
    await site.show(path);
    const answer = await site.send(`${path}/default`);
    expect(await flashAfter(site, answer, `${path}/access`)).toBe(
      "This page is now the default page.",
    );
    expect(findDefaultPage(site.app.ctx.db, {})?.slug).toBe("northwind");
    const before = site.state();
    const again = await site.send(`${path}/default`);
    expect(await flashAfter(site, again, `${path}/access`)).toBe("Nothing was changed.");
    expect(site.state()).toEqual(before);
    const own = readHtml((await site.show(`${path}/access`)).text);
    expect(own.attributes("main form", "action")).not.toContain(`${path}/default`);
  });
});
