import { type PageInput, type PageRow, toDomain } from "../../features/pages";
import type { Form } from "../../http";
import { toRef } from "../../kernel/text";

/** Labels of the fields of page forms, by the API's names, in the order of the forms. */
export const PAGE_LABELS = {
  name: "Name",
  slug: "Slug",
  description: "Description",
  visibility: "Who can see it",
  time_zone: "Time zone",
  locale: "Language",
  history_days: "Days of history",
  theme: "Theme",
  accent: "Accent colour",
  logo: "Logo",
  custom_domains: "Host names",
  default: "Show at /",
} as const;

/** Fields with a text value, which excludes the logo. */
export type PageField = Exclude<keyof typeof PAGE_LABELS, "logo">;

/** Typed values of a page form. */
export type PageValues = Readonly<Record<PageField, string>>;

/** Initial values of the form for a new page. */
export const NEW_PAGE: PageValues = {
  name: "",
  slug: "",
  description: "",
  visibility: "public",
  time_zone: "UTC",
  locale: "en",
  history_days: "90",
  theme: "system",
  accent: "",
  custom_domains: "",
  default: "",
};

/** Returns the form values of a stored page. */
export function storedValues(page: PageRow): PageValues {
  return {
    name: page.name,
    slug: page.slug,
    description: page.description ?? "",
    visibility: page.visibility,
    time_zone: page.timeZone,
    locale: page.locale,
    history_days: String(page.historyDays),
    theme: page.theme,
    accent: page.accent ?? "",
    custom_domains: page.customDomains.join("\n"),
    default: page.isDefault ? "yes" : "",
  };
}

/** Reads the typed values of the given fields. */
export function readValues<Field extends PageField>(
  form: Form,
  fields: readonly Field[],
): Record<Field, string> {
  const typed = fields.map((field) => [field, form.text(field)] as const);
  return Object.fromEntries(typed) as Record<Field, string>;
}

/**
 * Reads the values for a new page and derives a missing slug from the name. Custom domains are
 * empty, since they are checked against the dashboard's own host when a page is edited.
 */
export function readNewPage(form: Form): PageValues {
  const fields = Object.keys(NEW_PAGE) as PageField[];
  const typed = readValues(form, fields);
  return { ...typed, slug: typed.slug.trim() || toRef(typed.name), custom_domains: "" };
}

/** Converts typed values to service input. The service validates them. */
export function toInput(values: Partial<PageValues>): Partial<PageInput> {
  const input: Partial<PageInput> = {};
  const { description, accent } = values;
  if (values.name !== undefined) input.name = values.name.trim();
  if (values.slug !== undefined) input.slug = values.slug.trim().toLowerCase();
  if (description !== undefined) input.description = oneKindOfLines(description).trim() || null;
  if (values.visibility !== undefined) input.visibility = values.visibility as "public";
  if (values.time_zone !== undefined) input.time_zone = values.time_zone.trim();
  if (values.locale !== undefined) input.locale = values.locale.trim();
  if (values.history_days !== undefined) input.history_days = readDays(values.history_days);
  if (values.theme !== undefined) input.theme = values.theme as "system";
  if (accent !== undefined) input.accent = readColour(accent);
  if (values.custom_domains !== undefined) input.custom_domains = readHosts(values.custom_domains);
  if (values.default === "yes") input.default = true;
  return input;
}

/** Returns the requested values that differ from the stored page. */
export function changesTo(page: PageRow, asked: Partial<PageInput>): Partial<PageInput> {
  const stored: Partial<PageInput> = toInput(storedValues(page));
  const differs = (field: string) => {
    const key = field as keyof PageInput;
    return JSON.stringify(stored[key]) !== JSON.stringify(asked[key]);
  };
  return Object.fromEntries(Object.entries(asked).filter(([field]) => differs(field)));
}

/** Converts line ends to LF, since browsers send CR LF. */
function oneKindOfLines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** Converts text to a whole number. Invalid text becomes NaN, which the service rejects. */
function readDays(text: string): number {
  return /^\d{1,6}$/.test(text.trim()) ? Number(text) : Number.NaN;
}

/** Converts text to a colour, adding a missing `#`. Empty text becomes null. */
function readColour(text: string): string | null {
  const typed = text.trim().toLowerCase();
  if (typed === "") return null;
  return typed.startsWith("#") ? typed : `#${typed}`;
}

/**
 * Splits text at white space and commas and normalises each host name. Invalid names are passed on
 * unchanged.
 */
function readHosts(text: string): string[] {
  const hosts = text.split(/[\s,]+/).filter((host) => host !== "");
  return hosts.map((host) => toDomain(host) ?? host);
}
