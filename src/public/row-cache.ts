import type { DayOf } from "../features/components";
import type { SentPage } from "../http";
import type { HtmlDocument } from "../ui";
import { type ComponentRowProps, type RenderRow, renderRow } from "./component-row";

/** Rows of components that are kept as bytes. */
export interface RowCache {
  /** Makes a row before the page is rendered. */
  prepare(row: ComponentRowProps): void;
  /** Makes the bytes of a page, which `render` renders with what holds the places of its rows. */
  render(render: (renderRow: RenderRow) => HtmlDocument): SentPage;
}

// No other comment is in a page: what people wrote has its "<" escaped, in Markdown too.
const PLACE = /<!--(\d+)-->/g;

/**
 * Keeps the rows of components as bytes. One is made again when its days are another object, or anything
 * else that it shows has changed. A page is made again at each of its changes, most of its components are
 * as they were, and the rows of a large page are nine tenths of its bytes.
 */
export function createRowCache(): RowCache {
  const encoder = new TextEncoder();
  const kept = new WeakMap<readonly DayOf[], { facts: string; bytes: Uint8Array }>();

  function bytesOf(row: ComponentRowProps): Uint8Array {
    const facts = factsOf(row);
    const known = kept.get(row.days);
    if (known?.facts === facts) return known.bytes;
    const bytes = encoder.encode(renderRow(row));
    kept.set(row.days, { facts, bytes });
    return bytes;
  }

  return {
    prepare: (row) => void bytesOf(row),
    render(render) {
      const rows: Uint8Array[] = [];
      const { html, policy } = render((row) => `<!--${rows.push(bytesOf(row)) - 1}-->`);
      const pieces: Uint8Array[] = [];
      let from = 0;
      for (const place of html.matchAll(PLACE)) {
        const row = rows[Number(place[1])];
        if (!row) throw new Error("the page has a place for a row that it has not");
        pieces.push(encoder.encode(html.slice(from, place.index)), row);
        from = place.index + place[0].length;
      }
      pieces.push(encoder.encode(html.slice(from)));
      return { html: Buffer.concat(pieces), policy };
    },
  };
}

/** All that a row is made from beside its days. These are UTC's: the page's time zone is not among it. */
function factsOf({ component, latency, times }: ComponentRowProps): string {
  return JSON.stringify([component, latency, times.locale]);
}
