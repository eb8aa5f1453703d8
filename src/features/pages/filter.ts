import { Type } from "@sinclair/typebox";
import type { Reader } from "../../db";
import { invalidParameter } from "../../errors";
import { Text } from "../../kernel/schema";
import { findPageBySlugOrId } from "./service";

/** The query parameter by which a list is narrowed to one page. */
export const PageFilter = {
  page: Type.Optional(Text({ maxLength: 100, description: "A page's slug or id; else all." })),
};

/**
 * The id of the page that a list is narrowed to; undefined where it is not. Throws `invalid_request` if
 * there is no such page.
 */
export function readPageFilter(
  reader: Reader,
  { page }: { page?: string | undefined },
): string | undefined {
  if (page === undefined) return undefined;
  const found = findPageBySlugOrId(reader, page);
  if (!found) throw invalidParameter("page", "is no page's slug or id");
  return found.id;
}
