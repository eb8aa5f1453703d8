import { invalidFields } from "../../../base/errors";
import { SUBSCRIBER_EVENTS, type SubscriberEvent } from "../../../base/mail-address";
import type { Reader } from "../../../db/statements";
import { wordsOf } from "../../../languages/words";
import { EVENT_LABELS } from "../../../public/subscription-form";
import { CheckboxList, CheckRows, ChoiceField, SelectField } from "../../../ui/choices";
import { TextArea } from "../../../ui/form";
import { textAreaField, textField } from "../../../ui/forms/fields";
import { defineForm, type Field, optional } from "../../../ui/forms/form";
import { choosableLanguages } from "../../pages/rules";
import { languageName } from "../../pages/screens/forms";
import type { PageRow } from "../../pages/store";
import { type Choosable, parseChoices, readChoosable } from "../choices";
import { NOTE_MAX } from "../subscribers";

/** Components and groups about which a person gets messages: all of the page, or the chosen ones. */
interface Selection {
  scope: "page" | "selection";
  targets: readonly string[];
}

/** Choices of a form. */
interface ChoicesBody {
  targets: Selection;
  events: readonly SubscriberEvent[];
  /** Tag of a language of the page; empty for that of the page. */
  language?: string;
}

/** Screen data of a form with choices. */
interface ChoicesContext {
  page: PageRow;
  choosable: Choosable;
}

export function readChoicesContext(reader: Reader, page: PageRow): ChoicesContext {
  return { page, choosable: readChoosable(reader, page.id) };
}

/** Number of components above which a form folds its groups. */
const UNFOLDED_MAX = 12;

/** Field with two inputs: `scope` is `page` or `selection` of `targets`. */
function selectionField(): Field<Selection, Selection, ChoicesContext> {
  return {
    label: "Messages about",
    initial: { scope: "page", targets: [] },
    read: (sent, name) => ({
      scope: sent.text("scope") === "selection" ? "selection" : "page",
      targets: sent.all(name),
    }),
    toBody: ({ scope, targets }) => ({
      scope,
      targets: scope === "page" ? [] : [...new Set(targets)].sort(),
    }),
    fromStored: (selection) => selection,
    Input({ name, value: { scope, targets }, errors, context: { choosable } }) {
      const chosen = new Set(targets);
      const optionOf = ({ id, name: label }: { id: string; name: string }, hint?: string) => ({
        value: id,
        label,
        ...(hint === undefined ? {} : { hint }),
        isChecked: chosen.has(id),
      });
      const byGroup = Map.groupBy(choosable.components, ({ groupId }) => groupId);
      const parts = [
        { key: "", options: (byGroup.get(null) ?? []).map((one) => optionOf(one)) },
        ...choosable.groups.map((group) => ({
          key: group.id,
          title: group.name,
          options: [
            optionOf({ ...group, name: `All of ${group.name}` }, "Also components added later"),
            ...(byGroup.get(group.id) ?? []).map((one) => optionOf(one)),
          ],
        })),
      ].filter(({ options }) => options.length > 0);
      return (
        <ChoiceField
          legend="Messages about"
          name="scope"
          options={[
            { value: "page", label: "Everything on the page" },
            { value: "selection", label: "Selected components" },
          ]}
          value={scope}
        >
          <CheckRows
            legend="Components"
            name={name}
            error={errors[name]}
            parts={parts}
            isFolded={choosable.components.length > UNFOLDED_MAX}
          />
        </ChoiceField>
      );
    },
  };
}

const eventsField: Field<readonly string[], readonly SubscriberEvent[]> = {
  label: "Kinds of messages",
  initial: ["incidents", "maintenance"],
  read: (sent, name) => sent.all(name),
  toBody: (typed) => SUBSCRIBER_EVENTS.filter((event) => typed.includes(event)),
  fromStored: (events) => events,
  Input: ({ name, value, errors }) => (
    <CheckboxList
      legend="Kinds of messages"
      name={name}
      error={errors[name]}
      options={SUBSCRIBER_EVENTS.map((event) => ({
        value: event,
        label: EVENT_LABELS[event],
        isChecked: value.includes(event),
      }))}
    />
  ),
};

/** Field for the language of the mails, on pages with several. */
function languageField(): Field<string, string, ChoicesContext> {
  const label = "Language";
  return {
    label,
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed,
    fromStored: (language) => language,
    Input: ({ name, value, errors, context: { page } }) =>
      choosableLanguages(page).length === 0 ? null : (
        <SelectField
          label={label}
          name={name}
          options={[
            { value: "", label: "That of the page" },
            ...choosableLanguages(page).map((tag) => ({ value: tag, label: languageName(tag) })),
          ]}
          value={value}
          error={errors[name]}
        />
      ),
  };
}

const CHOICE_FIELDS = {
  targets: selectionField(),
  events: eventsField,
  language: optional(languageField()),
};

/** Form for the choices of a subscriber. */
export const CHOICES_FORM = defineForm<ChoicesBody, ChoicesContext>()(CHOICE_FIELDS);

/** Form for a new subscriber. */
export const ADD_FORM = defineForm<ChoicesBody & { email: string }, ChoicesContext>()({
  email: textField({
    label: "E-mail",
    type: "email",
    hint: "The person gets a mail with a link. The subscription begins when the person confirms.",
    isRequired: true,
  }),
  ...CHOICE_FIELDS,
});

/** Returns the choices of a form. Throws `validation_failed`. */
export function choicesOfBody(
  { targets: { scope, targets }, events, language = "" }: ChoicesBody,
  { choosable, page }: ChoicesContext,
) {
  const components = targets.filter((id) => !id.startsWith("grp_"));
  const groups = targets.filter((id) => id.startsWith("grp_"));
  const parsed = parseChoices({ scope, components, groups, events, language }, choosable, {
    needsEvents: true,
    languages: choosableLanguages(page),
  });
  if ("choices" in parsed) return parsed.choices;
  throw invalidFields(
    Object.entries(parsed.errors).map(([name, key]) => ({
      pointer: name === "events" ? "#/events" : "#/targets",
      detail: wordsOf("en").t(key),
    })),
  );
}

/** Form that ends a suppression. The person's words are needed for some reasons only. */
export const REACTIVATE_FORM = defineForm<{ request: string }, { needsWords: boolean }>()({
  request: {
    ...textAreaField({ label: "The person’s request" }),
    Input: ({ name, value, errors, context: { needsWords } }) =>
      needsWords ? (
        <TextArea
          label="The person’s request"
          hint="In the person’s own words. It is kept in the activity."
          name={name}
          value={value}
          error={errors[name]}
          rows={3}
          maxlength={NOTE_MAX}
          required
        />
      ) : null,
  },
});

/** Form that blocks an address. */
export const BLOCK_FORM = defineForm<{ note: string }>()({
  note: textAreaField({
    label: "Reason",
    hint: "Optional, for your team.",
    rows: 2,
    maxlength: NOTE_MAX,
  }),
});
