import { COMPAT_PRODUCTS, type CompatProduct } from "../../base/compat";
import { canonicalTag } from "../../languages/tags";

/** Time after the start of an automatic incident in which outages join it, in minutes, by default. */
export const JOIN_MINUTES = 10;

/** Words in current or possible future paths of the server, and misleading slugs. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  "admin",
  "allclear",
  "api",
  "assets",
  "auth",
  "docs",
  "favicon",
  "health",
  "healthz",
  "heartbeats",
  "history",
  "incidents",
  "login",
  "logout",
  "maintenance",
  "metrics",
  "new",
  "openapi",
  "readyz",
  "robots",
  "setup",
  "static",
  "status",
  "v1",
  "v2",
]);

export function isReservedSlug(slug: string): boolean {
  return RESERVED_SLUGS.has(slug);
}

/** Returns a language tag in the form that is stored. */
export function localeOf(tag: string): string {
  return canonicalTag(tag) ?? tag;
}

/** Returns languages in the form that is stored: each once, by its canonical tag. */
export function languagesOf(tags: readonly string[]): string[] {
  return [...new Set(tags.map(localeOf))];
}

/** Languages of a page: its own one, and those that visitors choose. */
export interface PageLanguages {
  locale: string;
  languages: readonly string[];
}

/** Returns the tags of a page's languages, its own first unless the list has it in another place. */
export function languageTagsOf({ locale, languages }: PageLanguages): readonly string[] {
  return languages.includes(locale) ? languages : [locale, ...languages];
}

/** Returns the tags of the languages among which people choose; none if the page has a single one. */
export function choosableLanguages(page: PageLanguages): readonly string[] {
  const tags = languageTagsOf(page);
  return tags.length < 2 ? [] : tags;
}

/** Returns the language in which a subscriber of a page gets mails: that of the page for one that it lacks. */
export function languageFor(page: PageLanguages, language: string | null | undefined): string {
  return language != null && languageTagsOf(page).includes(language) ? language : page.locale;
}

/** Returns products in the order in which they are stored. */
export function compatOf(products: readonly CompatProduct[]): CompatProduct[] {
  return COMPAT_PRODUCTS.filter((product) => products.includes(product));
}

/** Kinds of rules by which visitors see a private page. */
export const ACCESS_KINDS = ["password", "network", "link"] as const;
type AccessKind = (typeof ACCESS_KINDS)[number];

/** Returns the kinds of rules that a page has, in order. They have no effect while it is public. */
export function accessKindsOf(page: {
  passwordId: string | null;
  networks: readonly string[];
  hasLinks: boolean;
}): AccessKind[] {
  const has: Record<AccessKind, boolean> = {
    password: page.passwordId !== null,
    network: page.networks.length > 0,
    link: page.hasLinks,
  };
  return ACCESS_KINDS.filter((kind) => has[kind]);
}

/** Returns true if a link opens its page at `now` (unix ms). */
export function isPageLinkLive({ expiresAt }: { expiresAt: number | null }, now: number): boolean {
  return expiresAt === null || now < expiresAt;
}
