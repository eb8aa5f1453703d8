import { notFound } from "../../../base/errors";
import type { Reader } from "../../../db/statements";
import { choosePage, readPages } from "../../../ui/frame/page-choice";
import { COMPONENTS_PATH } from "../../../ui/frame/paths";
import { type At, ShowInstead } from "../../../ui/screens/routes";
import { findPageBySlugOrId } from "../../pages/pages";
import type { PageRow } from "../../pages/store";
import { listNamedCausesOfPage } from "../cause-store";
import { listComponentsOfPage, listGroups } from "../store";
import type { NamedCause } from "./detail";
import { type ComponentListing, sequenceOf } from "./list";

/**
 * Returns the page with a slug, or the default page without one; undefined if no page exists.
 * Throws `not_found` for an unknown slug.
 */
export function readPage(reader: Reader, slugOrId: string | undefined): PageRow | undefined {
  if (slugOrId === undefined) return choosePage(readPages(reader), undefined);
  const page = findPageBySlugOrId(reader, slugOrId);
  if (!page) throw notFound("page");
  return page;
}

/** Reads the page that a new component or group is added to. Redirects to the list without a page. */
export function readPageOfNew(
  reader: Reader,
  { sent, query }: Pick<At<string>, "sent" | "query">,
): { page: PageRow } {
  const page = readPage(reader, sent?.text("page") ?? query["page"]);
  if (!page) throw new ShowInstead({ path: COMPONENTS_PATH });
  return { page };
}

/** Returns the groups and components of a page, in page order, with their open causes. */
export function readListing(reader: Reader, pageId: string): ComponentListing {
  return {
    groups: listGroups(reader, { pageId }),
    components: listComponentsOfPage(reader, { pageId }),
    causes: Map.groupBy(
      listNamedCausesOfPage(reader, { pageId }),
      ({ cause }) => cause.componentId,
    ),
  };
}

/** Returns the open causes of one component. */
export function readCauses(reader: Reader, row: { id: string; pageId: string }): NamedCause[] {
  const causes = listNamedCausesOfPage(reader, { pageId: row.pageId });
  return causes.filter(({ cause }) => cause.componentId === row.id);
}

/** Returns the stored order of a page. */
export function readSequence(reader: Reader, pageId: string): string[] {
  return sequenceOf(listGroups(reader, { pageId }), listComponentsOfPage(reader, { pageId }));
}
