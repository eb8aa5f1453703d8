import type { PageRow } from "../features/pages";
import type { Form } from "../http";
import { Button, HiddenFields, SelectField } from "../ui";

/** What is asked of a page where one is chosen. */
export type Page = Pick<PageRow, "id" | "slug" | "name" | "isDefault">;

const CHOOSE = "choose-page";

/** The page of a slug or an id; else the default one, else the first. Undefined only where there is none. */
export function choosePage<P extends Page>(
  pages: readonly P[],
  asked: string | undefined,
): P | undefined {
  return (
    pages.find(({ id, slug }) => id === asked || slug === asked) ??
    pages.find((page) => page.isDefault) ??
    pages[0]
  );
}

/** What a page is called where others are: its name, with its slug where another has that too. */
export function labelAmong(
  pages: readonly Pick<Page, "name">[],
  { name, slug }: Pick<Page, "name" | "slug">,
): string {
  const isShared = pages.filter((page) => page.name === name).length > 1;
  return isShared ? `${name} (${slug})` : name;
}

/** What a form that shows a `PageChoice` says of its page. */
export interface ChosenPage<P> {
  /** Undefined where the page that it names is gone. */
  page: P | undefined;
  /** Whether nothing but another page was asked for: the form is to be shown again, with that one's components. */
  isChoosing: boolean;
  /** Whether the rest of the form was filled in for another page, so that it must be looked at again. */
  isOtherPage: boolean;
}

export function readPageChoice<P extends Page>(form: Form, pages: readonly P[]): ChosenPage<P> {
  const asked = form.text("page");
  const shown = form.text("shown_page");
  return {
    page: pages.find(({ id }) => id === asked),
    isChoosing: form.text("intent") === CHOOSE,
    isOtherPage: shown !== "" && shown !== asked,
  };
}

/** The complaint about a form that was filled in for another page. */
export const OTHER_PAGE = "was changed. Below are its own components: look at them and send again";

interface PageChoiceProps {
  pages: readonly Page[];
  /** The page whose components the form shows. */
  page: Page;
  error?: string | undefined;
}

/**
 * Which page a form is about. Not asked where there is only one. Choosing another shows the form again,
 * with what was typed and that page's components; sending it without does the same, so that nothing
 * reaches a page whose components were not seen. Its button comes before the main one: give the form `enter`.
 */
export function PageChoice({ pages, page, error }: PageChoiceProps) {
  if (pages.length === 1 && error === undefined) {
    return <HiddenFields values={{ page: page.id, shown_page: page.id }} />;
  }
  return (
    <div class="page-choice">
      <HiddenFields values={{ shown_page: page.id }} />
      <SelectField
        label="Page"
        name="page"
        options={pages.map((one) => ({ value: one.id, label: labelAmong(pages, one) }))}
        value={page.id}
        error={error}
      />
      <Button name="intent" value={CHOOSE}>
        Choose
      </Button>
    </div>
  );
}
