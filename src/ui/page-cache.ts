import { LRUCache } from "lru-cache";
import type { HtmlDocument } from "./document";

const MAX_PAGES = 100;

/**
 * Returns a renderer that keeps its last 100 different pages, found by the JSON of their properties.
 * For refusals, of which thousands may be answered in one second.
 */
export function createPageCache<Props>(
  render: (props: Props) => HtmlDocument,
): (props: Props) => HtmlDocument {
  const pages = new LRUCache<string, HtmlDocument>({ max: MAX_PAGES });
  return (props) => {
    const key = JSON.stringify(props);
    const page = pages.get(key) ?? render(props);
    pages.set(key, page);
    return page;
  };
}
