import type { Reader } from "../../db/statements";
import type { PageRow } from "../../features/pages/store";
import type { Form as SentForm } from "../../http/form-body";
import { sessionOf } from "../../http/request-context";
import { Button } from "../buttons";
import { SelectField } from "../choices";
import { HiddenFields } from "../form";
import { choosePage, labelAmong, NoPageYet, type Page, readPages } from "../frame/page-choice";
import { type At, ShowInstead } from "../screens/routes";
import { type Field, InvalidInput } from "./form";

/** Screen data of a form with a page: all pages, and the page whose components the form shows. */
export interface PageContext {
  pages: readonly Page[];
  page: PageRow;
}

export interface TypedPage {
  /** Id of the selected page; empty for all pages. */
  selected: string;
  /** Id of the page that the form was rendered for; empty if the form has no such input. */
  shown: string;
}

/** Value of the button that shows a form again for the selected page. */
const CHOOSE_PAGE = "choose-page";

/** Error of a form that was rendered for another page than the selected one. */
export const OTHER_PAGE =
  "was changed. The components below are those of the new page: check them, then submit the form again";

/**
 * Field for the page of a new object; hidden if there is only one page. A form submitted with
 * another page than it was rendered for is shown again, so that users review that page's
 * components. The field has a button of its own, so the form needs `enter`.
 */
export function pageField(): Field<TypedPage, string, PageContext> {
  return {
    label: "Page",
    initial: { selected: "", shown: "" },
    read: (sent, name) => ({ selected: sent.text(name), shown: sent.text("shown_page") }),
    toBody({ selected, shown }, { page }) {
      const isOther = page.id !== selected || (shown !== "" && shown !== selected);
      return isOther ? new InvalidInput(OTHER_PAGE) : selected;
    },
    fromStored: (id) => ({ selected: id, shown: id }),
    isPressed: isChoosingPage,
    Input({ name, errors, context: { pages, page } }) {
      const error = errors[name];
      if (pages.length === 1 && error === undefined) {
        return <HiddenFields values={{ [name]: page.id, shown_page: page.id }} />;
      }
      return <PageSelect {...{ name, pages, error }} selected={page.id} />;
    },
  };
}

interface PageSelectProps {
  name: string;
  pages: readonly Page[];
  /** Id of the page that the form is rendered for; empty for all pages. */
  selected: string;
  /** Label of the option for all pages. */
  all?: string;
  error: string | undefined;
}

/** Select of a page, with the button that shows the form again for it. */
export function PageSelect({ name, pages, selected, all, error }: PageSelectProps) {
  return (
    <div class="page-choice">
      <HiddenFields values={{ shown_page: selected }} />
      <SelectField
        label="Page"
        isSubmitting
        name={name}
        options={[
          ...(all === undefined ? [] : [{ value: "", label: all }]),
          ...pages.map((page) => ({ value: page.id, label: labelAmong(pages, page) })),
        ]}
        value={selected}
        error={error}
      />
      <Button name="intent" value={CHOOSE_PAGE}>
        Show components
      </Button>
    </div>
  );
}

/** Returns true if the button was pressed that shows a form again for the selected page. */
export function isChoosingPage(sent: SentForm): boolean {
  return sent.text("intent") === CHOOSE_PAGE;
}

/**
 * Reads the data of a `pageField`: the page of the submitted form, else of the query `page`, else
 * the default page. Shows a screen titled `title` that leads to the first page if there is none.
 */
export function readPageContext(
  reader: Reader,
  { sent, query, requestContext }: At<string>,
  title: string,
): PageContext {
  const pages = readPages(reader);
  const page = choosePage(pages, sent?.text("page") ?? query["page"]);
  if (page) return { pages, page };
  const { role } = sessionOf(requestContext).user;
  throw new ShowInstead({ title, children: <NoPageYet title={title} role={role} /> });
}
