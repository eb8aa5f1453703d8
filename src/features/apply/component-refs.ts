import type { Reader } from "../../db";
import { type ComponentRow, listComponentsOfPage } from "../components";
import { findPageBySlug, listAllPages } from "../pages";

/**
 * Names of components in a file, by which monitors list additional ones: `page-slug/component-ref`,
 * or with a colon as in the API.
 */
export interface ComponentRefs {
  nameOf(id: string): string;
  /** Finds a component by its name, also with an earlier slug of the page. */
  find(name: string): string | undefined;
}

/** Reads the components of all pages. */
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

/** Returns the components of a page by its id, each page read once. */
export type ComponentsOf = (pageId: string) => readonly ComponentRow[];

export function createComponentsOf(reader: Reader): ComponentsOf {
  const lists = new Map<string, readonly ComponentRow[]>();
  return (pageId) => {
    const list = lists.get(pageId) ?? listComponentsOfPage(reader, { pageId });
    lists.set(pageId, list);
    return list;
  };
}
