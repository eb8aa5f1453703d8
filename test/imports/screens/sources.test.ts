import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestApp } from "../../support/app";
import { fieldErrorsOn, readHtml } from "../../support/html";
import { IMPORTS } from "../../support/import-dashboard";
import { createTestImports } from "../../support/imports";
import { kumaFolder } from "../../support/kuma-fixture";
import { asUpload } from "../../support/multipart";

const GATUS = `
endpoints:
  - { name: API, group: Core, url: "https://api.example.com", conditions: ["[STATUS] == 200"] }
`;
const STATUSPAGE = JSON.stringify({
  page: { id: "kctbh9vrtdwd", name: "Acme", url: "https://status.acme.test" },
  components: [{ id: "b13yz5g2cw10", name: "API", status: "operational", position: 1 }],
});

const FIXTURES = join(import.meta.dir, "../fixtures");

/** Creates an application whose folder of offered files the test sees. */
async function createSite() {
  let own: ReturnType<typeof createTestImports> | undefined;
  const app = await createTestApp({ imports: (ctx) => (own = createTestImports(ctx)).imports });
  const session = await app.signedIn();
  if (!own) throw new Error("the imports were made");
  const folder = join(own.directory(), "import");
  mkdirSync(folder);
  return {
    app,
    session,
    folder,
    /** Sends the form of a source with one place. */
    send: (kind: string, place: Record<string, string>) =>
      app.call(`${IMPORTS}/from/${kind}`, {
        session,
        ...asUpload(
          Object.entries({ source: "default", ...place }).map(([name, text]) => ({ name, text })),
        ),
      }),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      own?.[Symbol.dispose]();
    },
  };
}

describe("the dashboard imports", () => {
  test.each([
    ["Uptime Kuma", "uptime-kuma", "kuma"],
    ["Gatus", "gatus", "config.yaml"],
    ["Statuspage", "statuspage", "summary.json"],
    ["UptimeRobot", "uptimerobot", "monitors.json"],
    ["Better Stack", "better-stack", "heartbeats.json"],
    ["CSV", "csv", "list.csv"],
  ])("from %s what lies in the folder", async (product, kind, offered) => {
    await using site = await createSite();
    const { app, session, folder } = site;
    using kuma = kumaFolder("2.5.3");
    cpSync(kuma.path, join(folder, "kuma"), { recursive: true });
    writeFileSync(join(folder, "config.yaml"), GATUS);
    writeFileSync(join(folder, "summary.json"), STATUSPAGE);
    cpSync(join(FIXTURES, "uptimerobot/monitors-2.json"), join(folder, "monitors.json"));
    cpSync(join(FIXTURES, "better-stack/heartbeats.json"), join(folder, "heartbeats.json"));
    writeFileSync(join(folder, "list.csv"), "name;url\nShop;shop.example.com\n");
    const sent = await site.send(kind, { offered });
    expect(sent.status).toBe(303);
    const plan = sent.headers.get("location") ?? "";
    const shown = readHtml((await app.call(plan, { session })).text);
    expect(shown.texts("h1")).toEqual([`Plan of the import from ${product}`]);
    await app.call(plan, { session, form: {} });
    const report = (await app.call(plan, { session })).headers.get("location") ?? "";
    const page = readHtml((await app.call(report, { session })).text);
    expect(page.attributes("tbody .row-link", "href").length).toBeGreaterThan(0);
    expect(app.audit().at(-1)).toMatchObject({ action: "import.run", actorKind: "user" });
  });

  test("an uploaded file, which the report names as people know it", async () => {
    await using site = await createSite();
    const { app, session } = site;
    using kuma = kumaFolder("2.5.3");
    const bytes = readFileSync(kuma.database);
    // Versions 2 of reading and writing in the header: the database had a log beside it.
    bytes.set([2, 2], 18);
    const parts = asUpload([
      { name: "source", text: "default" },
      { name: "file", filename: "kuma.db", type: "application/octet-stream", bytes },
    ]);
    const sent = await app.call(`${IMPORTS}/from/uptime-kuma`, { session, ...parts });
    const plan = sent.headers.get("location") ?? "";
    const { text } = await app.call(plan, { session });
    expect(text).toContain("“kuma.db” has no -wal file beside it");
    expect(text).not.toContain("import-uploads");
  });

  test("no folder that has symbolic links", async () => {
    await using site = await createSite();
    mkdirSync(join(site.folder, "kuma", "upload"), { recursive: true });
    symlinkSync("/etc/passwd", join(site.folder, "kuma", "upload", "logo.png"));
    const { status, text } = await site.send("uptime-kuma", { offered: "kuma" });
    expect([status, fieldErrorsOn(text)["offered"]]).toEqual([
      422,
      "This file is not in the folder, or it has symbolic links. Select another one.",
    ]);
  });

  test("no file of Gatus that names variables or files of the server", async () => {
    await using site = await createSite();
    writeFileSync(join(site.folder, "config.yaml"), GATUS.replace("Core", "${PATH}"));
    const { status, text } = await site.send("gatus", { offered: "config.yaml" });
    expect(status).toBe(422);
    expect(fieldErrorsOn(text)["offered"]).toContain("PATH");
  });

  test.each(["ftp://status.acme.test", "status.acme.test", "file:///etc/passwd"])(
    "nothing from the address %s",
    async (url) => {
      await using site = await createSite();
      const { status, text } = await site.send("statuspage", { url });
      expect([status, fieldErrorsOn(text)["url"]]).toEqual([
        422,
        "Enter an address that begins with https://.",
      ]);
    },
  );

  test("nothing from a private address, which the error names", async () => {
    await using site = await createSite();
    const { status, text } = await site.send("statuspage", { url: "http://127.0.0.1:9/" });
    expect(status).toBe(422);
    expect(fieldErrorsOn(text)["url"]).toContain("http://127.0.0.1:9/");
  });

  test("nothing from two places at once", async () => {
    await using site = await createSite();
    writeFileSync(join(site.folder, "summary.json"), STATUSPAGE);
    const places = { url: "https://status.acme.test", offered: "summary.json" };
    const { text } = await site.send("statuspage", places);
    expect(fieldErrorsOn(text)["url"]).toBe("Give one place only: clear the others.");
  });
});
