import tokens from "../ui/tokens.css" with { type: "text" };

/** Minimum contrast of text (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5;

/** Grounds of pages in the light and in the dark theme. */
export const PAPERS = [colourOf("paper", 0), colourOf("paper", 1)] as const;

/** Backgrounds behind a page's accent colour: paper and card of both themes. */
const GROUNDS = PAPERS.map((paper, theme) => [paper, colourOf("card", theme)]);

/**
 * Returns the CSS that sets the page's accent colour (`#rrggbb`), used for links, focus outlines
 * and, mixed with the card, for grounds. A theme in which the colour has too little contrast keeps the default colour.
 */
export function accentCss(accent: string | null): string {
  if (accent === null || !/^#[0-9a-f]{6}$/i.test(accent)) return "";
  const [isReadableInLight, isReadableInDark] = GROUNDS.map((grounds) =>
    grounds.every((ground) => contrast(accent, ground) >= MIN_CONTRAST),
  );
  const soft = `color-mix(in oklab,${accent} 12%,var(--card))`;
  const rule = `{--accent:${accent};--accent-soft:${soft}}`;
  const light = isReadableInLight ? `:root${rule}` : "";
  const dark = isReadableInDark
    ? `@media (prefers-color-scheme:dark){:root:not([data-theme="light"])${rule}}:root[data-theme="dark"]${rule}`
    : "";
  return light + dark;
}

/** Returns the contrast ratio of two colours by WCAG 2.2, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the relative luminance of `#rrggbb` by WCAG 2.2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the value of a token in a theme: 0 is light, 1 is dark, as in the order of `tokens.css`. */
function colourOf(token: string, theme: number): string {
  const color = [...tokens.matchAll(new RegExp(`--${token}: (#[0-9a-f]{6});`, "g"))][theme]?.[1];
  if (color === undefined) throw new Error(`the tokens have no ${token}`);
  return color;
}
