import type { Reader } from "../../db";
import { listComponentsOfPage } from "../components";
import { findPageBySlug, listAllPages } from "../pages";

/**
 * Components as monitors name those that they watch besides their own: `page-slug/component-ref`, or with
 * a colon, as the API has it.
 */
export interface ComponentRefs {
  nameOf(id: string): string;
  /** The page also by a slug that it had before. */
  find(name: string): string | undefined;
}

/** Those of all pages, as they are now. */
export function readComponentRefs(reader: Reader): ComponentRefs {
  const names = new Map<string, string>();
  const ids = new Map<string, string>();
  for (const page of listAllPages(reader, {})) {
    for (const { id, ref } of listComponentsOfPage(reader, { pageId: page.id })) {
      names.set(id, `${page.slug}/${ref}`);
      ids.set(`${page.slug}/${ref}`, id);
    }
  }
  return {
    nameOf: (id) => names.get(id) ?? id,
    find(name) {
      const [slug = "", ref = ""] = name.split(/[/:]/);
      return (
        ids.get(`${slug}/${ref}`) ?? ids.get(`${findPageBySlug(reader, { slug })?.slug}/${ref}`)
      );
    },
  };
}
