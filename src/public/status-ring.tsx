import type { Indicator } from "../features/status";

// Closed when all is well, else with a gap: a shape as well as a colour.
const RADIUS = 6;
const GAP = { "stroke-dasharray": "28 10", transform: "rotate(-8 8 8)" };

/** The favicon's colour for each severity of the headline: readable on light and on dark tabs. */
const ICON_COLOURS: Record<Indicator, string> = {
  none: "#1f9254",
  maintenance: "#3b7ae0",
  minor: "#d5641b",
  major: "#d93a40",
  critical: "#d93a40",
};

/** The mark of a page, in the colour of its status. For the eye only: the banner says it in words. */
export function StatusRing({ indicator }: { indicator: Indicator }) {
  return (
    <svg class={`ring is-${indicator}`} viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r={RADIUS} {...(indicator === "none" ? {} : GAP)} />
    </svg>
  );
}

/** The same as a favicon: a `data:` URL. */
export function statusIcon(indicator: Indicator): string {
  const gap = Object.entries(indicator === "none" ? {} : GAP)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join("");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="${RADIUS}" fill="none" stroke="${ICON_COLOURS[indicator]}" stroke-width="3"${gap}/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
