import { renderToString } from "preact-render-to-string";
import { type Tone, TONE_FILLS } from "../base/status";
import { safeHref } from "./buttons";

/** Name of the product after its mark, a ring with a gap. */
export function WordMark() {
  return (
    <span class="word-mark">
      <svg class="ring" viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="9" stroke-dasharray="44 13" />
      </svg>
      Allclear
    </span>
  );
}

/** Mark of a status page in the colour of its tone: closed only if all is well. */
export function StatusRing({ tone }: { tone: Tone }) {
  return (
    <svg class={`ring t-${tone}`} viewBox="0 0 24 24" aria-hidden="true">
      <Ring tone={tone} />
    </svg>
  );
}

function Ring({ tone }: { tone: Tone }) {
  const gap = tone === "ok" ? {} : { "stroke-dasharray": "46 14", transform: "rotate(-8 12 12)" };
  return <circle cx="12" cy="12" r="9.5" {...gap} />;
}

/** Returns the mark as an SVG document, for favicons. */
export function ringIcon(tone: Tone): string {
  const look = { fill: "none", stroke: TONE_FILLS[tone], "stroke-width": 5 };
  return renderToString(
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" {...look}>
      <Ring tone={tone} />
    </svg>,
  );
}

/** Returns the mark as a `data:` URL, for favicons that are part of a page. */
export function ringIconUrl(tone: Tone): string {
  return `data:image/svg+xml,${encodeURIComponent(ringIcon(tone))}`;
}

interface LogoProps {
  /** Path of this site. */
  src: string;
  /** Name of the page. */
  alt: string;
  /** Size in pixels, which is also the maximum. */
  width: number;
  height: number;
}

/** Logo of a status page, for the screens that manage it. */
export function Logo({ src, ...image }: LogoProps) {
  return (
    <p class="logo">
      <img src={safeHref(src)} {...image} />
    </p>
  );
}

/** Sample of a colour (`#rrggbb`) with its code. */
export function Swatch({ colour }: { colour: string }) {
  return (
    <span class="swatch">
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <rect width="16" height="16" rx="4" fill={colour} />
      </svg>
      <code>{colour}</code>
    </span>
  );
}
