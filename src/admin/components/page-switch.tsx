import type { PageRow } from "../../features/pages";
import { Button, FilterSelect } from "../../ui";
import { labelAmong } from "../page-choice";
import { COMPONENTS_PATH } from "../paths";

/** Selects the page whose components are listed. Hidden if there is only one page. */
export function PageSwitch(props: {
  pages: readonly Pick<PageRow, "slug" | "name">[];
  slug: string;
}) {
  if (props.pages.length < 2) return null;
  return (
    <form class="search" method="get" action={COMPONENTS_PATH}>
      <FilterSelect
        label="Page"
        name="page"
        options={props.pages.map((page) => ({
          value: page.slug,
          label: labelAmong(props.pages, page),
        }))}
        value={props.slug}
      />
      <Button>Show</Button>
    </form>
  );
}
