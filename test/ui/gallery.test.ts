import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  createAssets,
  linkedAssets,
  orderingScript,
  pickerScript,
  UI_ASSETS,
} from "../../src/ui/assets";
import { renderDocument } from "../../src/ui/documents";
import { createTestApp } from "../support/app";
import { renderGallery } from "../gallery/page";
import { elementsOf, valuesOf } from "./elements";

const assets = createAssets(UI_ASSETS);
const paths = linkedAssets();
const gallery = renderGallery(paths, Date.UTC(2026, 10, 21, 14, 32));
const elements = elementsOf(gallery.html);

async function textOf(path: string): Promise<string> {
  const asset = await assets.find(path.replace("/assets/", ""));
  if (!asset) throw new Error(`no ${path}`);
  return new TextDecoder().decode(asset.bytes);
}

describe("the gallery", () => {
  test("the gallery has no style attributes, event handlers or inline scripts and styles", () => {
    const attributes = elements.flatMap((element) => Object.keys(element.attributes));
    expect(attributes.filter((name) => name === "style" || name.startsWith("on"))).toEqual([]);
    expect(elements.filter(({ tag }) => tag === "style")).toEqual([]);
    const scripts = elements.filter(({ tag }) => tag === "script");
    expect(scripts.map((script) => script.attributes)).toEqual([
      { type: "module", src: paths.script },
      { type: "module", src: pickerScript() },
      { type: "module", src: orderingScript() },
    ]);
    expect(elements.length).toBeGreaterThan(300);
  });

  test("the policy of the gallery allows only files of this server", () => {
    expect(gallery.policy).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  test("ids are unique, and every label, description and link has its target", () => {
    const ids = valuesOf(elements, "id");
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const desired = [
      ...valuesOf(elements, "for"),
      ...valuesOf(elements, "popovertarget"),
      ...valuesOf(elements, "aria-describedby").flatMap((list) => list.split(" ")),
      ...valuesOf(elements, "href").flatMap((href) => (href.startsWith("#") ? href.slice(1) : [])),
    ];
    expect(desired.filter((id) => !ids.includes(id))).toEqual([]);
    expect(desired.length).toBeGreaterThan(20);
  });

  test("controls that need JavaScript are hidden without it", () => {
    const scripted = elements.filter(({ attributes }) => "data-scripted" in attributes);
    expect(scripted.length).toBeGreaterThan(3);
    expect(scripted.filter(({ attributes }) => !("hidden" in attributes))).toEqual([]);
  });
});

describe("the files of the dashboard", () => {
  test("style and script of the dashboard are under 24 KB together, compressed", async () => {
    const bytes = gzipSync((await textOf(paths.style)) + (await textOf(paths.script))).byteLength;
    expect(bytes).toBeLessThan(24 * 1_024);
    expect(gzipSync(await textOf(paths.script)).byteLength).toBeLessThan(10 * 1_024);
  });

  test("the script for ordered lists is under 2.5 KB, compressed", async () => {
    expect(gzipSync(await textOf(orderingScript())).byteLength).toBeLessThan(2.5 * 1_024);
  });

  test("the script for lists that open is under 1 KB, compressed", async () => {
    expect(gzipSync(await textOf(pickerScript())).byteLength).toBeLessThan(1_024);
  });

  test("style and scripts load nothing from elsewhere", async () => {
    expect(await textOf(paths.style)).not.toMatch(/url\((?!"\/assets\/inter\.)|@import|https?:/);
    for (const script of [paths.script, orderingScript(), pickerScript()]) {
      expect(await textOf(script)).not.toMatch(/\bimport\b|https?:\/\/\w|eval\(|innerHTML/);
    }
  });

  test("the style has a rule for every class that components use", async () => {
    const css = await textOf(paths.style);
    const used = new Set(valuesOf(elements, "class").flatMap((list) => list.split(" ")));
    // A quiet button is a button without more.
    used.delete("quiet");
    const missing = [...used].filter((name) => !css.includes(`.${name}`));
    expect(missing).toEqual([]);
  });

  test("style, script and icon are served under hashed names and cached forever", async () => {
    await using app = await createTestApp();
    for (const [path, mediaType] of [
      [paths.style, "text/css;charset=utf-8"],
      [paths.script, "text/javascript;charset=utf-8"],
      [paths.icon, "image/svg+xml"],
    ] as const) {
      const answer = await app.call(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe(mediaType);
      expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(answer.text).toBe(await textOf(path));
    }
    expect((await app.call(paths.style.replace(/[0-9a-f]{16}/, "0123456789abcdef"))).status).toBe(
      404,
    );
  });

  test("the public page contains none of the dashboard's styles, and its own are inline and small", () => {
    const { html } = renderDocument({ title: "Acme", children: "" });
    expect(html).toContain(".banner");
    expect(html).not.toMatch(/\.shell|\.button|allclear\.[0-9a-f]{16}/);
    expect(gzipSync(html).byteLength).toBeLessThan(2_560);
  });
});
