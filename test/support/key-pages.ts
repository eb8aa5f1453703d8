import type { Reader } from "../../src/db/statements";
import { type KeyListing, listKeyPage } from "../../src/features/keys/records";
import { atOnce } from "./turns";

/** Lists all keys that match a query by following its pages. */
export function listEveryKey(
  reader: Reader,
  query: Omit<Parameters<typeof listKeyPage>[1], "before">,
): KeyListing[] {
  const found: KeyListing[] = [];
  let before: string | undefined;
  do {
    const page = atOnce(listKeyPage(reader, { ...query, before }));
    found.push(...page.keys);
    before = page.nextBefore ?? undefined;
  } while (before !== undefined);
  return found;
}
