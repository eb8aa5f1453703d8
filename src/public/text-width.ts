import { lazy } from "../kernel/lazy";

/*
 * The width of a text without its font: Verdana's advances in hundredths of an em, which its stand-ins
 * come close to. What is off by a little is set right by `textLength` where the text is drawn.
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

/** Pictures, and the scripts that are written in squares. */
const WIDE =
  /\p{Emoji_Presentation}|\p{Extended_Pictographic}|\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}|\p{Script=Katakana}|[\uff01-\uff60]/u;

/** The characters of a text as people count them: an emoji with its modifiers is one. */
export function graphemesOf(text: string): string[] {
  return [...new Intl.Segmenter("en").segment(text)].map(({ segment }) => segment);
}

/** About how wide a text is, in the unit of `fontSize`. */
export function textWidth(text: string, fontSize: number): number {
  const hundredths = graphemesOf(text).reduce((sum, one) => sum + advanceOf(one), 0);
  return (hundredths * fontSize) / 100;
}

function advanceOf(grapheme: string): number {
  return advances().get(grapheme) ?? (WIDE.test(grapheme) ? WIDE_ADVANCE : OTHER_ADVANCE);
}
