import { safeHref } from "./safe-href";

/** Kind of a message. Each has its own colour and shape. */
export type Tone = "info" | "success" | "warning" | "danger";

const TONE_OUTLINES: Record<Tone, string> = {
  info: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1Zm-1 6v5h2V7Zm0-3v2h2V4Z",
  success: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1ZM4 8.2l2.9 2.9 5.2-5.4-1.4-1.4-3.8 4-1.5-1.5Z",
  warning: "M8 1l7.5 13.5H.5ZM7 6v4.5h2V6Zm0 5.5v2h2v-2Z",
  danger: "M5 1h6l4 4v6l-4 4H5l-4-4V5Zm2 3v5h2V4Zm0 6v2h2v-2Z",
};

/** Icon of a tone. Hidden from screen readers, since a text always follows. */
export function ToneIcon({ tone }: { tone: Tone }) {
  return (
    <svg class={`icon tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      <path fill-rule="evenodd" d={TONE_OUTLINES[tone]} />
    </svg>
  );
}

/** Name of the product after its mark, a ring that has a gap unless `isClear`. */
export function WordMark({ isClear = true }: { isClear?: boolean }) {
  return (
    <span class="word-mark">
      <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
        <circle cx="12" cy="12" r="9" class={isClear ? undefined : "is-open"} />
      </svg>
      Allclear
    </span>
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
