import { LRUCache } from "lru-cache";
import type { ComponentChildren, VNode } from "preact";
import { renderToString } from "preact-render-to-string";

/** In UTF-16 units, of all pages together. */
const KEPT_MAX_LENGTH = 4_000_000;

/**
 * Makes HTML of a part of a page. `facts` are all that it shows, as JSON would have it; `id` is nobody
 * else's.
 */
export type RenderPart = (id: string, facts: unknown, make: () => ComponentChildren) => string;

export const renderPart: RenderPart = (_id, _facts, make) => renderToString(make() as VNode);

/** The same, made anew only where its facts are others: most changes of a page are of one of its parts. */
export function createRenderedParts(): RenderPart {
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
