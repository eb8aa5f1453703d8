import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLI_ACTOR } from "../../../src/base/actor";
import { IMPORT_SOURCES } from "../../../src/imports/sources";
import type { ImportResult } from "../../../src/imports/jobs";
import { listStoredMonitors } from "../../../src/features/monitors/declared";
import { listUsers, setRole } from "../../../src/features/users/users";
import { createTestApp, expectProblem, type TestApp } from "../../support/app";
import { settle } from "../../support/clock";
import { until } from "../../support/until";
import { fieldErrorsOn, readHtml, typedIn } from "../../support/html";
import {
  answerOf,
  HEALTHCHECKS,
  importChecks,
  IMPORTS,
  planImport,
  sendImport,
} from "../../support/import-dashboard";
import { checkOf, UUIDS } from "../../support/import-site";
import { asUpload } from "../../support/multipart";
import { createTestImports } from "../../support/imports";

const [FIRST, SECOND, THIRD] = UUIDS;
const TWO = answerOf(checkOf(FIRST), checkOf(SECOND, { name: "Weekly report", grace: "soon" }));

/** Creates an application whose imports use a data directory that the test sees. */
async function createSite(run?: Parameters<typeof createTestImports>[1]) {
  let own: ReturnType<typeof createTestImports> | undefined;
  const app = await createTestApp({
    imports: (ctx) => (own = createTestImports(ctx, run)).imports,
  });
  const session = await app.signedIn();
  if (!own) throw new Error("the imports were made");
  const { imports, directory } = own;
  return {
    app,
    session,
    imports,
    directory,
    uploads: () => {
      const folder = join(directory(), "import-uploads");
      return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    },
    offer(name: string, content: string) {
      mkdirSync(join(directory(), "import"), { recursive: true });
      writeFileSync(join(directory(), "import", name), content);
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      own?.[Symbol.dispose]();
    },
  };
}

const namesOf = ({ ctx }: TestApp) => listStoredMonitors(ctx.db).map(({ row }) => row.name);

describe("a plan", () => {
  test("shows what an import would do, and writes nothing", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const before = app.audit();
    const path = await planImport(app, session, TWO);
    const { status, text } = await app.call(path, { session });
    expect(status).toBe(200);
    const page = readHtml(text);
    expect(page.texts("h1")).toEqual(["Plan of the import from Healthchecks"]);
    expect(page.texts(".notice .strong")).toEqual(["Nothing was changed yet"]);
    expect(page.texts("#import-verdicts a")).toEqual(["All 3", "Held 1", "Created 2"]);
    // Those that need a person first.
    expect(page.texts("tbody td:first-child")).toEqual(["Held", "Created", "Created"]);
    expect(page.texts("#import-to-do li")[0]).toContain("https://hc-ping.test/");
    expect(namesOf(app)).toEqual([]);
    expect(app.audit()).toEqual(before);
  });

  test("is filtered by result and kind", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const path = await planImport(app, session, TWO);
    const rows = async (query: string) =>
      readHtml((await app.call(`${path}${query}`, { session })).text).texts(
        "tbody td:nth-child(2) .item-name",
      );
    expect(await rows("?verdict=held")).toEqual(["Weekly report"]);
    expect(await rows("?type=check")).toEqual(["Weekly report", "Nightly backup"]);
    expect(await rows("?type=check&verdict=created")).toEqual(["Nightly backup"]);
    expect(await rows("?verdict=not_moved")).toEqual([]);
    expect(await rows("?verdict=wrong&type=wrong&from=-1")).toHaveLength(3);
  });

  test("shows markup of a source as text", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const name = `<img src=x onerror=alert(1)>"'&`;
    const check = { ...checkOf(FIRST, { name, tags: "<b>x</b>", methods: "<i>" }), "<u>": 1 };
    const { text } = await app.call(await planImport(app, session, answerOf(check)), { session });
    expect(readHtml(text).texts("tbody .item-name")).toContain(name);
    expect(text).not.toMatch(/<img src=x|<i>|<u>/);
  });

  test("of many objects is shown in parts", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const checks = Array.from({ length: 300 }, (_, index) =>
      checkOf(`${index.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`, {
        name: `Job ${index}`,
      }),
    );
    const path = await planImport(app, session, answerOf(...checks));
    const page = readHtml((await app.call(path, { session })).text);
    expect(page.texts(".list-count")).toEqual(["1 to 250 of 301 objects"]);
    const next = readHtml((await app.call(`${path}?from=250`, { session })).text);
    expect(next.texts("tbody tr")).toHaveLength(51);
    expect(next.texts(".pagination a")).toEqual(["First"]);
  });

  test("of an unchanged source has nothing to import", async () => {
    await using site = await createSite();
    const { app, session } = site;
    await importChecks(app, session, TWO);
    const path = await planImport(app, session, TWO);
    const page = readHtml((await app.call(path, { session })).text);
    expect(page.texts(".notice .strong")).toEqual(["Nothing to change"]);
    expect(page.texts(".screen-head button")).toEqual(["Close"]);
  });

  test("is discarded with its file, and then no longer found", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const path = await planImport(app, session, TWO);
    expect(site.uploads()).toHaveLength(1);
    expect((await app.call(`${path}/discard`, { session, form: {} })).status).toBe(303);
    expect(site.uploads()).toEqual([]);
    const gone = await app.call(path, { session });
    expect([gone.status, readHtml(gone.text).texts(".notice .strong")]).toEqual([
      404,
      ["This plan is no longer kept"],
    ]);
    expect((await app.call(path, { session, form: {} })).status).toBe(404);
    expect((await app.call(`${path}/discard`, { session, form: {} })).status).toBe(404);
    expect(namesOf(app)).toEqual([]);
  });

  test("is replaced by the next one", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const first = await planImport(app, session, TWO);
    await planImport(app, session, TWO);
    expect((await app.call(first, { session, form: {} })).status).toBe(404);
    expect(site.uploads()).toHaveLength(1);
    expect(namesOf(app)).toEqual([]);
  });
});

describe("the file of a form", () => {
  test("is readable by the server alone, and deleted after the import", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const path = await planImport(app, session, TWO);
    const [file = ""] = site.uploads();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(file).toEndWith(".json");
    await app.call(path, { session, form: {} });
    expect(site.uploads()).toEqual([]);
    expect(namesOf(app)).toEqual(["Nightly backup", "Weekly report"]);
  });

  test("is deleted after 24 hours, and its plan with it", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const path = await planImport(app, session, TWO);
    await app.clock.advance(24 * 3_600_000 - 1);
    expect(site.uploads()).toHaveLength(1);
    await app.clock.advance(1);
    await until(() => site.uploads().length === 0);
    expect(site.imports.current()).toBeUndefined();
    expect((await app.call(path, { session: await app.signedIn() })).status).toBe(404);
  });

  test("that an earlier process left is deleted at the start", async () => {
    await using site = await createSite();
    await planImport(site.app, site.session, TWO);
    await site.imports.sweep();
    expect(site.uploads()).toEqual([]);
  });

  test("is refused if it is larger than 768 KiB, and nothing is stored", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const large = new Uint8Array(768 * 1024 + 1).fill(32);
    const answer = await sendImport(app, session, large);
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)["file"]).toContain("larger than 768 KiB. Put it into");
    expect(site.uploads()).toEqual([]);
  });

  test("that cannot be stored is refused, and nothing is left of it", async () => {
    await using site = await createSite();
    const { app, session } = site;
    // A file in the place of the folder.
    writeFileSync(join(site.directory(), "import-uploads"), "");
    const answer = await sendImport(app, session, TWO);
    expect(answer.status).toBe(503);
    expect(answer.text).toContain("The file cannot be stored in the data directory.");
    expect(site.imports.current()).toBeUndefined();
  });

  test("is named in errors as people know it", async () => {
    await using site = await createSite();
    const answer = await sendImport(site.app, site.session, "{");
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)["file"]).toStartWith(
      "“checks.json” is no answer of Healthchecks",
    );
    expect(site.uploads()).toEqual([]);
  });
});

describe("the form", () => {
  test.each([
    [{ source: "Mine!" }, "source", "Name of the source must have only lower-case letters"],
    [{ only: "users" }, "only", "Parts is one of pages, monitors, webhooks, history"],
    [{ internal_page: "admin" }, "internal_page", "Internal page is reserved"],
    [{ ping_key: "no?key!" }, "ping_key", "Ping key is no key"],
  ])("rejects %p, and keeps what was typed", async (fields, name, error) => {
    await using site = await createSite();
    const answer = await sendImport(site.app, site.session, TWO, fields);
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)[name]).toStartWith(error);
    expect(site.uploads()).toEqual([]);
    expect(site.imports.current()).toBeUndefined();
    expect(answer.text.includes("no?key!")).toBe(false);
  });

  test("rejects no file", async () => {
    await using site = await createSite();
    const answer = await sendImport(site.app, site.session, undefined);
    expect(fieldErrorsOn(answer.text)).toEqual({ file: "Select a file." });
  });

  test("offers files of the folder by name, without links, hidden files and folders", async () => {
    await using site = await createSite();
    const { app, session } = site;
    site.offer("checks.json", TWO);
    site.offer(".hidden", "");
    site.offer("kuma.db-wal", "");
    mkdirSync(join(site.directory(), "import", "folder"));
    symlinkSync("/etc/passwd", join(site.directory(), "import", "link.json"));
    const form = readHtml((await app.call(HEALTHCHECKS, { session })).text);
    expect(form.attributes("select[name=offered] option", "value")).toEqual(["", "checks.json"]);
    const answer = await sendImport(app, session, undefined, { offered: "checks.json" });
    const plan = await app.call(answer.headers.get("location") ?? "", { session });
    expect(readHtml(plan.text).texts(".head-fact")[0]).toBe("checks.json");
    const both = await sendImport(app, session, TWO, { offered: "checks.json" });
    expect(fieldErrorsOn(both.text)["file"]).toBe("Give one place only: clear the others.");
  });

  test.each([
    "link.json",
    "../allclear.db",
    "/etc/passwd",
    "folder",
    "folder/../checks.json",
    "no",
  ])("refuses %p in the place of an offered file", async (offered) => {
    await using site = await createSite();
    site.offer("checks.json", TWO);
    mkdirSync(join(site.directory(), "import", "folder"));
    symlinkSync("/etc/passwd", join(site.directory(), "import", "link.json"));
    const answer = await sendImport(site.app, site.session, undefined, { offered });
    expect(answer.status).toBe(422);
    expect(fieldErrorsOn(answer.text)["offered"]).toContain("is not in the folder");
  });

  test("offers nothing if the folder itself is a link", async () => {
    await using site = await createSite();
    symlinkSync("/etc", join(site.directory(), "import"));
    const form = readHtml((await site.app.call(HEALTHCHECKS, site)).text);
    expect(form.attributes("select[name=offered]", "name")).toEqual([]);
    const answer = await sendImport(site.app, site.session, undefined, { offered: "passwd" });
    expect(fieldErrorsOn(answer.text)["file"]).toContain("is not in the folder");
  });

  test("never shows a secret again, nor keeps it after the import", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const key = "Sup3rSecretPingKey";
    const rejected = await sendImport(app, session, TWO, { ping_key: key, source: "!" });
    const path = await planImport(app, session, TWO, { ping_key: key });
    const plan = await app.call(path, { session });
    await app.call(path, { session, form: {} });
    const report = await app.call(
      (await app.call(path, { session })).headers.get("location") ?? "",
      {
        session,
      },
    );
    const shown = [rejected, plan, report].map(({ text }) => text).join();
    expect(shown).not.toContain(key);
    expect(JSON.stringify([site.imports.current(), app.audit(), app.logged])).not.toContain(key);
  });

  test("has the options of a plan again, without file and secrets", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const fields = { source: "two", paused: "yes", internal_page: "", history_days: "30" };
    const typed = { ...fields, only: "monitors", ping_key: "Secret" };
    const page = readHtml(
      (await app.call(await planImport(app, session, TWO, typed), { session })).text,
    );
    const [path = ""] = page.attributes(".screen-head a.button", "href");
    const { text } = await app.call(path, { session });
    for (const [name, value] of Object.entries(fields))
      expect(typedIn(text, name)).toEqual([value]);
    const chosen = readHtml(text).attributes("select[name=only] option[selected]", "value");
    expect(chosen).toEqual(["monitors"]);
    expect(typedIn(text, "ping_key")).toEqual([""]);
  });

  test.each(IMPORT_SOURCES.map((source) => [source.kind, source] as const))(
    "of %s has a field for each option, except for files that only the command writes",
    async (kind, { options, takes }) => {
      await using site = await createSite();
      const path = `${IMPORTS}/from/${kind}`;
      const { text } = await site.app.call(path, site);
      const names = readHtml(text).attributes("main input, main select", "name");
      const declared = options.filter(({ type }) => type !== "output").map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining([...declared, "source", "paused"]));
      expect(names.includes("url")).toBe(takes.includes("url"));
      const empty = await site.app.call(path, { ...site, ...asUpload([]) });
      expect(Object.keys(fieldErrorsOn(empty.text))).toContain(
        names.includes("url") ? "url" : "file",
      );
    },
  );

  test("of a product without an importer is not found", async () => {
    await using site = await createSite();
    const path = `${IMPORTS}/from/cachet`;
    expect((await site.app.call(path, site)).status).toBe(404);
    expect((await site.app.call(path, { ...site, form: {} })).status).toBe(404);
  });
});

describe("an import in the dashboard", () => {
  test("is written once, audited with its author, and reported for good", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const path = await planImport(app, session, TWO);
    await app.call(path, { session, form: {} });
    expect(app.audit().at(-1)).toMatchObject({
      action: "import.run",
      actorKind: "user",
      summary: "Imported from Healthchecks (default): 2 created, 1 held",
    });
    const again = await app.call(path, { session, form: {} });
    expect([again.status, again.headers.get("location")]).toEqual([303, path]);
    expect(app.audit().filter(({ action }) => action === "import.run")).toHaveLength(1);
    const report = (await app.call(path, { session })).headers.get("location") ?? "";
    expect(report).toMatch(/\/reports\/imp_[0-9a-z]{26}$/);
    const page = readHtml((await app.call(report, { session })).text);
    expect(page.attributes("tbody .row-link", "href")).toHaveLength(3);
    const json = await app.call(`${report}/json`, { session });
    expect(json.body).toMatchObject({ dry_run: false, counts: { created: 2, held: 1 } });
    expect(json.headers.get("content-disposition")).toMatch(/^attachment; filename="allclear-imp_/);
    const home = readHtml((await app.call(IMPORTS, { session })).text);
    expect(home.texts("#import-list tbody td")).toEqual([
      "Healthchecksdefault",
      "2 created, 1 held",
      "just now",
    ]);
  });

  test.each(["admin", "editor", "viewer"] as const)("is refused to the role %s", async (role) => {
    await using site = await createSite();
    const { app } = site;
    const session = await app.signedIn(role);
    for (const path of [IMPORTS, HEALTHCHECKS, `${IMPORTS}/plans/x`, `${IMPORTS}/reports/x`]) {
      expectProblem(await app.call(path, { session }), "insufficient_role");
    }
    expectProblem(await sendImport(app, session, TWO), "insufficient_role");
    expect(site.uploads()).toEqual([]);
  });

  test("is not denied by the page of its plan, once another plan is kept", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const path = await planImport(app, session, TWO);
    await app.call(path, { session, form: {} });
    await planImport(app, session, TWO);
    const { status, text } = await app.call(path, { session });
    expect(status).toBe(404);
    expect(text).toContain("If it was imported, its report is among the earlier imports.");
  });

  test("is refused if the source is no longer what the plan shows", async () => {
    await using site = await createSite();
    const { app, session } = site;
    site.offer("checks.json", TWO);
    const fields = { offered: "checks.json" };
    const sent = await sendImport(app, session, undefined, fields);
    const path = sent.headers.get("location") ?? "";
    site.offer("checks.json", answerOf(checkOf(FIRST), checkOf(THIRD)));
    await app.call(path, { session, form: {} });
    const page = readHtml((await app.call(path, { session })).text);
    expect(page.texts("[role=alert] p").join()).toContain("has changed since the plan");
    expect(namesOf(app)).toEqual([]);
    // The next plan is of the source as it is now.
    const next = (await sendImport(app, session, undefined, fields)).headers.get("location") ?? "";
    await app.call(next, { session, form: {} });
    expect(namesOf(app)).toHaveLength(2);
  });

  test("is refused if its author is no longer an owner when it is written", async () => {
    await using site = await createSite();
    const { app } = site;
    const before = listUsers(app.ctx.db).map(({ id }) => id);
    const session = await app.signedIn();
    const id = listUsers(app.ctx.db).find((user) => !before.includes(user.id))?.id ?? "";
    const path = await planImport(app, session, TWO);
    const sent = app.call(path, { session, form: {} });
    await app.ctx.db.write((tx) => setRole(app.ctx, tx, id, "viewer", CLI_ACTOR));
    await sent;
    expect(site.imports.current()?.failure?.message).toStartWith("Only owners import");
    expect(namesOf(app)).toEqual([]);
    expect(app.audit().map(({ action }) => action)).not.toContain("import.run");
  });

  test("starts what it created paused, and says what was edited since", async () => {
    await using site = await createSite();
    const { app, session } = site;
    const three = answerOf(
      checkOf(FIRST),
      checkOf(SECOND, { name: "Weekly report" }),
      checkOf(THIRD, { name: "Sync" }),
    );
    const report = await importChecks(app, session, three, { paused: "yes" });
    const [edited] = listStoredMonitors(app.ctx.db);
    const monitor = `/api/v1/monitors/${edited?.row.id}`;
    const key = await app.keyWith("read:status", "manage:monitors");
    const headers = { "if-match": (await app.call(monitor, { key })).headers.get("etag") ?? "" };
    await app.call(monitor, { method: "PATCH", key, headers, json: { name: "Ours" } });
    const page = readHtml((await app.call(report, { session })).text);
    expect(page.texts(".screen-head .button")[0]).toBe("Start 2 objects");
    const dialog = readHtml((await app.call(`${report}/start`, { session })).text);
    expect(dialog.texts("h1")).toEqual(["Start what was imported"]);
    await app.call(`${report}/start`, { session, form: {} });
    const flash = readHtml((await app.call(report, { session })).text).texts(".flash");
    expect(flash).toEqual(["Started 2 monitors. Edited since, and left: Ours."]);
    expect(listStoredMonitors(app.ctx.db).map(({ row }) => row.paused)).toEqual([
      true,
      false,
      false,
    ]);
    expect(app.audit().at(-1)?.action).toBe("import.start");
  });

  test.each(["/reports/imp_1", "/reports/imp_1/json", "/reports/imp_1/start"])(
    "that does not exist has no %s",
    async (path) => {
      await using site = await createSite();
      expect((await site.app.call(`${IMPORTS}${path}`, site)).status).toBe(404);
    },
  );
});

describe("an import that takes long", () => {
  /** Imports that end when the test says so. */
  async function createSlowSite() {
    const runs: { end(result: ImportResult): void; signal: AbortSignal }[] = [];
    const site = await createSite((_request, progress, signal) => {
      progress("monitor 2/500");
      const { promise, resolve } = Promise.withResolvers<ImportResult>();
      runs.push({ end: resolve, signal });
      return promise;
    });
    return { ...site, runs };
  }

  test("shows its progress on a page that can be left, and refuses a second one", async () => {
    await using site = await createSlowSite();
    const { app, session } = site;
    const sent = sendImport(app, session, TWO);
    await until(() => site.runs.length > 0);
    const second = await sendImport(app, session, TWO);
    expect(second.status).toBe(409);
    expect(readHtml(second.text).texts("[role=alert]")).toContain(
      "Another import is running. Wait until it has ended.",
    );
    await app.clock.advance(10_000);
    const path = (await sent).headers.get("location") ?? "";
    const page = readHtml((await app.call(path, { session })).text);
    expect(page.texts("#import-progress p")).toContain("Monitor 2/500");
    expect(readHtml((await app.call(IMPORTS, { session })).text).texts("#import-job a")).toEqual([
      "Show progress",
    ]);
    expect((await app.call(path, { session, form: {} })).status).toBe(409);
    site.runs[0]?.end({ failure: { message: "It cannot be read.", fields: [] } });
    await until(() => site.uploads().length === 0);
    const failed = readHtml((await app.call(path, { session })).text);
    expect(failed.texts("[role=alert] p")).toContain("It cannot be read.");
  });

  test("is cancelled while it is planned", async () => {
    await using site = await createSlowSite();
    const { app, session } = site;
    const sent = sendImport(app, session, TWO);
    await until(() => site.runs.length > 0);
    await app.clock.advance(10_000);
    const path = (await sent).headers.get("location") ?? "";
    await app.call(`${path}/discard`, { session, form: {} });
    expect(site.runs[0]?.signal.aborted).toBe(true);
    expect(site.uploads()).toEqual([]);
    expect(site.imports.current()).toBeUndefined();
  });

  test("is cancelled before its form is answered", async () => {
    await using site = await createSlowSite();
    const { app, session } = site;
    const sent = sendImport(app, session, TWO);
    await until(() => site.runs.length > 0);
    await site.imports.discard(site.imports.current()?.id ?? "");
    site.runs[0]?.end({ failure: { message: "The import broke off.", fields: [] } });
    const { status, headers } = await sent;
    expect(status).toBe(303);
    const { text } = await app.call(headers.get("location") ?? "", { session });
    expect(text).toContain("This plan is no longer kept");
  });

  test("is ended with the server, and after half an hour of planning", async () => {
    await using site = await createSlowSite();
    const { app, session } = site;
    const sent = sendImport(app, session, TWO);
    await until(() => site.runs.length > 0);
    await app.clock.advance(10_000);
    await sent;
    await app.clock.advance(30 * 60_000);
    expect(site.runs[0]?.signal.aborted).toBe(true);
    site.runs[0]?.end({ failure: { message: "", fields: [] } });
    await settle();
    expect(site.imports.current()?.failure?.message).toBe("It took too long.");
  });
});
