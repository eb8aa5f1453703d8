import { renderToString } from "preact-render-to-string";
import { lazy } from "../base/lazy";
import { type ComponentStatus, STATUS_TONES, type Tone, TONE_COLOURS } from "../base/status";
import type { StatusDocument } from "../features/status/wire";
import { headlineKey, toneOf } from "../features/status/rules";
import { wordsOf } from "../languages/words";
import { printable } from "./text";

/** Content of a badge. */
export interface Badge {
  label: string;
  message: string;
  tone: Tone;
}

const HEIGHT = 20;
const FONT_SIZE = 11;
const PADDING = 6;
const SHAPE_SIZE = 12;
const GAP = 4;
/** Maximum length of a label, in graphemes. The title has the whole text. */
const LABEL_MAX = 40;
const LABEL_COLOUR = "#3b4742";

/** Outlines on a grid of 12 units of one pixel, so that edges are sharp. */
export const OUTLINES: Record<Tone, string> = {
  none: "M6 1a5 5 0 1 1 0 10A5 5 0 0 1 6 1Zm0 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z",
  ok: "M6 1a5 5 0 1 1 0 10A5 5 0 0 1 6 1Z",
  maint: "M2 2h8v8H2Z",
  degraded: "M6 0l6 6-6 6-6-6Z",
  partial: "M6 1l6 10H0Z",
  major: "M3 1l3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3-3-3Z",
};

/** Returns the badge of a page. In English its message is the sentence of the API. */
export function pageBadge(document: StatusDocument): Badge {
  const { page, status } = document;
  const { t, isEnglish } = wordsOf(page.locale);
  const message = isEnglish ? status.description : t(headlineKey(document));
  return { label: page.name, message, tone: toneOf(document) };
}

/** Returns the badge of a component, with its status in the language of a locale. */
export function componentBadge(
  { name, status }: { name: string; status: ComponentStatus },
  locale: string,
): Badge {
  return {
    label: name,
    message: wordsOf(locale).t(`status.${status}`),
    tone: STATUS_TONES[status],
  };
}

/** Renders a badge as an SVG document, 20 pixels high, with a shape and a text in addition to the colour. */
export function renderBadge({ label, message, tone }: Badge): string {
  const title = printable(`${label}: ${message}`);
  const name = shorten(printable(label));
  const nameWidth = widthOf(name);
  const messageWidth = widthOf(message);
  const left = nameWidth + 2 * PADDING;
  const right = PADDING + SHAPE_SIZE + GAP + messageWidth + PADDING;
  const svg = (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={left + right}
      height={HEIGHT}
      viewBox={`0 0 ${left + right} ${HEIGHT}`}
      role="img"
      aria-label={title}
    >
      <title>{title}</title>
      <rect width={left + right} height={HEIGHT} rx="3" fill={TONE_COLOURS[tone]} />
      <path d={`M3 0H${left}V${HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3Z`} fill={LABEL_COLOUR} />
      <path
        transform={`translate(${left + PADDING} ${(HEIGHT - SHAPE_SIZE) / 2})`}
        d={OUTLINES[tone]}
        fill="#fff"
      />
      <g
        fill="#fff"
        font-family="Verdana,Geneva,DejaVu Sans,sans-serif"
        font-size={FONT_SIZE}
        aria-hidden="true"
      >
        <text x={PADDING} y="14" textLength={nameWidth}>
          {name}
        </text>
        <text x={left + PADDING + SHAPE_SIZE + GAP} y="14" textLength={messageWidth}>
          {message}
        </text>
      </g>
    </svg>
  );
  // The renderer escapes as in HTML, where "]]>" is allowed; in XML it is not.
  return renderToString(svg).replaceAll("]]>", "]]&gt;");
}

/** Returns a badge in the format of shields.io's endpoint badge. */
export function endpointBadge({ label, message, tone }: Badge) {
  return {
    schemaVersion: 1,
    label: shorten(label),
    message,
    color: TONE_COLOURS[tone].slice(1),
  };
}

function widthOf(text: string): number {
  return Math.ceil(textWidth(text, FONT_SIZE));
}

/** Shortens a text to the length of a label. */
export function shorten(text: string): string {
  const characters = graphemesOf(text);
  return characters.length > LABEL_MAX ? `${characters.slice(0, LABEL_MAX - 1).join("")}…` : text;
}

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
function graphemesOf(text: string): string[] {
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
