import { RadioList, SelectField, TextArea, TextField } from "../../ui";
import type { Wording } from "../field-errors";
import { NameField } from "../name-field";
import { PAGE_LABELS, type PageValues } from "./values";

/** Properties of the fields in a page's forms: values and errors. */
interface FieldsProps {
  values: PageValues;
  wrong: Wording;
}

export function PageNameField({ values, wrong }: FieldsProps) {
  return (
    <NameField
      value={values.name}
      hint="The heading of the page, such as Acme Status."
      wrong={wrong}
    />
  );
}

export function SlugField({ values, wrong, isNew }: FieldsProps & { isNew?: boolean }) {
  return (
    <TextField
      label={PAGE_LABELS.slug}
      name="slug"
      value={values.slug}
      hint={`End of the page’s address: /status/slug. Lower-case letters, digits and hyphens.${
        isNew ? " If left empty, the slug is made from the name." : ""
      }`}
      error={wrong.about("slug")}
      maxlength={63}
      autocomplete="off"
      {...(isNew ? { slugOf: "name" } : { required: true })}
    />
  );
}

export function DescriptionField({ values, wrong }: FieldsProps) {
  return (
    <TextArea
      label={PAGE_LABELS.description}
      name="description"
      value={values.description}
      hint="Optional. A sentence below the heading, such as the owner and the services covered."
      error={wrong.about("description")}
      rows={3}
    />
  );
}

const VISIBILITY_CHOICES = [
  { value: "public", label: "Everybody", hint: "Anyone who knows the address can read the page." },
  {
    value: "private",
    label: "Signed-in users",
    hint: "Everyone else gets “not found”. The page's feeds, badges and custom domains are off.",
  },
];

export function VisibilityField({ values, wrong }: FieldsProps) {
  return (
    <RadioList
      legend={PAGE_LABELS.visibility}
      name="visibility"
      options={VISIBILITY_CHOICES}
      value={values.visibility}
      error={wrong.about("visibility")}
    />
  );
}

export function TimeZoneField({ values, wrong }: FieldsProps) {
  return (
    <TextField
      label={PAGE_LABELS.time_zone}
      name="time_zone"
      value={values.time_zone}
      hint="Such as Europe/Berlin. The page shows times in this zone; days and uptime are counted in UTC."
      error={wrong.about("time_zone")}
      suggestions={["UTC", ...Intl.supportedValuesOf("timeZone")]}
      autocomplete="off"
      required
    />
  );
}

export function LocaleField({ values, wrong }: FieldsProps) {
  return (
    <TextField
      label={PAGE_LABELS.locale}
      name="locale"
      value={values.locale}
      hint="A language tag, such as en or pt-BR: how dates are written, and what screen readers read in."
      error={wrong.about("locale")}
      autocomplete="off"
      isShort
      required
    />
  );
}

export function HistoryField({ values, wrong }: FieldsProps) {
  return (
    <TextField
      label={PAGE_LABELS.history_days}
      name="history_days"
      value={values.history_days}
      hint="How far back the bars of the components reach: 30 to 365 days."
      error={wrong.about("history_days")}
      inputmode="numeric"
      autocomplete="off"
      isShort
      required
    />
  );
}

export const THEME_CHOICES = [
  { value: "system", label: "As the reader’s device" },
  { value: "light", label: "Always light" },
  { value: "dark", label: "Always dark" },
];

export function ThemeField({ values, wrong }: FieldsProps) {
  return (
    <SelectField
      label={PAGE_LABELS.theme}
      name="theme"
      options={THEME_CHOICES}
      value={values.theme}
      error={wrong.about("theme")}
    />
  );
}

export function AccentField({ values, wrong }: FieldsProps) {
  return (
    <TextField
      label={PAGE_LABELS.accent}
      name="accent"
      value={values.accent}
      hint="Optional, such as #0b6b53. Links use this colour in the themes in which it is readable."
      error={wrong.about("accent")}
      autocomplete="off"
      isShort
    />
  );
}
