import type { Tone } from "../domain/tone";
import { safeHref } from "./safe-href";

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
  const gap = tone === "ok" ? {} : { "stroke-dasharray": "46 14", transform: "rotate(-8 12 12)" };
  return (
    <svg class={`ring t-${tone}`} viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="9.5" {...gap} />
    </svg>
  );
}

/** Returns the mark as an SVG document in a colour, for favicons. */
export function ringIcon(colour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.5" fill="none" stroke="${colour}" stroke-width="3"/></svg>`;
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
