import { renderToString } from "preact-render-to-string";
import { printable } from "../printable";
import { textWidth } from "../text-width";

/** Content of a badge, with colours for SVG. */
export interface BadgeContent {
  /** Empty for a badge without a left part. */
  label: string;
  message: string;
  color: string;
  labelColor: string;
  style: BadgeStyle;
}

export const BADGE_STYLES = ["flat", "flat-square", "plastic", "for-the-badge"] as const;
export type BadgeStyle = (typeof BADGE_STYLES)[number];

interface Shape {
  height: number;
  fontSize: number;
  padding: number;
  radius: number;
  hasShine?: boolean;
  isUpperCase?: boolean;
}

const SHAPES: Readonly<Record<BadgeStyle, Shape>> = {
  flat: { height: 20, fontSize: 11, padding: 6, radius: 3 },
  "flat-square": { height: 20, fontSize: 11, padding: 6, radius: 0 },
  plastic: { height: 18, fontSize: 11, padding: 6, radius: 4, hasShine: true },
  "for-the-badge": { height: 28, fontSize: 10, padding: 12, radius: 0, isUpperCase: true },
};

/** Draws a badge as an SVG document. */
export function drawBadge(content: BadgeContent): string {
  const { height, fontSize, padding, radius, hasShine, isUpperCase } = SHAPES[content.style];
  const [label, message] = [content.label, content.message].map((text) =>
    isUpperCase ? printable(text).toUpperCase() : printable(text),
  ) as [string, string];
  const widthOf = (text: string) => Math.ceil(textWidth(text, fontSize));
  const left = label === "" ? 0 : widthOf(label) + 2 * padding;
  const right = widthOf(message) + 2 * padding;
  const width = left + right;
  const title = label === "" ? message : `${label}: ${message}`;
  const baseline = Math.round(height / 2 + fontSize * 0.36);
  const svg = (
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={title}
    >
      <title>{title}</title>
      <clipPath id="r">
        <rect width={width} height={height} rx={radius} />
      </clipPath>
      <g clip-path="url(#r)">
        <rect width={left} height={height} fill={content.labelColor} />
        <rect x={left} width={right} height={height} fill={content.color} />
        {hasShine ? <rect width={width} height={height / 2} fill="#fff" opacity="0.2" /> : null}
      </g>
      <g
        fill="#fff"
        font-family="Verdana,Geneva,DejaVu Sans,sans-serif"
        font-size={fontSize}
        aria-hidden="true"
      >
        {label === "" ? null : (
          <text x={padding} y={baseline} textLength={widthOf(label)}>
            {label}
          </text>
        )}
        <text x={left + padding} y={baseline} textLength={widthOf(message)}>
          {message}
        </text>
      </g>
    </svg>
  );
  // The renderer escapes as in HTML, where "]]>" is allowed; in XML it is not.
  return renderToString(svg).replaceAll("]]>", "]]&gt;");
}
