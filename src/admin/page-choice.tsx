import type { PageRow } from "../features/pages";
import type { Form } from "../http";
import { Button, HiddenFields, SelectField } from "../ui";

/** Columns of a page that a choice of pages needs. */
export type Page = Pick<PageRow, "id" | "slug" | "name" | "isDefault">;

const CHOOSE = "choose-page";

/**
 * Returns the page with a slug or id, else the default page, else the first. Undefined if there are
 * no pages.
 */
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

/**
 * Returns the label of a page among others: its name, followed by the slug if another page has the
 * same name.
 */
export function labelAmong(
  pages: readonly Pick<Page, "name">[],
  { name, slug }: Pick<Page, "name" | "slug">,
): string {
  const isShared = pages.filter((page) => page.name === name).length > 1;
  return isShared ? `${name} (${slug})` : name;
}

/** Page selection of a form with a `PageChoice`. */
export interface ChosenPage<P> {
  /** Selected page; undefined if the page no longer exists. */
  page: P | undefined;
  /**
   * True if the "Choose" button was pressed, so that the form must be shown again with the selected
   * page's components.
   */
  isChoosing: boolean;
  /**
   * True if the form was filled in for another page than the selected one, so that the user must
   * review it.
   */
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

/** Error of a form that was filled in for another page. */
export const OTHER_PAGE = "was changed. Below are its own components: look at them and send again";

interface PageChoiceProps {
  pages: readonly Page[];
  /** Page whose components the form shows. */
  page: Page;
  error?: string | undefined;
}

/**
 * Selects the page of a form; hidden if there is only one. A form submitted with another page is
 * shown again, so that users review that page's components. The button precedes the main one, so
 * the form needs `enter`.
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
