import { readFileSync } from "node:fs";
import inter from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import { IMMUTABLE } from "../http/cdn";
import { Representation } from "../http/representation";
import { sha256Hex } from "../base/hash";
import { lazy } from "../base/lazy";
import audience from "./audience.js" with { type: "text" };
import occurrences from "./occurrences.js" with { type: "text" };
import client from "./client.js" with { type: "text" };
import days from "./days.js" with { type: "text" };
import type { LinkedAssets } from "./documents";
import lists from "./lists.js" with { type: "text" };
import live from "./live.js" with { type: "text" };
import liveSign from "./live-sign.js" with { type: "text" };
import morph from "./morph.js" with { type: "text" };
import ordering from "./ordering.js" with { type: "text" };
import icon192 from "./home-screen/icon-192.png" with { type: "file" };
import icon512 from "./home-screen/icon-512.png" with { type: "file" };
import { ringIcon } from "./pictures";
import picker from "./picker.js" with { type: "text" };
import presets from "./presets.js" with { type: "text" };
import search from "./search.js" with { type: "text" };
import secrets from "./secrets.js" with { type: "text" };
import { colourOf, dashboardCss } from "./style-sheet";

/** File that pages link to, on disk or inside the executable. */
export interface AssetSource {
  /** Name without the hash, such as `docs.css`. */
  name: string;
  mediaType: string;
  /** Path of the file, or its text. */
  content: { path: string } | { text: string };
}

/** Assets by names that contain a hash of their bytes, so that clients can cache them permanently. */
export interface Assets {
  /** Returns the path of an asset by its name without the hash. Throws for an unknown name. */
  pathOf(name: string): Promise<string>;
  /** Returns an asset by the last segment of its path. */
  find(hashedName: string): Promise<Representation | undefined>;
}

interface Loaded {
  hashedName: string;
  representation: Representation;
}

/** Creates the assets. Each is read into memory at its first use. */
export function createAssets(sources: readonly AssetSource[]): Assets {
  const loaded = new Map<string, Promise<Loaded>>();

  function load(source: AssetSource): Promise<Loaded> {
    let loading = loaded.get(source.name);
    if (!loading) {
      loading = read(source);
      loaded.set(source.name, loading);
    }
    return loading;
  }

  return {
    async pathOf(name) {
      const source = sources.find((candidate) => candidate.name === name);
      if (!source) throw new Error(`there is no asset ${name}`);
      return `/assets/${(await load(source)).hashedName}`;
    },
    async find(hashedName) {
      const name = hashedName.replace(/\.[0-9a-f]{16}(?=\.[a-z0-9]+$)/, "");
      const source = sources.find((candidate) => candidate.name === name);
      if (!source) return undefined;
      const asset = await load(source);
      return asset.hashedName === hashedName ? asset.representation : undefined;
    },
  };
}

/** Returns the path of an asset with this content. */
export function assetPath(name: string, content: string | Uint8Array): string {
  return `/assets/${nameWithHash(name, content)}`;
}

/** Inserts the hash of the content before the ending of a name. */
function nameWithHash(name: string, bytes: string | Uint8Array): string {
  const dot = name.lastIndexOf(".");
  return `${name.slice(0, dot)}.${sha256Hex(bytes).slice(0, 16)}${name.slice(dot)}`;
}

async function read(source: AssetSource): Promise<Loaded> {
  const { content, name, mediaType } = source;
  const bytes =
    "path" in content
      ? await Bun.file(content.path).bytes()
      : new TextEncoder().encode(content.text);
  return {
    hashedName: nameWithHash(name, bytes),
    representation: new Representation(bytes, { mediaType, cacheControl: IMMUTABLE }),
  };
}

/** Options of the runtime, whose types do not know them. */
const WITHOUT_SPACE = { loader: "js", target: "browser", minifyWhitespace: true } as const;

/** Returns a script without comments and without space between its parts. Takes a millisecond. */
export function withoutComments(script: string): string {
  return new Bun.Transpiler(WITHOUT_SPACE).transformSync(script);
}

/** Shortens the scripts of the dashboard to four fifths, compressed. */
const MINIFIED = { loader: "js", target: "browser", minify: true } as const;

/** Returns a script of modules in its shortest form, with other names. Takes some milliseconds. */
function minifyModule(script: string): string {
  return new Bun.Transpiler(MINIFIED).transformSync(script);
}

const FONT_NAME = "inter.woff2";

const STYLE = {
  name: "allclear.css",
  text: lazy(() => dashboardCss(assetPath(FONT_NAME, readFileSync(inter)))),
};
const SCRIPT = {
  name: "allclear.js",
  text: lazy(() =>
    minifyModule(
      [
        presets,
        client,
        secrets,
        days,
        lists,
        audience,
        occurrences,
        search,
        morph,
        liveSign,
        live,
      ].join("\n"),
    ),
  ),
};
const PICKER = { name: "allclear.picker.js", text: lazy(() => minifyModule(picker)) };
const ORDERING = { name: "allclear.ordering.js", text: lazy(() => minifyModule(ordering)) };
const ICON = { name: "ring.svg", text: ringIcon("ok") };

/** Media type of web manifests. */
export const MANIFEST_TYPE = "application/manifest+json";

/** An icon of a web manifest. */
interface ManifestIcon {
  src: string;
  sizes: string;
  type: string;
  purpose?: "maskable";
}

/** Icons of home screens by their sides in pixels, those that browsers ask for. `test/preview-pictures.tsx` draws them. */
const HOME_ICON_FILES = { 192: icon192, 512: icon512 };

/** Assets of the dashboard and of status pages that have no icon of their own. */
export const HOME_ICONS: readonly AssetSource[] = Object.entries(HOME_ICON_FILES).map(
  ([side, path]) => ({ name: `icon-${side}.png`, mediaType: "image/png", content: { path } }),
);

/** Returns Allclear's icons for a web manifest. They fill their square, so that a system may also cut a circle out of it. */
export const homeIcons = lazy((): readonly ManifestIcon[] =>
  Object.entries(HOME_ICON_FILES).flatMap(([side, path]) => {
    const src = assetPath(`icon-${side}.png`, readFileSync(path));
    const icon: ManifestIcon = { src, sizes: `${side}x${side}`, type: "image/png" };
    return [icon, { ...icon, purpose: "maskable" }];
  }),
);

/** Web manifest of the dashboard. It has an id, since its address changes with its content. */
const MANIFEST = {
  name: "allclear.webmanifest",
  text: lazy(() => {
    const ground = colourOf("ground", 0);
    return JSON.stringify({
      id: "/admin",
      name: "Allclear",
      short_name: "Allclear",
      lang: "en",
      start_url: "/admin",
      scope: "/admin",
      display: "standalone",
      background_color: ground,
      theme_color: ground,
      icons: homeIcons(),
    });
  }),
};

/** Returns an asset whose text is made at its first use. */
function madeAsset(
  { name, text }: { name: string; text: () => string },
  mediaType: string,
): AssetSource {
  return {
    name,
    mediaType,
    content: {
      get text() {
        return text();
      },
    },
  };
}

const JAVASCRIPT = "text/javascript;charset=utf-8";

/** Assets of the dashboard. */
export const UI_ASSETS: readonly AssetSource[] = [
  madeAsset(STYLE, "text/css;charset=utf-8"),
  { name: FONT_NAME, mediaType: "font/woff2", content: { path: inter } },
  madeAsset(SCRIPT, JAVASCRIPT),
  madeAsset(PICKER, JAVASCRIPT),
  madeAsset(ORDERING, JAVASCRIPT),
  madeAsset(MANIFEST, MANIFEST_TYPE),
  { name: ICON.name, mediaType: "image/svg+xml", content: ICON },
];

/** Returns the paths that pages of the dashboard link to. Computed at the first page, not at the start. */
export const linkedAssets = lazy((): LinkedAssets => ({
  style: assetPath(STYLE.name, STYLE.text()),
  script: assetPath(SCRIPT.name, SCRIPT.text()),
  icon: assetPath(ICON.name, ICON.text),
  manifest: assetPath(MANIFEST.name, MANIFEST.text()),
}));

/** Returns the path of the script that searches in a `Picker`, for pages with one. */
export const pickerScript = lazy(() => assetPath(PICKER.name, PICKER.text()));

/** Returns the path of the drag-and-drop script, for pages with an `OrderList`. */
export const orderingScript = lazy(() => assetPath(ORDERING.name, ORDERING.text()));
