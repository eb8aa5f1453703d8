import type { Reader } from "../../db/statements";
import { type ComponentRow, listComponentsOfPage, listGroups } from "../components/store";
import { findPageBySlug, listAllPages, type PageRow } from "../pages/store";

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

/** Returns the places of the pages' components in the file, and a comparison by them, with all others last. */
export function componentOrder(reader: Reader, pages: readonly PageRow[]) {
  const order = pages.flatMap((page) => componentsInOrder(reader, page));
  const ranks = new Map(order.map((id, index) => [id, index]));
  const rankOf = (id: string) => ranks.get(id) ?? order.length;
  return { ranks, compare: (a: string, b: string) => rankOf(a) - rankOf(b) };
}

/** Returns the ids of a page's components in the order of the file: those without a group first. */
function componentsInOrder(reader: Reader, { id: pageId }: PageRow): string[] {
  const byGroup = Map.groupBy(listComponentsOfPage(reader, { pageId }), ({ groupId }) => groupId);
  const groups = [null, ...listGroups(reader, { pageId }).map(({ id }) => id)];
  return groups.flatMap((group) => (byGroup.get(group) ?? []).map(({ id }) => id));
}
