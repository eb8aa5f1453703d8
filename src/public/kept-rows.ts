import type { DayOf } from "../features/components";
import { type ComponentRowProps, type RenderRow, renderRow } from "./component-row";

/** The rows of one rendering of a page, which are put into it as bytes. */
export interface PlacedRows {
  /** Makes what holds the place of a row. */
  row: RenderRow;
  /** The bytes of the page that was rendered with these, each row in its place. */
  fill(html: string): Uint8Array<ArrayBuffer>;
}

/** Rows of components as bytes, each made once. */
export interface KeptRows {
  place(): PlacedRows;
}

// No other comment is in a page: what people wrote has its "<" escaped, in Markdown too.
const PLACE = /<!--(\d+)-->/;

/**
 * A page is made again at each of its changes, and most of its components are as they were: the rows of a
 * large page are nine tenths of its bytes. A row is kept as long as the days that it shows.
 */
export function createKeptRows(render: RenderRow = renderRow): KeptRows {
  const encoder = new TextEncoder();
  const kept = new WeakMap<readonly DayOf[], { facts: string; bytes: Uint8Array }>();

  function bytesOf(row: ComponentRowProps): Uint8Array {
    const facts = factsOf(row);
    const known = kept.get(row.days);
    if (known?.facts === facts) return known.bytes;
    const bytes = encoder.encode(render(row));
    kept.set(row.days, { facts, bytes });
    return bytes;
  }

  return {
    place() {
      const rows: Uint8Array[] = [];
      return {
        row: (row) => `<!--${rows.push(bytesOf(row)) - 1}-->`,
        fill(html) {
          // What a pattern captures stands between the pieces that it splits.
          const pieces = html.split(PLACE);
          return Buffer.concat(
            pieces.map((piece, index) =>
              index % 2 === 0 ? encoder.encode(piece) : (rows[Number(piece)] ?? nothing),
            ),
          );
        },
      };
    },
  };
}

const nothing = new Uint8Array();

/** All that is shown of a component beside its days. */
function factsOf({ component, latency, times }: ComponentRowProps): string {
  const { name, description, status, showcase, uptime_90d } = component;
  const own = [name, description, status, showcase, uptime_90d];
  return JSON.stringify([own, latency, times.locale]);
}
