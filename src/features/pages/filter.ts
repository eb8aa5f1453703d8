import { Type } from "@sinclair/typebox";
import type { Reader } from "../../db/statements";
import type { FieldErrors } from "../../base/validation";
import { invalidParameter } from "../../base/errors";
import { Text } from "../../base/schema";
import { findPageBySlugOrId } from "./pages";
import type { PageRow } from "./store";

const UNKNOWN_PAGE = "is not the slug or id of a page";

/** Query parameter that filters by a page. */
export const PageFilter = {
  page: Type.Optional(
    Text({ maxLength: 100, description: "A page's slug or id. Default: all pages." }),
  ),
};

/**
 * Returns the id of the page that the query parameter `page` names; undefined without the
 * parameter. Throws `invalid_request` for an unknown page.
 */
export function readPageFilter(
  reader: Reader,
  { page }: { page?: string | undefined },
): string | undefined {
  if (page === undefined) return undefined;
  const pageRow = findPageBySlugOrId(reader, page);
  if (!pageRow) throw invalidParameter("page", UNKNOWN_PAGE);
  return pageRow.id;
}

/** Returns the page that the field `page` of a body names. Adds an error if that page does not exist. */
export function findNamedPage(
  reader: Reader,
  errors: FieldErrors,
  slugOrId: string,
): PageRow | undefined {
  const page = findPageBySlugOrId(reader, slugOrId);
  if (!page) errors.add(["page"], UNKNOWN_PAGE);
  return page;
}
