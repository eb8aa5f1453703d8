import type { Assets, AssetSource } from "./assets";
import script from "./client.js" with { type: "text" };
import type { LinkedAssets } from "./linked-document";
import { ringIcon } from "./ring-icon";
import { dashboardCss } from "./style-sheet";

/** What the dashboard's pages link to. */
export const UI_ASSETS: readonly AssetSource[] = [
  { name: "allclear.css", mediaType: "text/css;charset=utf-8", content: { make: dashboardCss } },
  { name: "allclear.js", mediaType: "text/javascript;charset=utf-8", content: { text: script } },
  {
    name: "ring.svg",
    mediaType: "image/svg+xml",
    content: { make: () => ringIcon("#1a7f4b") },
  },
];

/** The paths of these, as a document links to them. */
export async function linkedAssets(assets: Assets): Promise<LinkedAssets> {
  const [style, script, icon] = await Promise.all([
    assets.pathOf("allclear.css"),
    assets.pathOf("allclear.js"),
    assets.pathOf("ring.svg"),
  ]);
  return { style, script, icon };
}
