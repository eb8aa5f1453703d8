import { FilterSelect } from "../ui";
import { labelAmong, type Page } from "./page-choice";

/** Filter of a list by page, submitted as slug in `page`. Hidden if there is only one page. */
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
