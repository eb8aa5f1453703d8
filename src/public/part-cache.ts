import { LRUCache } from "lru-cache";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";

/** In UTF-16 units, of all pages together. */
const KEPT_MAX_LENGTH = 4_000_000;

/**
 * Makes HTML of one part of a page. `id` is the part's own among all parts of all pages; `facts` are
 * everything that its HTML depends on, compared as JSON; `make` gives its element.
 */
export type RenderPart = (id: string, facts: unknown, make: () => VNode) => string;

export const renderPart: RenderPart = (_id, _facts, make) => renderToString(make());

/** Keeps parts: most changes of a page are of one of them. */
export function createPartCache(): RenderPart {
  const kept = new LRUCache<string, { facts: string; html: string }>({
    maxSize: KEPT_MAX_LENGTH,
    sizeCalculation: ({ facts, html }) => facts.length + html.length,
  });
  return (id, given, make) => {
    const facts = JSON.stringify(given);
    const known = kept.get(id);
    if (known?.facts === facts) return known.html;
    const html = renderPart(id, given, make);
    kept.set(id, { facts, html });
    return html;
  };
}
