import { type AssetSource, assetPath } from "../ui";
import script from "./client.js" with { type: "text" };

/** Script of public pages: local times, and days by arrow keys. Pages work without it. */
export const PAGE_SCRIPT: AssetSource & { content: { text: string } } = {
  name: "page.js",
  mediaType: "text/javascript;charset=utf-8",
  content: { text: script },
};

export const PAGE_SCRIPT_PATH = assetPath(PAGE_SCRIPT.name, script);
