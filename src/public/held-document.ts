import type { Ctx } from "../context";
import type { Snapshot } from "../features/status/snapshot";
import type { Representation } from "../http/representation";
import { RESULTS_CACHE } from "../http/cdn";
import { makeInSlices } from "../base/in-slices";
import { SECOND_MS } from "../base/time";
import { jsonRepresentation } from "./answers";

/** Time for which results of an unchanged page are sent again. */
const HOLD_MS = 15 * SECOND_MS;
/** Number of cached variants of one page's document. */
const VARIANTS_MAX = 10;

/** One making of a document. */
interface Making<Query> {
  snapshot: Snapshot;
  query: Query;
  until: number;
}

/**
 * Returns a function to a JSON document that also shows results of checks, which change without the page. It is
 * made in slices, for each query, and again after 15 seconds.
 */
export function holdDocument<Query>(
  ctx: Ctx,
  make: (snapshot: Snapshot, query: Query) => Generator<number, unknown>,
): (snapshot: Snapshot, query: Query) => Representation | Promise<Representation> {
  const makings = new WeakMap<Snapshot, Map<string, Making<Query>>>();
  const documentOf = makeInSlices(function* ({ snapshot, query }: Making<Query>) {
    return jsonRepresentation(yield* make(snapshot, query), RESULTS_CACHE);
  });
  return (snapshot, query) => {
    const now = ctx.clock.now();
    let variants = makings.get(snapshot);
    if (!variants) makings.set(snapshot, (variants = new Map()));
    const name = JSON.stringify(query);
    let making = variants.get(name);
    if (!making || now >= making.until) {
      const [oldest] = variants.keys();
      if (variants.size >= VARIANTS_MAX && oldest !== undefined) variants.delete(oldest);
      making = { snapshot, query, until: now + HOLD_MS };
      variants.set(name, making);
    }
    return documentOf(making);
  };
}
