import tokens from "../ui/tokens.css" with { type: "text" };

/** The contrast that text needs (WCAG 2.2, 1.4.3). */
const LEAST_CONTRAST = 4.5;

/** Backgrounds behind a page's accent colour: paper and card of both themes. */
const GROUNDS = [0, 1].map((theme) => ["paper", "card"].map((name) => colourOf(name, theme)));

/**
 * The rules that put a page's own colour (`#rrggbb`) in the place of ours, for links and for what has
 * the focus: in each theme only where it can be read. Empty where that is nowhere.
 */
export function accentCss(accent: string | null): string {
  if (accent === null || !/^#[0-9a-f]{6}$/i.test(accent)) return "";
  const [isReadableInLight, isReadableInDark] = GROUNDS.map((grounds) =>
    grounds.every((ground) => contrast(accent, ground) >= LEAST_CONTRAST),
  );
  const rule = `{--accent:${accent}}`;
  const light = isReadableInLight ? `:root${rule}` : "";
  const dark = isReadableInDark
    ? `@media (prefers-color-scheme:dark){:root:not([data-theme="light"])${rule}}:root[data-theme="dark"]${rule}`
    : "";
  return light + dark;
}

/** The contrast ratio of two colours by WCAG 2.2, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** WCAG 2.2's relative luminance of `#rrggbb`. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A token's value in a theme: 0 is light, 1 dark, in the order in which the tokens are written. */
function colourOf(token: string, theme: number): string {
  const found = [...tokens.matchAll(new RegExp(`--${token}: (#[0-9a-f]{6});`, "g"))][theme]?.[1];
  if (found === undefined) throw new Error(`the tokens have no ${token}`);
  return found;
}
