import { lazy } from "../kernel/lazy";
import { type AssetSource, assetPath } from "./assets";
import script from "./client.js" with { type: "text" };
import type { LinkedAssets } from "./linked-document";
import ordering from "./ordering.js" with { type: "text" };
import { ringIcon } from "./pictures";
import { dashboardCss } from "./style-sheet";

const STYLE = { name: "allclear.css", text: lazy(dashboardCss) };
const SCRIPT = { name: "allclear.js", text: script };
const ORDERING = { name: "allclear.ordering.js", text: ordering };
const ICON = { name: "ring.svg", text: ringIcon("#1a7f4b") };

/** Files that the dashboard's pages link to. */
export const UI_ASSETS: readonly AssetSource[] = [
  {
    name: STYLE.name,
    mediaType: "text/css;charset=utf-8",
    content: {
      get text() {
        return STYLE.text();
      },
    },
  },
  { name: SCRIPT.name, mediaType: "text/javascript;charset=utf-8", content: SCRIPT },
  { name: ORDERING.name, mediaType: "text/javascript;charset=utf-8", content: ORDERING },
  { name: ICON.name, mediaType: "image/svg+xml", content: ICON },
];

/** The paths of these, as a document links to them. Made with the first page, not at the start. */
export const linkedAssets = lazy((): LinkedAssets => ({
  style: assetPath(STYLE.name, STYLE.text()),
  script: assetPath(SCRIPT.name, SCRIPT.text),
  icon: assetPath(ICON.name, ICON.text),
}));

/** The path of the script of lists whose order can be changed, for the pages that have one. */
export const ORDERING_SCRIPT = assetPath(ORDERING.name, ORDERING.text);
