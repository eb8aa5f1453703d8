import type { Reader } from "../../db/statements";
import type { ComponentRow } from "../components/store";
import { type Folded, foldSpans } from "../components/history";
import { knownFrom } from "../components/rules";
import type { Period } from "./period";
import { listCauses, listNoData } from "./store";

/** Days or other spans of components that are folded in one turn of the event loop. */
const SPANS_PER_TURN = 3_000;
/** Components whose causes are read in one turn of the event loop. */
const COMPONENTS_PER_TURN = 100;

/** Start and end of a period with its spans. */
type Spans = Pick<Period, "from" | "to" | "spans">;

/** Returns the folded spans of each component, in the order of `rows`. */
export function foldComponents(
  reader: Reader,
  rows: readonly ComponentRow[],
  { from, to, spans }: Spans,
): Folded[][] {
  const query = { componentIds: JSON.stringify(rows.map(({ id }) => id)), from, to };
  const causes = Map.groupBy(listCauses(reader, query), ({ componentId }) => componentId);
  const gaps = Map.groupBy(listNoData(reader, query), ({ componentId }) => componentId);
  return rows.map((row) => {
    const known = { from: Math.max(from, knownFrom(row)), to };
    return foldSpans(causes.get(row.id) ?? [], known, spans, gaps.get(row.id));
  });
}

/** Returns the same as `foldComponents`, in several turns of the event loop for many components. */
export async function foldInTurns(
  reader: Reader,
  rows: readonly ComponentRow[],
  period: Spans,
): Promise<Folded[][]> {
  const most = Math.floor(SPANS_PER_TURN / Math.max(1, period.spans.length));
  const perTurn = Math.max(1, Math.min(COMPONENTS_PER_TURN, most));
  return inTurns(rows, perTurn, (part) => foldComponents(reader, part, period));
}

/**
 * Returns the results of `read` for all items, read for `perTurn` of them at a time. Other requests are
 * served between two turns.
 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  perTurn: number,
  read: (part: readonly Item[]) => readonly Result[],
): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < items.length; first += perTurn) {
    // oxlint-disable-next-line no-await-in-loop
    if (first > 0) await new Promise(setImmediate);
    for (const result of read(items.slice(first, first + perTurn))) results.push(result);
  }
  return results;
}
