import { lazy } from "../base/lazy";

/**
 * Widths of characters of Verdana in hundredths of an em. Similar fonts differ little, and `textLength`
 * corrects the difference where the text is drawn.
 */
const ADVANCES: readonly (readonly [hundredths: number, characters: string])[] = [
  [27, "ijl'"],
  [35, "f t,."],
  [45, 'rIJ-/()[]:;|\\!"'],
  [54, "csz?LF"],
  [60, "aeokvxyPTY"],
  [63, "bdghnpquEU$*_`{}0123456789"],
  [69, "ABCKRSVXZ"],
  [75, "HNDQOG&"],
  [82, "+<=>^~#wM"],
  [100, "mW@%"],
];

const advances = lazy(
  (): ReadonlyMap<string, number> =>
    new Map(
      ADVANCES.flatMap(([advance, characters]) => [...characters].map((one) => [one, advance])),
    ),
);
const OTHER_ADVANCE = 65;
const WIDE_ADVANCE = 120;

/** Emoji and other pictographs, and scripts with square characters. */
const WIDE =
  /\p{Emoji_Presentation}|\p{Extended_Pictographic}|\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|[\uff01-\uff60]/u;

/** Splits a text into graphemes: an emoji with its modifiers is one. */
export function graphemesOf(text: string): string[] {
  return [...new Intl.Segmenter("en").segment(text)].map(({ segment }) => segment);
}

/** Returns the approximate width of a text, in the unit of `fontSize`. */
export function textWidth(text: string, fontSize: number): number {
  const hundredths = graphemesOf(text).reduce((sum, one) => sum + advanceOf(one), 0);
  return (hundredths * fontSize) / 100;
}

function advanceOf(grapheme: string): number {
  return advances().get(grapheme) ?? (WIDE.test(grapheme) ? WIDE_ADVANCE : OTHER_ADVANCE);
}
