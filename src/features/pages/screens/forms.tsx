import { COMPAT_PRODUCTS, type CompatProduct } from "../../../base/compat";
import { lazy } from "../../../base/lazy";
import { toRef } from "../../../base/text";
import { LANGUAGES, LANGUAGES_MAX } from "../../../languages/tags";
import { CheckboxList } from "../../../ui/choices";
import { TextArea, TextField } from "../../../ui/form";
import {
  checkboxField,
  choiceField,
  descriptionField,
  integerField,
  nameField,
  selectField,
  textField,
  timeZoneField,
} from "../../../ui/forms/fields";
import {
  defineForm,
  type Field,
  InvalidInput,
  nullable,
  optional,
  versionInput,
} from "../../../ui/forms/form";
import { namesField } from "../../components/screens/forms";
import { DOMAINS_MAX, toDomain } from "../addresses";
import { JOIN_MINUTES } from "../rules";
import type { PageRow } from "../store";
import type { PageInput } from "../wire";

interface NewPageContext {
  /** True if an own page exists, so that a default page is already chosen. */
  hasPages: boolean;
}

const SLUG_HINT =
  "End of the page’s address: /status/slug. Lower-case letters, digits and hyphens.";

/** Field for the slug of a page. */
function slugField(
  options: { hint?: string; slugOf?: string; isRequired?: boolean } = {},
): Field<string, string> {
  return {
    ...textField({ label: "Slug", maxlength: 63, hint: SLUG_HINT, ...options }),
    toBody: (typed) => typed.trim().toLowerCase(),
    showError: ({ detail }) => ({
      detail: isPattern(detail)
        ? "must be at most 63 lower-case letters, digits and hyphens, and must not start or end with a hyphen"
        : detail,
    }),
  };
}

/** Field for the slug of a new page, which is made from the name if it is left empty. */
function newSlugField(): Field<string, string> {
  return {
    ...slugField({
      hint: `${SLUG_HINT} If empty, the slug is made from the name.`,
      slugOf: "name",
    }),
    read: (sent, name) => sent.text(name).trim() || toRef(sent.text("name")),
  };
}

/** Field for a colour, to which a missing `#` is added. */
function accentField(): Field<string, string> {
  return {
    ...textField({
      label: "Accent colour",
      hint: "Optional. Colour of links, such as #0b6b53. Not used in a theme in which it would be hard to read.",
      isShort: true,
    }),
    toBody(typed) {
      const colour = typed.trim().toLowerCase();
      return colour.startsWith("#") ? colour : `#${colour}`;
    },
    showError: ({ detail }) => ({
      detail: isPattern(detail) ? "must be # and six hexadecimal digits, such as #0b6b53" : detail,
    }),
  };
}

/** Field that makes a new page the default one; hidden for the first page, which always is. */
function defaultField(): Field<boolean, boolean, NewPageContext> {
  const field = checkboxField({
    label: "Default page",
    hint: "Show this page at / instead of the current default page.",
  });
  return {
    ...field,
    Input: (props) => (props.context.hasPages ? <field.Input {...props} /> : null),
  };
}

/** Field for host names, one a line. Commas and white space separate them as well. */
function domainsField(): Field<string, string[]> {
  const label = "Host names";
  const hostsOf = (typed: string) =>
    typed
      .split(/[\s,]+/)
      .filter((host) => host !== "")
      .map((host) => toDomain(host) ?? host);
  return {
    label,
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: hostsOf,
    fromStored: (domains) => domains.join("\n"),
    showError({ pointer, detail }, typed) {
      const index = /^#\/custom_domains\/(\d+)$/.exec(pointer)?.[1];
      if (index !== undefined) {
        return { detail: `“${hostsOf(typed)[Number(index)]}” ${detail}.` };
      }
      return { detail: isPattern(detail) ? `must be at most ${DOMAINS_MAX}` : detail };
    },
    Input: ({ name, value, errors }) => (
      <TextArea
        label={label}
        name={name}
        value={value}
        hint="One per line, such as status.example.com; at most 10. Each shows only this page, at /. Point its DNS record to this server. Links use the first."
        error={errors[name]}
        rows={3}
      />
    ),
  };
}

const COMPAT_OPTIONS: Readonly<Record<CompatProduct, { label: string; hint: string }>> = {
  "uptime-kuma": {
    label: "Uptime Kuma",
    hint: "Such as the widget uptimekuma of Homepage, and badges in README files.",
  },
  gatus: {
    label: "Gatus",
    hint: "Such as the widget gatus of Homepage, and other instances of Gatus.",
  },
};

/** Field for the products in whose formats a page can be read. */
function compatField(): Field<readonly string[], CompatProduct[]> {
  const label = "Clients";
  return {
    label,
    initial: [],
    read: (sent, name) => sent.all(name),
    // More than all products hold an unknown or repeated one; thousands would be slow to report.
    toBody: (typed) => typed.slice(0, COMPAT_PRODUCTS.length + 1) as CompatProduct[],
    fromStored: (products) => products,
    Input: ({ name, value, errors }) => (
      <CheckboxList
        legend={label}
        name={name}
        hint="Programs that were made for these products can read the page. They see nothing that visitors of the page do not see."
        error={errors[name]}
        options={COMPAT_PRODUCTS.map((product) => ({
          value: product,
          ...COMPAT_OPTIONS[product],
          isChecked: value.includes(product),
        }))}
      />
    ),
  };
}

const languageNames = lazy(() => new Intl.DisplayNames("en", { type: "language" }));

/** Returns the English name of a language with its tag: "German (de)". */
export function languageName(tag: string): string {
  const name = languageNames().of(tag);
  return name === undefined || name === tag ? tag : `${name} (${tag})`;
}

/**
 * Field for the languages that visitors choose. The chosen ones come first, so that their order and
 * those with a region, both of which the API sets, are kept.
 */
function languagesField(): Field<readonly string[], string[]> {
  const label = "Further languages";
  const optionOf = (tag: string, isChecked: boolean) => ({
    value: tag,
    label: languageName(tag),
    isChecked,
  });
  const others = (chosen: readonly string[]) =>
    LANGUAGES.filter((tag) => !chosen.includes(tag))
      .map((tag) => optionOf(tag, false))
      .sort((a, b) => a.label.localeCompare(b.label));
  return {
    label,
    initial: [],
    read: (sent, name) => sent.all(name),
    toBody: (typed) => typed.slice(0, LANGUAGES_MAX + 1),
    fromStored: (languages) => languages,
    Input: ({ name, value, errors }) => (
      <CheckboxList
        legend={label}
        name={name}
        hint="Visitors choose one at the foot of the page, and subscribers for their mails. Texts that people write are not translated."
        error={errors[name]}
        options={[...value.map((tag) => optionOf(tag, true)), ...others(value)]}
      />
    ),
  };
}

/** Field in which the slug of a page must be typed before the page is deleted. */
function typedSlugField(): Field<string, string, { page: PageRow }> {
  return {
    ...textField({ label: "Slug" }),
    toBody: (typed, { page: { slug } }) =>
      typed.trim() === slug
        ? slug
        : new InvalidInput(`Nothing was deleted. Type ${slug} to delete the page.`),
    Input: ({ name, value, errors, context }) => (
      <TextField
        label={`Type ${context.page.slug} to delete the page`}
        name={name}
        value={value}
        error={errors[name]}
        autocomplete="off"
        required
      />
    ),
  };
}

/** Returns true for an error about a pattern or a length, which the form explains in its own words. */
function isPattern(detail: string): boolean {
  return /^must match|^is empty|^has more than/.test(detail);
}

export const REPORT_OPTIONS = [
  { value: "team", label: "Team", hint: "Users who are signed in." },
  {
    value: "public",
    label: "Public",
    hint: "Everyone who sees the page, without components and response times that it hides.",
  },
  { value: "off", label: "Off", hint: "No reports, and no mails of them." },
] as const;

export const THEME_OPTIONS = [
  { value: "system", label: "Same as the visitor’s device" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

const FIELDS = {
  name: nameField({ hint: "The heading of the page, such as “Acme Status”." }),
  description: nullable(
    descriptionField({
      hint: "Optional. A sentence below the heading, such as the services that the page covers.",
      rows: 3,
    }),
  ),
  visibility: choiceField<NonNullable<PageInput["visibility"]>>({
    label: "Visibility",
    initial: "public",
    options: [
      {
        value: "public",
        label: "Public",
        hint: "Everyone who knows the address can see the page.",
      },
      {
        value: "private",
        label: "Private",
        hint: "Only signed-in users can see the page, and visitors with a password, network or link that you choose for it.",
      },
    ],
  }),
  time_zone: timeZoneField({
    label: "Time zone",
    initial: "UTC",
    hint: "Type a city or a zone, such as Berlin or Europe/Berlin. Visitors see times and the days of the past in this zone. Uptime is counted in UTC days.",
    isRequired: true,
  }),
  locale: textField({
    label: "Language",
    initial: "en",
    hint: "Language tag, such as en or pt-BR, for words, dates and numbers.",
    isShort: true,
    isRequired: true,
  }),
  history_days: integerField({
    label: "Days of history",
    initial: 90,
    hint: "Days in the uptime history of components, 30 to 365.",
    isRequired: true,
  }),
  join_minutes: integerField({
    label: "Minutes in which outages join",
    initial: JOIN_MINUTES,
    hint: "Outages that follow an automatic incident within this time become part of it, 0 to 1,440. With 0, each outage has an incident of its own.",
    isRequired: true,
  }),
  report: choiceField<NonNullable<PageInput["report"]>>({
    label: "Monthly report",
    hint: "Who sees it. It is mailed on the first of each month to the webhooks of the format E-mail that get messages about incidents of the page.",
    initial: "team",
    options: REPORT_OPTIONS,
  }),
  theme: selectField<NonNullable<PageInput["theme"]>>({
    label: "Theme",
    initial: "system",
    options: THEME_OPTIONS,
  }),
  accent: nullable(accentField()),
};

/** Fields of a new page, and the names of its first components. */
type NewPageInput = PageInput & { components?: string[] };

export const NEW_PAGE_FORM = defineForm<NewPageInput, NewPageContext>()(
  {
    name: FIELDS.name,
    slug: newSlugField(),
    components: optional(
      namesField({
        label: "Components",
        more: "Optional. The parts of your service that users notice, such as Website or Checkout.",
        rows: 4,
      }),
    ),
    visibility: FIELDS.visibility,
    description: FIELDS.description,
    time_zone: FIELDS.time_zone,
    locale: FIELDS.locale,
    history_days: FIELDS.history_days,
    join_minutes: FIELDS.join_minutes,
    theme: FIELDS.theme,
    accent: FIELDS.accent,
    default: optional(defaultField()),
  },
  {
    advanced: [
      "description",
      "time_zone",
      "locale",
      "history_days",
      "join_minutes",
      "theme",
      "accent",
      "default",
    ],
  },
);

const defineSettings = defineForm<PageInput>();

export const GENERAL_FORM = defineSettings({
  name: FIELDS.name,
  description: FIELDS.description,
  time_zone: FIELDS.time_zone,
  locale: FIELDS.locale,
  languages: languagesField(),
  history_days: FIELDS.history_days,
  join_minutes: FIELDS.join_minutes,
  report: FIELDS.report,
});
export const LOOK_FORM = defineSettings({ theme: FIELDS.theme, accent: FIELDS.accent });
export const VISIBILITY_FORM = defineSettings({ visibility: FIELDS.visibility });
export const SLUG_FORM = defineSettings({ slug: slugField({ isRequired: true }) });
export const DOMAINS_FORM = defineSettings({ custom_domains: domainsField() });
export const COMPAT_FORM = defineSettings({ compat: compatField() });
export const DELETE_FORM = defineForm<{ slug?: string }, { page: PageRow }>()({
  slug: typedSlugField(),
});

/** Returns the stored values of a page, by field. */
export function pageResource(page: PageRow) {
  return {
    name: page.name,
    slug: page.slug,
    description: page.description,
    visibility: page.visibility,
    time_zone: page.timeZone,
    locale: page.locale,
    languages: page.languages,
    history_days: page.historyDays,
    join_minutes: page.joinMinutes,
    theme: page.theme,
    accent: page.accent,
    custom_domains: page.customDomains,
    compat: page.compat,
    report: page.report,
    default: page.isDefault,
  };
}

/** Returns the hidden input of a form that edits a page. */
export function pageVersion({ version }: PageRow) {
  return versionInput(version);
}
