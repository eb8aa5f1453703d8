import type { Reader } from "../db";
import { listAllPages, type PageRow } from "../features/pages";

/** Every status page, in the order in which screens list them: the default one, then by name. */
export function readPages(reader: Reader): PageRow[] {
  return listAllPages(reader, {}).toSorted(
    (a, b) =>
      Number(b.isDefault) - Number(a.isDefault) ||
      a.name.localeCompare(b.name, "en") ||
      a.slug.localeCompare(b.slug, "en"),
  );
}
