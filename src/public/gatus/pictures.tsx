import { renderToString } from "preact-render-to-string";
import type { BadgeContent } from "../kuma/badge-picture";
import type { GatusHistory } from "./model";

const AWESOME = "#40cc11";
const VERY_BAD = "#c7130a";
const PASSABLE = "#ccb311";

/** Colours from the best on, with the least uptime and the longest response time in ms of each. */
const LEVELS = [
  { color: AWESOME, uptime: 0.975, ms: 50 },
  { color: "#94cc11", uptime: 0.95, ms: 200 },
  { color: "#ccd311", uptime: 0.9, ms: 300 },
  { color: PASSABLE, uptime: 0.8, ms: 500 },
  { color: "#cc8111", uptime: 0.65, ms: 750 },
] as const;

/** Health of an endpoint; `?` if it is not known. */
export type Health = "up" | "down" | "?";

function badge(label: string, message: string, color: string): BadgeContent {
  return { label, message, color, labelColor: "#555", style: "flat" };
}

export function healthBadge(health: Health): BadgeContent {
  const colours = { up: AWESOME, down: VERY_BAD, "?": PASSABLE };
  return badge("health", health, colours[health]);
}

/** Returns the badge in the format of shields.io's endpoint badge. */
export function shieldsBadge(health: Health) {
  const colours = { up: "brightgreen", down: "red", "?": "yellow" };
  return { schemaVersion: 1, label: "gatus", message: health, color: colours[health] };
}

export function uptimeBadge(duration: string, uptime: number): BadgeContent {
  const color = LEVELS.find((level) => uptime >= level.uptime)?.color ?? VERY_BAD;
  return badge(`uptime ${duration}`, `${Number((uptime * 100).toFixed(2))}%`, color);
}

export function responseTimeBadge(duration: string, ms: number): BadgeContent {
  const color = LEVELS.find((level) => ms <= level.ms)?.color ?? VERY_BAD;
  return badge(`response time ${duration}`, `${ms}ms`, color);
}

const WIDTH = 1_280;
const HEIGHT = 300;
const MARGIN = 40;

/** Draws the mean response times of hours as a line. */
export function drawChart({ timestamps, values }: GatusHistory): string {
  const first = timestamps[0] ?? 0;
  const length = Math.max(1, (timestamps.at(-1) ?? 0) - first);
  const most = Math.max(1, ...values);
  const points = values.map((value, index) => {
    const x = MARGIN + (((timestamps[index] ?? 0) - first) / length) * (WIDTH - 2 * MARGIN);
    const y = HEIGHT - MARGIN - (value / (most * 1.25)) * (HEIGHT - 2 * MARGIN);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const title = `Average response time per hour, at most ${most} ms`;
  const base = HEIGHT - MARGIN;
  return renderToString(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={title}
    >
      <title>{title}</title>
      <path d={`M${MARGIN} ${MARGIN}V${base}H${WIDTH - MARGIN}`} fill="none" stroke="#777" />
      <polyline points={points.join(" ")} fill="none" stroke="#0074d9" stroke-width="1.5" />
      <g fill="#777" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
        <text x={MARGIN} y={MARGIN - 10}>{`${most} ms`}</text>
        <text x={MARGIN} y={base + 20}>
          {new Date(first).toISOString().slice(0, 16)}
        </text>
        <text x={WIDTH - MARGIN} y={base + 20} text-anchor="end">
          {new Date(first + length).toISOString().slice(0, 16)}
        </text>
      </g>
    </svg>,
  );
}
