import type { Reader } from "../../db";
import { notFound } from "../../errors";
import { listComponentsOfPage, listGroups, listNamedCausesOfPage } from "../../features/components";
import { findPageBySlugOrId, type PageRow } from "../../features/pages";
import { choosePage } from "../page-choice";
import { readPages } from "../read-pages";
import type { ComponentListing } from "./list";
import { sequenceOf } from "./sequence";
import type { NamedCause } from "./cause-list";

/**
 * The page that an address asks for; without one the default page. Undefined only where there is none
 * at all. Throws `not_found` for a page that is not there.
 */
export function readPage(reader: Reader, asked: string | undefined): PageRow | undefined {
  if (asked === undefined) return choosePage(readPages(reader), undefined);
  const page = findPageBySlugOrId(reader, asked);
  if (!page) throw notFound("page");
  return page;
}

/** What stands on a page, in its order, with what marks it now. */
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

/** What marks one component now. */
export function readCauses(reader: Reader, row: { id: string; pageId: string }): NamedCause[] {
  const causes = listNamedCausesOfPage(reader, { pageId: row.pageId });
  return causes.filter(({ cause }) => cause.componentId === row.id);
}

/** The order of a page as it is. */
export function readSequence(reader: Reader, pageId: string): string[] {
  return sequenceOf(listGroups(reader, { pageId }), listComponentsOfPage(reader, { pageId }));
}
