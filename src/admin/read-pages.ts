import type { Reader } from "../db";
import { listAllPages, type PageRow } from "../features/pages";

/** Reads all status pages in the order of the dashboard: the default page, then by name. */
export function readPages(reader: Reader): PageRow[] {
  return listAllPages(reader, {}).toSorted(
    (a, b) =>
      Number(b.isDefault) - Number(a.isDefault) ||
      a.name.localeCompare(b.name, "en") ||
      a.slug.localeCompare(b.slug, "en"),
  );
}
