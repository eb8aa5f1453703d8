import type { Tone } from "../../../base/status";

/** Part of a line: text, or a name that people chose, which is kept apart from the direction of its line. */
export type Inline = string | { name: string };

/** Paragraph of a letter. Each is rendered as text and as HTML. */
export type Block =
  /** The first line, which names the status. */
  | { type: "status"; text: readonly Inline[]; tone: Tone }
  | { type: "title"; text: readonly Inline[] }
  | { type: "heading"; text: readonly Inline[] }
  | { type: "paragraph"; text: readonly Inline[]; isMuted?: boolean }
  /** User text. A cut text ends with a link to `url`. */
  | { type: "markdown"; source: string; url: string }
  | { type: "components"; entries: readonly ComponentEntry[] }
  /** The main action of the letter. */
  | { type: "button"; label: string; url: string }
  | { type: "link"; label: string; url: string }
  /** Plain text of a page, such as a legal address. */
  | { type: "plain"; source: string }
  /** Blocks that differ by recipient, filled in with `renderPlace`. */
  | { type: "place"; name: string };

export interface ComponentEntry {
  name: string;
  status: string;
  tone: Tone;
}

/** Content of a mail. */
export interface Letter {
  /** Language tag, which also decides the direction. */
  locale: string;
  /** Name of the page or the product, above everything else. */
  sender: string;
  /** Line that lists of mails show after the subject. */
  preheader: string;
  tone: Tone;
  blocks: readonly Block[];
  /** Blocks below the content, such as the link to unsubscribe. */
  footer: readonly Block[];
}

/** Direction of a letter, and limits of the parts whose length is not known. */
export interface Layout {
  isRtl: boolean;
  /** Code points of each user text. */
  text: number;
  /** Components listed by name. */
  components: number;
}

const RTL_SCRIPTS = new Set([
  "Adlm",
  "Arab",
  "Hebr",
  "Mand",
  "Nkoo",
  "Rohg",
  "Samr",
  "Syrc",
  "Thaa",
]);

/** Returns true for a language that is written from right to left. */
export function isRtlLocale(locale: string): boolean {
  const { script } = new Intl.Locale(locale).maximize();
  return script !== undefined && RTL_SCRIPTS.has(script);
}

/** Returns the entries that are listed, and the line that counts the others. */
export function listedComponents(
  entries: readonly ComponentEntry[],
  { components }: Layout,
): { listed: readonly ComponentEntry[]; rest: string | undefined } {
  const left = entries.length - components;
  return {
    listed: entries.slice(0, components),
    rest: left > 0 ? `and ${left} more` : undefined,
  };
}

/** Returns the beginning of a text, ended at a line or a word if there is one close to the limit. */
export function cutText(source: string, max: number): { text: string; isCut: boolean } {
  if (source.length <= max) return { text: source, isCut: false };
  // Enough UTF-16 units to see if there is one code point too many.
  const points = Array.from(source.slice(0, 2 * max + 2));
  if (points.length <= max) return { text: source, isCut: false };
  const beginning = points.slice(0, max).join("");
  const end = Math.max(beginning.lastIndexOf("\n"), beginning.lastIndexOf(" "));
  const text = end > beginning.length * 0.9 ? beginning.slice(0, end) : beginning;
  return { text: text.trimEnd(), isCut: true };
}
