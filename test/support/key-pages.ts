import type { Reader } from "../../src/db";
import { type KeyListing, type KeyQuery, listKeyPage } from "../../src/features/keys";

/** All keys that a query lets through, by way of every page, in the order of the pages. */
export function listEveryKey(reader: Reader, query: Omit<KeyQuery, "before">): KeyListing[] {
  const found: KeyListing[] = [];
  let before: string | undefined;
  do {
    const page = listKeyPage(reader, { ...query, before });
    found.push(...page.keys);
    before = page.nextBefore ?? undefined;
  } while (before !== undefined);
  return found;
}
