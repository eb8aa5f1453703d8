/*
 * Settings of a page's look in addition to its theme and colour: notes, links, a notice, what is hidden, and CSS. Those with
 * a time end by themselves: nothing is shown of a notice from its end on.
 */
import { type Static, Type } from "@sinclair/typebox";
import type { FieldError } from "../../base/errors";
import { Instant, InstantText, Nullable, Text } from "../../base/schema";
import { LineText } from "../../base/texts";
import { parseInstant, toIso } from "../../base/time";
import { hasUserInfo, parseWebUrl } from "../../base/web-url";
import { renderingWork } from "../../base/markdown";
import type { PageLook, StoredLook } from "../../db/tables/pages";
import { safeCss } from "./custom-css";
import type { PageRow } from "./store";

/** Maximum length of a note above or below the content, in code points. */
export const NOTE_MAX = 2_000;
/** Maximum length of a notice, in code points. */
export const NOTICE_MAX = 1_000;
export const LINKS_MAX = 8;
/** Maximum length of the name of a link, in code points. */
const LINK_NAME_MAX = 40;
const LINK_URL_MAX = 2_000;
/** Maximum work of rendering one text, in units of `renderingWork`: about 8 ms. Each document has three of them. */
const WORK_MAX = 2_000;
/** Maximum size of a page's CSS, in bytes of UTF-8. */
const CSS_MAX_BYTES = 20_000;
/**
 * Maximum numbers of characters in CSS, with which reading it takes at most 50 ms. Each selector becomes five bytes longer;
 * css-tree reads nested brackets and the backslashes of a text in quadratic time, and begins anew after each error.
 */
const CSS_COUNTS: readonly (readonly [characters: RegExp, max: number, names: string])[] = [
  [/[,{]/g, 1_500, "commas and opening braces"],
  [/[([]/g, 800, "opening parentheses and brackets"],
  [/[;!]/g, 2_000, "semicolons and exclamation marks"],
  [/\\/g, 500, "backslashes"],
];

function MarkdownNote(maxLength: number) {
  return Text({
    minLength: 1,
    maxLength,
    check: (text) =>
      renderingWork(text) > WORK_MAX ? "has too many links and other marks of Markdown" : undefined,
  });
}

const Note = MarkdownNote(NOTE_MAX);

const CssText = Text({
  minLength: 1,
  maxLength: CSS_MAX_BYTES,
  check(text) {
    const size = Buffer.byteLength(text);
    if (size > CSS_MAX_BYTES) return `has ${size} bytes; ${CSS_MAX_BYTES} is the most`;
    for (const [characters, max, names] of CSS_COUNTS) {
      const count = text.match(characters)?.length ?? 0;
      if (count > max) return `has ${count} ${names}; ${max} is the most`;
    }
    return undefined;
  },
});

const LinkUrl = Text({
  minLength: 1,
  maxLength: LINK_URL_MAX,
  check(text) {
    const url = parseWebUrl(text);
    // The form has a line for each link, with a space before the address.
    if (!url || /[\s\p{C}]/u.test(text)) return "must be an address such as https://example.com";
    return hasUserInfo(url) ? "must not contain a user name or password" : undefined;
  },
});

/** A link in the head of a page. */
const LinkInput = Type.Object(
  { name: LineText({ minLength: 1, maxLength: LINK_NAME_MAX }), url: LinkUrl },
  { additionalProperties: false },
);

/** Settings of the look, all optional. */
export const PageLookInput = Type.Object(
  {
    header: Type.Optional(Nullable(Note)),
    footer: Type.Optional(Nullable(Note)),
    links: Type.Optional(Type.Array(LinkInput, { maxItems: LINKS_MAX })),
    hide_uptime: Type.Optional(Type.Boolean()),
    hide_history: Type.Optional(Type.Boolean()),
    notice: Type.Optional(Nullable(MarkdownNote(NOTICE_MAX))),
    notice_until: Type.Optional(Nullable(InstantText())),
    custom_css: Type.Optional(Nullable(CssText)),
  },
  { additionalProperties: false },
);

export type PageLookInput = Static<typeof PageLookInput>;

/** Settings of the look as the API shows them, without CSS. */
export const ShownLook = Type.Object({
  header: Nullable(Type.String({ description: "Note above the content, in Markdown." })),
  footer: Nullable(Type.String({ description: "Note below the content, in Markdown." })),
  links: Type.Array(Type.Object({ name: Type.String(), url: Type.String() }), {
    description: "Links in the head of the page.",
  }),
  hide_uptime: Type.Boolean({ description: "True for a page without bars and figures of uptime." }),
  hide_history: Type.Boolean({ description: "True for a page without past incidents." }),
  notice: Nullable(
    Type.String({ description: "Notice above everything, in Markdown; null once it has ended." }),
  ),
  notice_until: Nullable(Instant),
});

const DEFAULTS: PageLook = {
  header: null,
  footer: null,
  links: [],
  hide_uptime: false,
  hide_history: false,
  notice: null,
  notice_until: null,
  custom_css: null,
};

/** Returns settings with the defaults of those that are left out, in the form that is stored. A notice that is removed has no end. */
export function fullLook(input: PageLookInput | undefined): PageLook {
  const { notice_until: until, ...others } = { ...DEFAULTS, ...input };
  const end = until === null ? undefined : parseInstant(until);
  return {
    ...others,
    notice_until: others.notice === null || end === undefined ? null : toIso(end),
  };
}

/** Returns the errors of settings that contradict each other, below the pointer `at`. */
export function lookErrors({ notice, notice_until: until }: PageLook, at: string): FieldError[] {
  if (notice === null || until !== null) return [];
  return [{ pointer: `${at}/notice_until`, detail: "must say until when the notice is shown" }];
}

/** Returns the settings of a page's look. */
export function lookOf({ look }: Pick<PageRow, "look">): PageLook {
  const { css: _css, cut: _cut, ...settings } = look;
  return { ...DEFAULTS, ...settings };
}

/** Returns a look as it is stored. Its CSS is read if it differs from that of the look before. */
export function storedLook(look: PageLook, before: Partial<StoredLook> = {}): StoredLook {
  const { custom_css: source } = look;
  const { css = "", cut = [] } = before;
  if (source === (before.custom_css ?? null)) return { ...look, css, cut };
  return { ...look, ...(source === null ? { css: "", cut: [] } : safeCss(source)) };
}

/** CSS of a page as it is sent. It is a symbol, since the API does not show it. */
export const CSS: unique symbol = Symbol("css");

/** A page that may have CSS of its own. */
export interface Styled {
  [CSS]?: string;
}

/** Returns the property with the CSS of a page; nothing for a page without any. */
export function styled({ look }: Pick<PageRow, "look">): Styled {
  return look.css ? { [CSS]: look.css } : {};
}

/** Returns the end of a page's notice, in unix ms; undefined without a notice. */
export function noticeEndOf(page: Pick<PageRow, "look">): number | undefined {
  const { notice, notice_until: until } = lookOf(page);
  return notice === null || until === null ? undefined : parseInstant(until);
}

/** Returns the look of a page as the API shows it at `now` (unix ms). */
export function presentLook(page: Pick<PageRow, "look">, now: number): Static<typeof ShownLook> {
  const { custom_css: _, notice, notice_until: until, ...look } = lookOf(page);
  const end = noticeEndOf(page);
  const isOver = end === undefined || now >= end;
  return { ...look, notice: isOver ? null : notice, notice_until: isOver ? null : until };
}
