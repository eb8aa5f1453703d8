import { JOIN_MINUTES } from "../../features/pages/rules";
import type { PageInput } from "../../features/pages/model";
import type { PageRow } from "../../features/pages/store";
import {
  choiceField,
  descriptionField,
  integerField,
  nameField,
  selectField,
  textField,
} from "../../ui/forms/fields";
import { defineForm, nullable, optional, versionInput } from "../../ui/forms/form";
import {
  accentField,
  compatField,
  defaultField,
  domainsField,
  logoField,
  type NewPageContext,
  newSlugField,
  slugField,
  typedSlugField,
} from "./fields";

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
        hint: "Only signed-in users can see the page. Its feeds, badges and custom domains are off.",
      },
    ],
  }),
  time_zone: textField({
    label: "Time zone",
    initial: "UTC",
    hint: "Such as Europe/Berlin. The page shows times and lists the past by day in this zone. Uptime is counted in UTC days.",
    suggestions: ["UTC", ...Intl.supportedValuesOf("timeZone")],
    isRequired: true,
  }),
  locale: textField({
    label: "Language",
    initial: "en",
    hint: "Language tag, such as en or pt-BR, for the format of dates and for screen readers.",
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
  theme: selectField<NonNullable<PageInput["theme"]>>({
    label: "Theme",
    initial: "system",
    options: THEME_OPTIONS,
  }),
  accent: nullable(accentField()),
};

export const NEW_PAGE_FORM = defineForm<PageInput, NewPageContext>()(
  {
    name: FIELDS.name,
    slug: newSlugField(),
    description: FIELDS.description,
    visibility: FIELDS.visibility,
    time_zone: FIELDS.time_zone,
    locale: FIELDS.locale,
    history_days: FIELDS.history_days,
    join_minutes: FIELDS.join_minutes,
    theme: FIELDS.theme,
    accent: FIELDS.accent,
    default: optional(defaultField()),
  },
  { advanced: ["locale", "history_days", "join_minutes", "theme", "accent", "default"] },
);

const defineSettings = defineForm<PageInput>();

export const GENERAL_FORM = defineSettings({
  name: FIELDS.name,
  description: FIELDS.description,
  time_zone: FIELDS.time_zone,
  locale: FIELDS.locale,
  history_days: FIELDS.history_days,
  join_minutes: FIELDS.join_minutes,
});
export const LOOK_FORM = defineSettings({ theme: FIELDS.theme, accent: FIELDS.accent });
export const VISIBILITY_FORM = defineSettings({ visibility: FIELDS.visibility });
export const SLUG_FORM = defineSettings({ slug: slugField({ isRequired: true }) });
export const DOMAINS_FORM = defineSettings({ custom_domains: domainsField() });
export const COMPAT_FORM = defineSettings({ compat: compatField() });
export const LOGO_FORM = defineForm<{ logo?: Uint8Array }>()({ logo: logoField() });
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
    history_days: page.historyDays,
    join_minutes: page.joinMinutes,
    theme: page.theme,
    accent: page.accent,
    custom_domains: page.customDomains,
    compat: page.compat,
    default: page.isDefault,
  };
}

/** Returns the hidden input of a form that edits a page. */
export function pageVersion({ version }: PageRow) {
  return versionInput(version);
}
