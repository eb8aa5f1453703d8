import { type PageInput, type PageRow, toDomain } from "../../features/pages";
import type { Form } from "../../http";
import { toRef } from "../../kernel/text";

/** The fields of the forms about a page, by the API's names, in the order in which they stand. */
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
  default: "Show it at /",
} as const;

/** The fields that are text, or a choice. */
export type PageField = Exclude<keyof typeof PAGE_LABELS, "logo">;

/** What stands in a form about a page, as it was typed. */
export type PageValues = Readonly<Record<PageField, string>>;

/** What the form for a new page begins with. */
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

/** What a page's forms begin with. */
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

/** What was typed into these fields of a form. */
export function readValues<Field extends PageField>(
  form: Form,
  fields: readonly Field[],
): Record<Field, string> {
  const typed = fields.map((field) => [field, form.text(field)] as const);
  return Object.fromEntries(typed) as Record<Field, string>;
}

/**
 * What was typed for a new page, with a slug made from the name where none was. Its form has no host
 * names: these are judged by where the dashboard is open, once the page is there.
 */
export function readNewPage(form: Form): PageValues {
  const fields = Object.keys(NEW_PAGE) as PageField[];
  const typed = readValues(form, fields);
  return { ...typed, slug: typed.slug.trim() || toRef(typed.name), custom_domains: "" };
}

/** The fields that were typed as the service takes them, which judges them. */
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

/** Of what is asked for, that which differs from what a page has. */
export function changesTo(page: PageRow, asked: Partial<PageInput>): Partial<PageInput> {
  const stored: Partial<PageInput> = toInput(storedValues(page));
  const differs = (field: string) => {
    const key = field as keyof PageInput;
    return JSON.stringify(stored[key]) !== JSON.stringify(asked[key]);
  };
  return Object.fromEntries(Object.entries(asked).filter(([field]) => differs(field)));
}

/** Browsers send CR LF for each end of a line. */
function oneKindOfLines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** A whole number as it was typed; NaN, which the service refuses, for what is none. */
function readDays(text: string): number {
  return /^\d{1,6}$/.test(text.trim()) ? Number(text) : Number.NaN;
}

/** A colour as it was typed, its `#` added where it was left out. */
function readColour(text: string): string | null {
  const typed = text.trim().toLowerCase();
  if (typed === "") return null;
  return typed.startsWith("#") ? typed : `#${typed}`;
}

/** Host names as they are kept, one a line; commas and spaces part them too. What is none stays as it is. */
function readHosts(text: string): string[] {
  const hosts = text.split(/[\s,]+/).filter((host) => host !== "");
  return hosts.map((host) => toDomain(host) ?? host);
}
