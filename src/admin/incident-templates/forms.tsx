import type { Reader } from "../../db/statements";
import { OPEN_INCIDENT_STATUSES } from "../../domain/incident-status";
import { NAME_MAX } from "../../domain/texts";
import { TEMPLATE_NAME_MAX, type TemplateInput } from "../../features/incident-templates/model";
import type { TemplateRecord } from "../../features/incident-templates/records";
import type { PageRow } from "../../features/pages/store";
import type { Form as SentForm } from "../../http/form-body";
import { INCIDENT_WORDS } from "../../public/words";
import { Button } from "../../ui/buttons";
import { HiddenFields } from "../../ui/form";
import { SelectField } from "../../ui/selects";
import { choiceField } from "../forms/choice-fields";
import { type PageComponents, readPageComponents } from "../forms/components-field";
import { type Field, InvalidInput, nullable } from "../forms/field";
import { defineForm } from "../forms/form";
import { CHOOSE_PAGE, OTHER_PAGE } from "../forms/page-field";
import { messageField, textField } from "../forms/text-fields";
import { componentStatusesField } from "../incidents/component-statuses";
import { impactField } from "../incidents/forms";
import { labelAmong, readPages } from "../page-choice";

/** Screen data of the form: the page whose components it shows; null for all pages. */
interface TemplateContext extends PageComponents {
  pages: readonly PageRow[];
  page: PageRow | null;
}

interface TypedPage {
  /** Id of the selected page; empty for all pages. */
  selected: string;
  /** Id of the page that the form was rendered for; empty for all pages. */
  shown: string;
}

const [FIRST_STATUS] = OPEN_INCIDENT_STATUSES;

/**
 * Form for a new template and for a stored one. The button for the page precedes the main button, so
 * it needs `enter`.
 */
export const TEMPLATE_FORM = defineForm<TemplateInput, TemplateContext>()({
  name: textField({
    label: "Template name",
    hint: "Shown on its button. Visitors never see it.",
    maxlength: TEMPLATE_NAME_MAX,
    isRequired: true,
  }),
  page: templatePageField(),
  title: textField({
    label: "Incident name",
    hint: "A short summary for visitors, such as “Checkout fails for some cards”.",
    maxlength: NAME_MAX,
    isRequired: true,
  }),
  components: templateComponentsField(),
  body: messageField({ label: "First message", hint: "Markdown." }),
  status: {
    ...choiceField({
      label: "Status",
      initial: FIRST_STATUS,
      options: OPEN_INCIDENT_STATUSES.map((value) => ({ value, label: INCIDENT_WORDS[value] })),
    }),
    read: (sent: SentForm, name: string) => sent.text(name) || FIRST_STATUS,
  },
  impact_override: nullable(impactField),
});

/** Reads the screen data of a form that shows the components of a page. */
export function readFormContext(
  reader: Reader,
  slugOrId: string | null | undefined,
): TemplateContext {
  // The sample page has no templates, since it is deleted with the first page.
  const pages = readPages(reader).filter(({ isSample }) => !isSample);
  const page = pages.find(({ id, slug }) => id === slugOrId || slug === slugOrId) ?? null;
  const none: PageComponents = { components: [], groups: [] };
  return { pages, page, ...(page ? readPageComponents(reader, page.id) : none) };
}

/** Returns the form values of a stored template. */
export function storedValues({ row, components }: TemplateRecord) {
  return {
    name: row.name,
    page: row.pageId,
    title: row.title,
    components: Object.fromEntries(components),
    body: row.body,
    status: row.status,
    impact_override: row.impactOverride,
  };
}

const CLONE_PREFIX = "Copy of ";

/** Returns the name of a copy, cut to the maximum length. */
export function nameOfClone(name: string): string {
  return [...`${CLONE_PREFIX}${name}`].slice(0, TEMPLATE_NAME_MAX).join("");
}

/**
 * Field for the page of a template, or all pages. A form submitted with another page than it was
 * rendered for is shown again, so that users review that page's components.
 */
function templatePageField(): Field<TypedPage, string | null, TemplateContext> {
  return {
    label: "Page",
    initial: { selected: "", shown: "" },
    read: (sent, name) => ({ selected: sent.text(name), shown: sent.text("shown_page") }),
    toBody({ selected, shown }) {
      if (selected === "") return null;
      return shown !== "" && shown !== selected ? new InvalidInput(OTHER_PAGE) : selected;
    },
    fromStored: (id) => ({ selected: id ?? "", shown: id ?? "" }),
    Input: ({ name, errors, context: { pages, page } }) => (
      <div class="page-choice">
        <HiddenFields values={{ shown_page: page?.id ?? "" }} />
        <SelectField
          label="Page"
          isSubmitting
          name={name}
          options={[
            { value: "", label: "All pages" },
            ...pages.map((one) => ({ value: one.id, label: labelAmong(pages, one) })),
          ]}
          value={page?.id ?? ""}
          error={errors[name]}
        />
        <Button name="intent" value={CHOOSE_PAGE}>
          Show components
        </Button>
      </div>
    ),
  };
}

/** Field for the statuses of components, with a sentence in its place for all pages. */
function templateComponentsField() {
  const field = componentStatusesField({ unchanged: "Not affected" });
  return {
    ...field,
    Input(props: Parameters<typeof field.Input>[0] & { context: TemplateContext }) {
      const { name, errors, context } = props;
      if (context.components.length > 0 || name in errors) return field.Input(props);
      return (
        <p class="muted">
          {context.page
            ? "The page has no components yet, so the template sets no component statuses."
            : "A template for all pages sets no component statuses."}
        </p>
      );
    },
  };
}
