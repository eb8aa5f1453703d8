import type { Reader } from "../../db";
import { Text } from "../../kernel/schema";
import { findPageBySlug } from "../pages";
import { findComponentId, findMonitorId, findWebhookId } from "./store";

/** Longest reference that is looked up, in characters: a slug, a colon and a ref need 127. */
export const REFERENCE_MAX = 200;

/** Field of a body that names a component. */
export const ComponentReference = Text({
  minLength: 1,
  maxLength: REFERENCE_MAX,
  description: "A component's id, or its page's slug and its `ref`, such as `acme:checkout-api`.",
});

/**
 * Returns the id of the component that a reference names. A reference that names none is returned as it
 * is, so that looking it up fails as it does for an unknown id. A slug that the page had before counts.
 */
export function componentIdOf(reader: Reader, reference: string): string {
  return componentIdsOf(reader, [reference]).get(reference) ?? reference;
}

/** Returns the ids that `componentIdOf` returns for several references, by the references. */
export function componentIdsOf(
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
      const found = pageId === undefined ? undefined : findComponentId(reader, { pageId, ref });
      return [reference, found?.id ?? reference];
    }),
  );
}

/** Returns the id of the monitor that an id or a ref names; what names none is returned as it is. */
export function monitorIdOf(reader: Reader, reference: string): string {
  // No ref has the underscore of an id.
  return findMonitorId(reader, { ref: reference })?.id ?? reference;
}

/** Returns the id of the webhook that an id or a ref names; what names none is returned as it is. */
export function webhookIdOf(reader: Reader, reference: string): string {
  return findWebhookId(reader, { ref: reference })?.id ?? reference;
}
