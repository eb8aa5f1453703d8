import { LRUCache } from "lru-cache";
import type { Entry } from "./entries";

/** In UTF-16 units, of all pages together: some hundred entries of usual length. */
const KEPT_MAX_LENGTH = 4_000_000;

/** The content of an entry, made once for each of its versions: rendering is what a feed costs most. */
export type ContentOf = (entry: Entry) => string;

export function createContents(): ContentOf {
  const kept = new LRUCache<string, string>({
    maxSize: KEPT_MAX_LENGTH,
    sizeCalculation: (html) => html.length + 1,
  });
  return (entry) => {
    const key = `${entry.url} ${entry.version}`;
    let html = kept.get(key);
    if (html === undefined) {
      html = entry.content();
      kept.set(key, html);
    }
    return html;
  };
}
