import { FilterSelect } from "../ui";
import { labelAmong, type Page } from "./page-choice";

/** The filter of a list by page: nothing where there is only one. Sends the page's slug as `page`. */
export function PageFilter({ pages, page }: { pages: readonly Page[]; page: Page | undefined }) {
  if (pages.length < 2) return null;
  return (
    <FilterSelect
      label="Page"
      name="page"
      options={[
        { value: "", label: "All pages" },
        ...pages.map((one) => ({ value: one.slug, label: labelAmong(pages, one) })),
      ]}
      value={page?.slug ?? ""}
    />
  );
}
