import { type Assets, type AssetSource, nameWithHash } from "./assets";
import script from "./client.js" with { type: "text" };
import type { LinkedAssets } from "./linked-document";
import { ringIcon } from "./ring-icon";
import { dashboardCss } from "./style-sheet";

const STYLE = { name: "allclear.css", text: dashboardCss() };
const SCRIPT = { name: "allclear.js", text: script };
const ICON = { name: "ring.svg", text: ringIcon("#1a7f4b") };

/** What the dashboard's pages link to. */
export const UI_ASSETS: readonly AssetSource[] = [
  { name: STYLE.name, mediaType: "text/css;charset=utf-8", content: STYLE },
  { name: SCRIPT.name, mediaType: "text/javascript;charset=utf-8", content: SCRIPT },
  { name: ICON.name, mediaType: "image/svg+xml", content: ICON },
];

/** The paths of these, for a page that cannot wait. */
export const LINKED_ASSETS: LinkedAssets = {
  style: pathOf(STYLE),
  script: pathOf(SCRIPT),
  icon: pathOf(ICON),
};

/** The paths of these, as a document links to them. */
export async function linkedAssets(assets: Assets): Promise<LinkedAssets> {
  const [style, script, icon] = await Promise.all([
    assets.pathOf(STYLE.name),
    assets.pathOf(SCRIPT.name),
    assets.pathOf(ICON.name),
  ]);
  return { style, script, icon };
}

function pathOf({ name, text }: { name: string; text: string }): string {
  return `/assets/${nameWithHash(name, new TextEncoder().encode(text))}`;
}
