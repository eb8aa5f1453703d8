import { type Static, Type } from "@sinclair/typebox";
import { COMPAT_PRODUCTS } from "../../base/compat";
import { Instant, Nullable, OneOf, Text } from "../../base/schema";
import { DescriptionText, NameText, RefText } from "../../base/texts";
import { toIso } from "../../base/time";
import { DOMAINS_MAX, faviconPath, logoPath, pageBaseUrl, pageUrl } from "./addresses";
import { PageMailInput } from "./mail";
import { LANGUAGES_MAX } from "../../languages/tags";
import { ACCESS_KINDS, accessKindsOf } from "./rules";
import { PageLookInput, presentLook, ShownLook, styled, type Styled } from "./look";
import type { PageRow } from "./store";

/** Pattern of a slug: lower case, digits and inner hyphens, 1 to 63 characters. */
const SLUG_PATTERN = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";

/** Longest time after the start of an automatic incident in which outages join it, in minutes. */
const JOIN_MINUTES_MAX = 1_440;

const VISIBILITIES = ["public", "private"] as const;

const THEMES = ["system", "light", "dark"] as const;

const REPORTS = ["off", "team", "public"] as const;

const Slug = Text({ maxLength: 63, pattern: SLUG_PATTERN });

const Accent = Text({ maxLength: 7, pattern: "^#[0-9a-fA-F]{6}$" });

const Locale = Text({ minLength: 2, maxLength: 35 });

/** Fields of a page; only slug and name are required. */
export const PageInput = Type.Object(
  {
    slug: Slug,
    name: NameText,
    ref: Type.Optional(RefText),
    description: Type.Optional(Nullable(DescriptionText)),
    time_zone: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
    locale: Type.Optional(Locale),
    languages: Type.Optional(Type.Array(Locale, { maxItems: LANGUAGES_MAX, uniqueItems: true })),
    visibility: Type.Optional(OneOf(VISIBILITIES)),
    theme: Type.Optional(OneOf(THEMES)),
    accent: Type.Optional(Nullable(Accent)),
    history_days: Type.Optional(Type.Integer({ minimum: 30, maximum: 365 })),
    join_minutes: Type.Optional(Type.Integer({ minimum: 0, maximum: JOIN_MINUTES_MAX })),
    custom_domains: Type.Optional(
      Type.Array(Text({ minLength: 1, maxLength: 253 }), { maxItems: DOMAINS_MAX }),
    ),
    default: Type.Optional(Type.Boolean()),
    compat: Type.Optional(
      Type.Array(OneOf(COMPAT_PRODUCTS), { maxItems: COMPAT_PRODUCTS.length, uniqueItems: true }),
    ),
    report: Type.Optional(OneOf(REPORTS)),
    mail: Type.Optional(PageMailInput),
    look: Type.Optional(PageLookInput),
  },
  { additionalProperties: false },
);

export type PageInput = Static<typeof PageInput>;

/** Fields of a page that change; fields that are left out stay. */
export const PartialPageInput = Type.Partial(PageInput, { additionalProperties: false });
export type PartialPageInput = Static<typeof PartialPageInput>;

/** A status page as the API shows it. */
export const Page = Type.Object(
  {
    id: Type.String({ examples: ["page_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    ref: Type.String({ examples: ["acme"] }),
    slug: Type.String({ examples: ["acme"] }),
    name: Type.String({ examples: ["Acme Status"] }),
    description: Nullable(Type.String()),
    url: Type.String({
      description: "Address of the status page.",
      examples: ["https://status.example.com/status/acme"],
    }),
    subscribe_url: Nullable(
      Type.String({
        description:
          "Address of the page that lists all ways to subscribe; null for a private page, which has none.",
        examples: ["https://status.example.com/status/acme/subscribe"],
      }),
    ),
    time_zone: Type.String({
      description: "For times and the days of lists of the past. Bars and uptime count UTC days.",
      examples: ["Europe/Berlin"],
    }),
    locale: Type.String({
      description: "Language of the page, and of the formats of its times and numbers.",
      examples: ["en"],
    }),
    languages: Type.Array(Type.String({ examples: ["de"] }), {
      description:
        "Languages that visitors and subscribers choose in addition to that of `locale`, each with a catalog.",
    }),
    visibility: OneOf(VISIBILITIES),
    access_kinds: Type.Array(OneOf(ACCESS_KINDS), {
      description:
        "Kinds of rules by which visitors see the page while it is private: a password, their network, a link.",
    }),
    theme: OneOf(THEMES),
    accent: Nullable(Type.String({ examples: ["#0b6b53"] })),
    logo: Nullable(Type.String({ description: "URL of the page's logo; null without one." })),
    favicon: Nullable(
      Type.String({ description: "URL of the page's own icon in tabs; null without one." }),
    ),
    look: ShownLook,
    custom_domains: Type.Array(Type.String({ examples: ["status.acme.com"] }), {
      description:
        "Host names that serve only this page. Links are built from the first, unless the page is private without a password and a link.",
    }),
    compat: Type.Array(OneOf(COMPAT_PRODUCTS), {
      description: "Products in whose formats the page can be read, while it is public.",
    }),
    history_days: Type.Integer({ minimum: 30, maximum: 365 }),
    join_minutes: Type.Integer({
      minimum: 0,
      maximum: JOIN_MINUTES_MAX,
      description:
        "Minutes after the start of an automatic incident in which outages of other monitors join it; 0 for an incident for each.",
    }),
    report: OneOf(REPORTS, {
      description:
        "People who see the monthly reports: nobody, signed-in users, or everyone who sees the page.",
    }),
    default: Type.Boolean({ description: "True for the page at `/`." }),
    sample: Type.Boolean({
      description: "True for the sample page of a first start, which the first real page removes.",
    }),
    version: Type.Integer({ minimum: 1 }),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: "Page" },
);

export type Page = Static<typeof Page> & Styled;

/** Returns a page as the API shows it at `now` (unix ms). `baseUrl` is the server's public address. */
export function presentPage(row: PageRow, baseUrl: string, now: number): Page {
  const logo = logoPath(row);
  const favicon = faviconPath(row);
  return {
    id: row.id,
    ref: row.ref,
    slug: row.slug,
    name: row.name,
    description: row.description,
    url: pageUrl(baseUrl, row),
    subscribe_url: row.visibility === "public" ? `${pageUrl(baseUrl, row)}/subscribe` : null,
    time_zone: row.timeZone,
    locale: row.locale,
    languages: row.languages,
    visibility: row.visibility,
    access_kinds: accessKindsOf(row),
    theme: row.theme,
    accent: row.accent,
    logo: logo === null ? null : pageBaseUrl(baseUrl, row) + logo,
    favicon: favicon === null ? null : pageBaseUrl(baseUrl, row) + favicon,
    look: presentLook(row, now),
    ...styled(row),
    custom_domains: row.customDomains,
    compat: row.compat,
    history_days: row.historyDays,
    join_minutes: row.joinMinutes,
    report: row.report,
    default: row.isDefault,
    sample: row.isSample,
    version: row.version,
    created_at: toIso(row.createdAt),
    updated_at: toIso(row.updatedAt),
  };
}
