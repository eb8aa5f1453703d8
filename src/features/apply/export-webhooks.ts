import type { Reader } from "../../db";
import type { PageRow } from "../pages";
import { declareWebhook, listStoredWebhooks } from "../webhooks";
import type { FileWebhook } from "./model";

/**
 * The webhooks of these pages as a file has them, oldest first, and with `every` those that are for every
 * page. A webhook of a page that is not in the file is left out.
 */
export function exportWebhooks(
  reader: Reader,
  pages: readonly PageRow[],
  { every }: { every: boolean },
): FileWebhook[] {
  const slugs = new Map(pages.map(({ id, slug }) => [id, slug]));
  return listStoredWebhooks(reader).flatMap(({ row }) => {
    const slug = row.pageId === null ? null : slugs.get(row.pageId);
    if (slug === undefined || (slug === null && !every)) return [];
    return [{ ref: row.ref, ...declareWebhook(row, slug) }];
  });
}
