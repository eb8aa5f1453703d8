import { renderToString } from "preact-render-to-string";
import { type ComponentStatus, STATUS_TONES, type Tone, TONE_COLOURS } from "../base/status";
import type { StatusDocument } from "../features/status/model";
import { toneOf } from "../features/status/rules";
import { STATUS_WORDS } from "../ui/labels";
import { printable } from "./printable";
import { graphemesOf, textWidth } from "./text-width";

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

/** Returns the badge of a page. */
export function pageBadge(document: StatusDocument): Badge {
  const { page, status } = document;
  return { label: page.name, message: status.description, tone: toneOf(document) };
}

/** Returns the badge of a component. */
export function componentBadge(component: { name: string; status: ComponentStatus }): Badge {
  const { name, status } = component;
  return { label: name, message: STATUS_WORDS[status], tone: STATUS_TONES[status] };
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
