import { encodeText } from "../quoted-printable";
import { renderHtml, renderHtmlPlace } from "./html";
import { type Block, isRtlLocale, type Layout, type Letter } from "./letter";
import { renderText, renderTextPlace } from "./text";

/** Maximum size of both parts, in bytes as sent: 80 KB less headers and what differs by recipient. */
const PARTS_MAX_BYTES = 76_000;
/** Maximum length of the text part. The HTML part, which says the same, is at least as long. */
const TEXT_MAX = PARTS_MAX_BYTES / 2;
const LIMITS = { text: 10_000, components: 20 };

/** Content of a mail, twice. */
export interface RenderedLetter {
  text: string;
  html: string;
}

/**
 * Returns both parts of a mail. User texts have at most 10,000 code points and lists 20 components. Both
 * limits are halved until the mail has at most 80 KB.
 */
export function renderLetter(letter: Letter): RenderedLetter {
  const isRtl = isRtlLocale(letter.locale);
  for (let layout: Layout = { ...LIMITS, isRtl }; ; layout = halved(layout)) {
    const text = renderText(letter, layout);
    // Markdown is not rendered for a letter that is too long anyway.
    if (layout.text > 0 && text.length > TEXT_MAX) continue;
    const rendered = { text, html: renderHtml(letter, layout) };
    if (layout.text === 0 || sizeOf(rendered) <= PARTS_MAX_BYTES) return rendered;
  }
}

/** Returns both forms of the blocks in a place of a letter in a language. */
export function renderPlace(blocks: readonly Block[], locale: string): RenderedLetter {
  const layout = { ...LIMITS, isRtl: isRtlLocale(locale) };
  return { text: renderTextPlace(blocks, layout), html: renderHtmlPlace(blocks, layout) };
}

function halved({ isRtl, text, components }: Layout): Layout {
  return { isRtl, text: Math.floor(text / 2), components: Math.ceil(components / 2) };
}

function sizeOf({ text, html }: RenderedLetter): number {
  return encodeText(text).quotedPrintable.length + encodeText(html).quotedPrintable.length;
}
