/* Web manifests of status pages, with which browsers put them on home screens. */
import { logoSize } from "../features/pages/addresses";
import { chosenLanguage } from "./chosen-language";
import { homeIcons, MANIFEST_TYPE } from "../ui/assets";
import { pageWordsOf } from "../ui/words";
import type { Snapshot } from "../features/status/snapshots";
import { PUBLIC_CACHE } from "../http/cdn";
import { Representation, representOnce } from "../http/representation";
import { pathsOf } from "./page-context";
import { PAPERS } from "./page-document";

/** Side from which Chromium takes an icon for a home screen, in pixels. */
const ICON_MIN_SIDE = 144;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
};

/**
 * Returns the web manifest of a page as JSON, in the language of the snapshot. Its addresses have no host, since a page may
 * have several. Its id is that of the page, so that an installed page stays the same one after a change of its slug.
 */
export function manifestOf(snapshot: Snapshot): string {
  const { page } = snapshot.document;
  const { lang, dir } = pageWordsOf(page.locale);
  const paths = pathsOf(page.slug, chosenLanguage(snapshot));
  const paper = PAPERS[page.theme === "dark" ? 1 : 0];
  return JSON.stringify({
    id: `/status/${page.id}`,
    name: page.name,
    short_name: page.name,
    ...(page.description ? { description: page.description } : {}),
    lang,
    dir,
    start_url: paths.page,
    scope: paths.home,
    display: "standalone",
    background_color: paper,
    theme_color: paper,
    icons: iconsOf(page),
  });
}

/** Returns the page's favicon, or its logo if that is a square. One that is too small for a home screen is followed by Allclear's. */
function iconsOf({ slug, logo, favicon }: Snapshot["document"]["page"]) {
  const picture = favicon ?? logo;
  if (picture === null) return homeIcons();
  const { width, height } = logoSize(picture);
  if (width !== height) return homeIcons();
  const src = picture.slice(picture.indexOf(pathsOf(slug).home));
  const type = MEDIA_TYPES[src.slice(src.lastIndexOf(".") + 1)];
  const own = { src, sizes: `${width}x${height}`, type };
  return width >= ICON_MIN_SIDE ? [own] : [own, ...homeIcons()];
}

/** Returns the representation of a page's manifest, made once per snapshot. */
export const representManifest = representOnce(
  (snapshot: Snapshot) =>
    new Representation(manifestOf(snapshot), {
      mediaType: MANIFEST_TYPE,
      cacheControl: PUBLIC_CACHE,
    }),
);
