import type { DayOf } from "../features/components";
import type { SentPage } from "../http";
import type { HtmlDocument } from "../ui";
import { type ComponentRowProps, type RenderRow, renderRow } from "./component-row";

/** Cache of component rows as bytes. */
interface RowCache {
  /** Renders a row into the cache, before the page is rendered. */
  prepare(row: ComponentRowProps): void;
  /** Returns the bytes of a page. `render` renders it with placeholders instead of rows. */
  render(render: (renderRow: RenderRow) => HtmlDocument): SentPage;
}

/** A rendered row and its table. */
interface RowBytes {
  row: Uint8Array;
  table: Uint8Array;
}

/** Placeholder of a row or a table. Pages have no other comments, since "<" in texts is escaped. */
const PLACEHOLDER = /<!--(\d+)-->/g;

/**
 * Caches rows by the identity of their days and by all other facts that they show. Most components stay
 * when a page changes, and the rows of a large page are nine tenths of its bytes. Rows of a large page are
 * rendered into this cache in several turns of the event loop.
 *
 * Without this cache, the status page after a change takes 2.7 times the processor time (200 components,
 * 1,000 incidents). With rows as text instead of bytes it takes 1.27 times.
 */
export function createRowCache(): RowCache {
  const encoder = new TextEncoder();
  const cache = new WeakMap<readonly DayOf[], { facts: string; bytes: RowBytes }>();

  function bytesOf(row: ComponentRowProps): RowBytes {
    const facts = factsOf(row);
    const cached = cache.get(row.days);
    if (cached?.facts === facts) return cached.bytes;
    const html = renderRow(row);
    const bytes = { row: encoder.encode(html.row), table: encoder.encode(html.table) };
    cache.set(row.days, { facts, bytes });
    return bytes;
  }

  return {
    prepare: (row) => void bytesOf(row),
    render(render) {
      const rows: Uint8Array[] = [];
      const placeholderOf = (bytes: Uint8Array) =>
        bytes.length === 0 ? "" : `<!--${rows.push(bytes) - 1}-->`;
      const { html, policy } = render((props) => {
        const { row, table } = bytesOf(props);
        return { row: placeholderOf(row), table: placeholderOf(table) };
      });
      const pieces: Uint8Array[] = [];
      let from = 0;
      for (const match of html.matchAll(PLACEHOLDER)) {
        const row = rows[Number(match[1])];
        if (!row) throw new Error("a placeholder has no row");
        pieces.push(encoder.encode(html.slice(from, match.index)), row);
        from = match.index + match[0].length;
      }
      pieces.push(encoder.encode(html.slice(from)));
      return { html: Buffer.concat(pieces), policy };
    },
  };
}

/**
 * Returns the facts of a row except its days and their entries, which are folded together. Days are in
 * UTC, so the page's time zone is not a fact.
 */
function factsOf(row: ComponentRowProps): string {
  const { component, entries, names, latency, paths, times } = row;
  const named: (string | undefined)[] = [];
  for (const { ids } of entries.values()) for (const id of ids) named.push(names.get(id)?.name);
  return JSON.stringify([component, named, latency, paths.home, times.locale]);
}
