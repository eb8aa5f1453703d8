import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../src/base/actor";
import { readPicture, putLogo } from "../../src/features/pages/logo";
import { createTestApp, expectProblem, type TestApp } from "../support/app";
import { visit } from "../support/domains";
import { updatePage } from "../support/examined";
import { readHtml } from "../support/html";
import { grantOf, PAGE_PASSWORD } from "../support/page-access";
import { png } from "../support/pictures";
import { createPrivateSite, sealOf, SEALED } from "../support/private-site";

interface Icon {
  src: string;
  sizes: string;
  type: string;
  purpose?: string;
}

/** Reads the icons of a manifest from this server. Each must have the size and the type that the manifest names. */
async function checkIcons(app: TestApp, icons: readonly Icon[], host = "status.test") {
  for (const { src, sizes, type } of icons) {
    const request = new Request(`http://${host}${src}`);
    const answer = await app.app.handle(request, () => "203.0.113.7");
    expect([src, answer.status]).toEqual([src, 200]);
    const picture = readPicture(new Uint8Array(await answer.arrayBuffer()));
    const { mediaType, width, height } = picture ?? { mediaType: "", width: 0, height: 0 };
    expect([mediaType, `${width}x${height}`]).toEqual([type, sizes]);
  }
}

const OWN_ICONS = [
  ["192x192", undefined],
  ["192x192", "maskable"],
  ["512x512", undefined],
  ["512x512", "maskable"],
];

const shapesOf = (icons: readonly Icon[]) => icons.map(({ sizes, purpose }) => [sizes, purpose]);

const setLogo = (app: TestApp, id: string, side: [number, number]) =>
  app.ctx.db.write((tx) => putLogo(app.ctx, tx, id, { bytes: png(...side) }, CLI_ACTOR));

describe("the web manifest of a page", () => {
  test("a page links to a manifest with all that browsers ask of an installable one", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ name: "Acme", description: "All services." });
    const shown = await app.call("/status/acme");
    const [path = ""] = readHtml(shown.text).attributes("link[rel=manifest]", "href");
    expect(path).toBe("/status/acme/manifest.webmanifest");
    expect(shown.headers.get("content-security-policy")).toContain("manifest-src 'self'");
    const { status, headers, text } = await app.call(path);
    expect([status, headers.get("content-type")]).toEqual([200, "application/manifest+json"]);
    const { icons, ...manifest } = JSON.parse(text);
    expect(manifest).toEqual({
      id: `/status/${page.id}`,
      name: "Acme",
      short_name: "Acme",
      description: "All services.",
      lang: "en",
      dir: "ltr",
      start_url: "/status/acme",
      scope: "/status/acme",
      display: "standalone",
      background_color: "#fbfcfa",
      theme_color: "#fbfcfa",
    });
    expect(shapesOf(icons)).toEqual(OWN_ICONS);
    await checkIcons(app, icons);
  });

  test("a square logo is the icon; a small one is followed by Allclear's, and a wide one is none", async () => {
    await using app = await createTestApp();
    const { page } = await app.page();
    const iconsWith = async (side: [number, number]): Promise<Icon[]> => {
      await setLogo(app, page.id, side);
      return JSON.parse((await app.call("/status/acme/manifest.webmanifest")).text).icons;
    };
    const large = await iconsWith([256, 256]);
    expect(shapesOf(large)).toEqual([["256x256", undefined]]);
    await checkIcons(app, large);
    const small = await iconsWith([64, 64]);
    expect(shapesOf(small)).toEqual([["64x64", undefined], ...OWN_ICONS]);
    expect(shapesOf(await iconsWith([400, 100]))).toEqual(OWN_ICONS);
  });

  test("a manifest is in the chosen language, dark for a dark page, and the same app after a new slug", async () => {
    await using app = await createTestApp();
    const { page } = await app.page({ languages: ["ar"], theme: "dark" });
    const shown = readHtml((await app.call("/status/acme?lang=ar")).text);
    const [path = ""] = shown.attributes("link[rel=manifest]", "href");
    expect(JSON.parse((await app.call(path)).text)).toMatchObject({
      lang: "ar",
      dir: "rtl",
      start_url: "/status/acme?lang=ar",
      background_color: "#0f1512",
    });
    await app.ctx.db.write((tx) => updatePage(app.ctx, tx, page.id, { slug: "fresh" }, CLI_ACTOR));
    const moved = await app.call("/status/acme/manifest.webmanifest");
    expect([moved.status, moved.headers.get("location")]).toEqual([
      308,
      "/status/fresh/manifest.webmanifest",
    ]);
    const { id, start_url: start } = JSON.parse(
      (await app.call("/status/fresh/manifest.webmanifest")).text,
    );
    expect([id, start]).toEqual([`/status/${page.id}`, "/status/fresh"]);
  });

  test("a custom domain has the manifest of its page with its icons, and of no other page", async () => {
    await using app = await createTestApp();
    const host = "status.acme.example";
    await app.page({ custom_domains: [host] });
    await app.page({ slug: "other", name: "Other" });
    const home = await visit(app, host, "/");
    const [path = ""] = readHtml(home.text).attributes("link[rel=manifest]", "href");
    const answer = await visit(app, host, path);
    expect([answer.status, answer.body.start_url]).toEqual([200, "/status/acme"]);
    await checkIcons(app, answer.body.icons, host);
    expect((await visit(app, host, "/status/other/manifest.webmanifest")).status).toBe(404);
  });
});

describe("the web manifest of a private page", () => {
  test("strangers learn nothing, and those with a grant get it by a link that sends cookies", async () => {
    await using site = await createPrivateSite();
    await site.password(PAGE_PASSWORD);
    const path = "/status/inside/manifest.webmanifest";
    const strange = await site.read(path);
    expectProblem(strange, "not_found");
    const nobody = await site.read(path.replace("inside", "nobody"));
    expect(nobody.status).toBe(404);
    expect(strange.text.replaceAll(/req_\w+/g, "")).toBe(
      nobody.text.replaceAll(/req_\w+/g, "").replaceAll("nobody", "inside"),
    );
    expect((await site.read("/status/inside")).text).not.toContain("manifest");
    const grant = grantOf(await site.send(PAGE_PASSWORD));
    const shown = readHtml((await site.read("/status/inside", grant)).text);
    expect(shown.attributes("link[rel=manifest]", "crossorigin")).toEqual(["use-credentials"]);
    const answer = await site.read(path, grant);
    expect(JSON.parse(answer.text).start_url).toBe("/status/inside");
    expect(sealOf(answer)).toEqual(SEALED);
  });
});

describe("the web manifest of the dashboard", () => {
  test("the sign-in page and every screen link to it, and the pages of visitors do not", async () => {
    await using app = await createTestApp();
    await app.page();
    const session = await app.signedIn("viewer");
    const pathIn = (text: string) => readHtml(text).attributes("link[rel=manifest]", "href");
    const [path = ""] = pathIn((await app.call("/admin", { session })).text);
    expect(pathIn((await app.call("/admin/sign-in")).text)).toEqual([path]);
    const failure = await app.call("/status/none", { headers: { accept: "text/html" } });
    expect(pathIn(failure.text)).toEqual([]);
    const { headers, text } = await app.call(path);
    expect(headers.get("content-type")).toBe("application/manifest+json");
    const { icons, ...manifest } = JSON.parse(text);
    expect(manifest).toMatchObject({
      id: "/admin",
      name: "Allclear",
      start_url: "/admin",
      scope: "/admin",
      display: "standalone",
    });
    expect(shapesOf(icons)).toEqual(OWN_ICONS);
    await checkIcons(app, icons);
  });
});
