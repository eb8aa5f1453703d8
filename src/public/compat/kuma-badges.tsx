import { renderToString } from "preact-render-to-string";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../../base/time";
import type { Reader } from "../../db/statements";
import { BEAT, type CompatEntry, readBeats } from "../../features/compat/entries";
import { findComponent } from "../../features/components/store";
import { latencyOfEach } from "../../features/monitors/latency";
import { textWidth } from "../badges";
import { printable } from "../text";
import { uptimesOf } from "./kuma-documents";

const NONE = "#999";
const UP = "#66c20a";
const DOWN = "#c2290a";
const PENDING = "#f8a306";
const MAINTENANCE = "#1747f5";
const WARNING = "#eed202";
const LABEL = "#555";

/** Maximum length of a text in a badge, in code points. */
const TEXT_MAX = 100;

/** Query of a badge. */
export interface BadgeQuery {
  /** Returns a text; the default if it is not given. */
  text(name: string, initial?: string): string;
  /** Returns a colour; the default if it is not given or no colour. */
  colour(name: string, initial: string): string;
  has(name: string): boolean;
  style: BadgeContent["style"];
}

/** Reads the query of a badge. Texts that are too long are cut. */
export function readBadgeQuery(query: URLSearchParams): BadgeQuery {
  const style = BADGE_STYLES.find((one) => one === query.get("style")) ?? "flat";
  return {
    text: (name, initial = "") => [...(query.get(name) ?? initial)].slice(0, TEXT_MAX).join(""),
    colour: (name, initial) => readColour(query.get(name) ?? "") ?? initial,
    has: (name) => query.has(name),
    style,
  };
}

/** Badge without a label: there is nothing to show. */
export function emptyBadge({ style }: Pick<BadgeQuery, "style">, message = "N/A"): BadgeContent {
  return { label: "", message, color: NONE, labelColor: LABEL, style };
}

/** Error of a duration, with Uptime Kuma's message. */
export class BadgeError extends Error {}

/** Request for the badge of an entry. */
interface BadgeRequest {
  reader: Reader;
  entry: CompatEntry;
  query: BadgeQuery;
  /** Last part of the path; undefined without one. */
  duration: string | undefined;
  /** Unix ms. */
  now: number;
}

/** Returns a badge. Throws a BadgeError for a duration that Uptime Kuma rejects. */
type MakeBadge = (request: BadgeRequest) => BadgeContent;

/** Badges of an entry by their names in the path. */
export const ENTRY_BADGES: Readonly<Record<string, MakeBadge>> = {
  status: ({ reader, entry, query }) => {
    const beat = readBeats(reader, entry, 1).at(-1);
    const [name, color, message] = STATUSES[beat?.status ?? BEAT.up];
    return {
      label: query.text("label", "Status"),
      message: query.text(`${name}Label`, message),
      color: query.colour(`${name}Color`, color),
      labelColor: LABEL,
      style: query.style,
    };
  },

  uptime: ({ reader, entry, query, duration = "24h", now }) => {
    const { text, ms } = readDuration(duration);
    const row = findComponent(reader, { id: entry.component.id });
    const [uptime = null] = row ? uptimesOf(reader, [row], { from: now - ms, to: now }) : [];
    if (uptime === null) return emptyBadge(query);
    const label = query.text(
      "label",
      `Uptime (${text.slice(0, -1)}${query.text("labelSuffix", "h")})`,
    );
    return {
      label: query.text("labelPrefix") + label,
      message: query.text("prefix") + (uptime * 100).toPrecision(4) + query.text("suffix", "%"),
      color: query.colour("color", uptimeColour(uptime)),
      labelColor: query.colour("labelColor", LABEL),
      style: query.style,
    };
  },

  ping: (request) => {
    const { query, duration = "24h" } = request;
    const { text, ms } = readDuration(duration);
    const label = query.text(
      "label",
      `Avg. Ping (${text.slice(0, -1)}${query.text("labelSuffix", "h")})`,
    );
    return timeBadge(query, query.text("labelPrefix") + label, averageOf(request, ms));
  },

  "avg-response": (request) => {
    const { query, duration = "24" } = request;
    const hours = Math.min(Number.parseInt(duration, 10), MAX_HOURS);
    const average = hours > 0 ? averageOf(request, hours * HOUR_MS) : null;
    return timeBadge(query, labelOf(query, `Avg. Response (${hours}h)`), average);
  },

  response: ({ reader, entry, query }) => {
    const beat = readBeats(reader, entry, 1).at(-1);
    return timeBadge(query, labelOf(query, "Response"), beat?.latencyMs || null);
  },

  "cert-exp": ({ entry, query, now }) => {
    const { watcher } = entry;
    // For monitors of domains, it is the end of the registration.
    const expiresAt = watcher?.type === "domain" ? null : (watcher?.certificateExpiresAt ?? null);
    if (expiresAt === null) return emptyBadge(query, "No/Bad Cert");
    const color = query.colour("downColor", DOWN);
    if (expiresAt <= now) return { ...emptyBadge(query, "Bad Cert"), color };
    const days = Math.round((expiresAt - now) / DAY_MS);
    const isMoreThan = (name: string, initial: string) => days > Number(query.text(name, initial));
    const isDate = query.text("date") !== "";
    const value = isDate ? toIso(expiresAt) : String(days);
    return {
      label: labelOf(query, "Cert Exp."),
      message: query.text("prefix") + value + query.text("suffix", isDate ? "" : " days"),
      color: isMoreThan("warnDays", "14")
        ? query.colour("upColor", UP)
        : isMoreThan("downDays", "7")
          ? query.colour("warnColor", WARNING)
          : color,
      labelColor: query.colour("labelColor", LABEL),
      style: query.style,
    };
  },
};

/** Name of its parameters, colour and message of each status of a beat. */
const STATUSES = {
  [BEAT.down]: ["down", DOWN, "Down"],
  [BEAT.up]: ["up", UP, "Up"],
  [BEAT.pending]: ["pending", PENDING, "Pending"],
  [BEAT.maintenance]: ["maintenance", MAINTENANCE, "Maintenance"],
} as const;

/** Returns the badge of a page: of the statuses of all its entries. */
export function overallBadge(
  reader: Reader,
  entries: readonly CompatEntry[],
  query: BadgeQuery,
): BadgeContent {
  const statuses = new Set(entries.map((entry) => readBeats(reader, entry, 1).at(-1)?.status));
  const badge = (message: string, name: string, initial: string) => ({
    label: query.text("label"),
    message,
    color: query.colour(name, initial),
    labelColor: LABEL,
    style: query.style,
  });
  const [hasUp, hasDown] = [statuses.has(BEAT.up), statuses.has(BEAT.down)];
  if (statuses.has(BEAT.maintenance)) return badge("Maintenance", "maintenanceColor", "#808080");
  if (hasUp && hasDown) return badge("Degraded", "partialColor", "#F6BE00");
  if (hasUp) return badge("Up", "upColor", UP);
  return hasDown ? badge("Down", "downColor", DOWN) : emptyBadge(query);
}

/** Returns the label that the query asks for, between its prefix and suffix. */
function labelOf(query: BadgeQuery, initial: string): string {
  return query.text("labelPrefix") + query.text("label", initial) + query.text("labelSuffix");
}

function timeBadge(query: BadgeQuery, label: string, ms: number | null): BadgeContent {
  if (ms === null) return emptyBadge(query);
  return {
    label,
    message: query.text("prefix") + Math.trunc(ms) + query.text("suffix", "ms"),
    color: query.colour("color", "#007ec6"),
    labelColor: query.colour("labelColor", LABEL),
    style: query.style,
  };
}

/** Returns the average response time of the last `ms` in ms; null without one, or if the page shows none. */
function averageOf({ reader, entry, now }: BadgeRequest, ms: number): number | null {
  const { component, watcher } = entry;
  if (!watcher || watcher.type === "push" || !component.show_latency) return null;
  return latencyOfEach(reader, [watcher.num], [{ from: now - ms, to: now }]).total.avgMs;
}

const MAX_MINUTES = 1_440;
const MAX_HOURS = 720;
const MAX_DAYS = 365;

/** Units of durations: their length in ms, and the unit and number by which Uptime Kuma limits them. */
const UNITS: Readonly<Record<string, { of: "minutes" | "hours" | "days"; each: number }>> = {
  m: { of: "minutes", each: 1 },
  h: { of: "hours", each: 1 },
  d: { of: "days", each: 1 },
  w: { of: "days", each: 7 },
  M: { of: "days", each: 30 },
  y: { of: "days", each: 365 },
};
const LIMITS = {
  minutes: { max: MAX_MINUTES, ms: MINUTE_MS },
  hours: { max: MAX_HOURS, ms: HOUR_MS },
  days: { max: MAX_DAYS, ms: DAY_MS },
} as const;

/** Reads a duration such as `30d`; digits alone are hours. Throws a BadgeError. */
function readDuration(given: string): { text: string; ms: number } {
  const text = /^\d+$/.test(given) ? `${given}h` : given;
  const digits = text.slice(0, -1);
  if (!/^\d+$/.test(digits)) throw new BadgeError(`Invalid duration: ${text}`);
  const unit = text.slice(-1);
  const found = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  if (!found) throw new BadgeError(`Unsupported unit (${unit}) for badge duration ${text}`);
  const { max, ms } = LIMITS[found.of];
  const number = Number(digits) * found.each;
  if (number > max) throw new BadgeError(`The maximum number of ${found.of} is ${max}`);
  return { text, ms: number * ms };
}

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
type BadgeStyle = (typeof BADGE_STYLES)[number];

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

/** Names of colours in badges that differ from those of CSS. */
const BADGE_COLOURS: Readonly<Record<string, string>> = {
  brightgreen: "#4c1",
  green: "#97ca00",
  yellow: "#dfb317",
  yellowgreen: "#a4a61d",
  orange: "#fe7d37",
  red: "#e05d44",
  blue: "#007ec6",
  grey: "#555",
  gray: "#555",
  lightgrey: "#9f9f9f",
  lightgray: "#9f9f9f",
};

/** Other names of colours in CSS. */
const CSS_COLOURS: ReadonlySet<string> = new Set(
  `aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blueviolet brown burlywood
  cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod
  darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon
  darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray
  dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod greenyellow
  honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral
  lightcyan lightgoldenrodyellow lightgreen lightpink lightsalmon lightseagreen lightskyblue lightslategray
  lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue
  mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred
  midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orangered orchid
  palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple
  rebeccapurple rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue
  slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white
  whitesmoke`.split(/\s+/),
);

const HEX = /^#?((?:[0-9a-f]{3}){1,2})$/i;

/** Returns a colour for SVG from a name or hexadecimal digits; undefined for any other text. */
function readColour(text: string): string | undefined {
  const [, digits] = HEX.exec(text) ?? [];
  if (digits !== undefined) return `#${digits.toLowerCase()}`;
  const name = text.toLowerCase();
  if (Object.hasOwn(BADGE_COLOURS, name)) return BADGE_COLOURS[name];
  return CSS_COLOURS.has(name) ? name : undefined;
}

/** Returns the colour of an uptime from 0 to 1: red to green. */
function uptimeColour(uptime: number): string {
  const hue = 10 + 80 * uptime;
  const [saturation, lightness] = [0.9, 0.4];
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    const amount = saturation * Math.min(lightness, 1 - lightness);
    const value = lightness - amount * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${channel(0)}${channel(8)}${channel(4)}`;
}
