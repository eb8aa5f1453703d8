import { COMPONENTS_PATH, componentsOfPagePath } from "../../../ui/frame/paths";
import type { PageRow } from "../../pages/store";

/** Screen that changes the order of components and groups. */
export const ORDER_PATH = `${COMPONENTS_PATH}/order`;

/** Returns the path of the form for a new component, in a group of the page if one is given. */
export function newComponentPath(slug: string, groupId?: string): string {
  return withPlace(`${COMPONENTS_PATH}/new`, slug, groupId);
}

/** Path of the form that adds several components. */
export const SEVERAL_PATH = `${COMPONENTS_PATH}/several`;

export function severalComponentsPath(slug: string): string {
  return withPlace(SEVERAL_PATH, slug);
}

function withPlace(path: string, page: string, group?: string): string {
  return `${path}?${new URLSearchParams({ page, ...(group === undefined ? {} : { group }) }).toString()}`;
}

export function newGroupPath(slug: string): string {
  return `${COMPONENTS_PATH}/groups/new?page=${encodeURIComponent(slug)}`;
}

/** Returns the breadcrumbs of a screen about the components of a page. */
export function componentCrumbs({ slug, name }: Pick<PageRow, "slug" | "name">) {
  return [{ href: componentsOfPagePath(slug), label: "Components" }, { label: name }];
}

/** Returns the path of the list of a page's components, with the row of a component or group as anchor. */
export function listPathOf(slug: string, id: string): string {
  return `${componentsOfPagePath(slug)}#${encodeURIComponent(id)}`;
}
