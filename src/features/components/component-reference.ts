import type { Reader } from "../../db";
import { Text } from "../../kernel/schema";
import { findPageBySlug } from "../pages";
import { findComponentByRef } from "./store";

/**
 * Longest reference that is accepted, in characters. The longest one that can name something has 127; a
 * longer text within the limit is refused as an unknown object, not for its length.
 */
export const REFERENCE_MAX = 200;

/** Field of a body that names a component. */
export const ComponentReference = Text({
  minLength: 1,
  maxLength: REFERENCE_MAX,
  description: "A component's id, or its page's slug and its `ref`, such as `acme:checkout-api`.",
});

/**
 * Returns the id of the component that a reference names: an id, or `<page slug>:<ref>`, also with an
 * earlier slug of the page. An unknown reference is returned unchanged, so that looking it up fails as for
 * an unknown id.
 */
export function resolveComponentId(reader: Reader, reference: string): string {
  return resolveComponentIds(reader, [reference]).get(reference) ?? reference;
}

/** Returns the ids that `resolveComponentId` returns for several references, by reference. */
export function resolveComponentIds(
  reader: Reader,
  references: readonly string[],
): ReadonlyMap<string, string> {
  const pageIds = new Map<string, string | undefined>();
  const pageIdOf = (slug: string) => {
    if (!pageIds.has(slug)) pageIds.set(slug, findPageBySlug(reader, { slug })?.id);
    return pageIds.get(slug);
  };
  return new Map(
    references.map((reference) => {
      const colon = reference.indexOf(":");
      // No id has a colon.
      const pageId = colon < 0 ? undefined : pageIdOf(reference.slice(0, colon));
      const ref = reference.slice(colon + 1);
      const found = pageId === undefined ? undefined : findComponentByRef(reader, { pageId, ref });
      return [reference, found?.id ?? reference];
    }),
  );
}
