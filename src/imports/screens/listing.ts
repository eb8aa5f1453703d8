import type { ImportItem, ImportReport, Verdict } from "../../base/import-report";
import { withQuery } from "../../ui/frame/paths";
import { byVerdict, VERDICT_ORDER } from "./verdicts";

/** Maximum number of objects on one screen. */
const ITEMS_MAX = 250;

type Query = Readonly<Record<string, string | undefined>>;

/** Objects of a plan or a report that a screen shows. */
export interface ItemListing {
  /** Path of the screen without filters. */
  home: string;
  verdict: Verdict | undefined;
  /** Kind of objects in the words of the source. */
  type: string | undefined;
  /** All kinds in the report. */
  types: readonly string[];
  /** Numbers of objects of the kind by verdict, and of all of them. */
  counts: ReadonlyMap<Verdict, number>;
  total: number;
  items: readonly ImportItem[];
  /** Number of matching objects, and of those before the shown ones. */
  matching: number;
  from: number;
}

/** Returns the part of a report that a query asks for. Invalid filters are ignored. */
export function listItems({ items }: ImportReport, home: string, query: Query): ItemListing {
  const types = [...new Set(items.map(({ foreign }) => foreign.type))];
  const type = types.find((each) => each === query["type"]);
  const ofType = type === undefined ? items : items.filter(({ foreign }) => foreign.type === type);
  const counts = new Map<Verdict, number>();
  for (const { verdict } of ofType) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const verdict = VERDICT_ORDER.find((each) => each === query["verdict"]);
  const matching =
    verdict === undefined ? ofType : ofType.filter((item) => item.verdict === verdict);
  const asked = /^\d{1,6}$/.test(query["from"] ?? "") ? Number(query["from"]) : 0;
  const from = asked < matching.length ? asked : 0;
  return {
    home,
    verdict,
    type,
    types,
    counts,
    total: ofType.length,
    items: matching.toSorted(byVerdict).slice(from, from + ITEMS_MAX),
    matching: matching.length,
    from,
  };
}

/** Returns the path of a list with the same filters, except changed ones, from its beginning. */
export function itemsPath(
  { home, verdict, type }: ItemListing,
  changed: { verdict?: Verdict | undefined; type?: string | undefined; from?: number } = {},
): string {
  const { from, ...filters } = { verdict, type, ...changed };
  return withQuery(home, { ...filters, from: from === undefined ? undefined : String(from) });
}

/** Returns the path of the next part; undefined at the end. */
export function nextPath(list: ItemListing): string | undefined {
  const next = list.from + list.items.length;
  return next < list.matching ? itemsPath(list, { from: next }) : undefined;
}
