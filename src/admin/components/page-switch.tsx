import type { PageRow } from "../../features/pages";
import { Button, FilterSelect } from "../../ui";
import { labelAmong } from "../page-choice";
import { COMPONENTS_PATH } from "../paths";

/** Which page's components are shown. Not asked where there is only one. */
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
