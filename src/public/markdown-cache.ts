import { LRUCache } from "lru-cache";
import { renderMarkdown } from "./markdown";

/** In UTF-16 units, of all pages together: some thousand updates of usual length. */
const KEPT_MAX_LENGTH = 2_000_000;

/** Makes HTML of what people wrote in Markdown, its headings below `topHeading`'s. */
export type RenderText = (source: string, topHeading: number) => string;

export const renderText: RenderText = (source, topHeading) =>
  renderMarkdown(source, { topHeading });

/** Keeps texts: a page is made again at each of its changes, most of its texts are not. */
export function createMarkdownCache(render: RenderText = renderText): RenderText {
  const kept = new LRUCache<string, string>({
    maxSize: KEPT_MAX_LENGTH,
    sizeCalculation: (html, key) => html.length + key.length,
  });
  return (source, topHeading) => {
    const key = `${topHeading} ${source}`;
    let html = kept.get(key);
    if (html === undefined) {
      html = render(source, topHeading);
      kept.set(key, html);
    }
    return html;
  };
}
