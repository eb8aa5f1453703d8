import { lazy } from "../../base/lazy";

/** Text of a part in quoted-printable, with CRLF at the end of each line. */
export interface EncodedText {
  quotedPrintable: string;
}

/** Maximum length of an encoded line; two octets of the standard's 76 stay for `encodeStart`. */
const LINE_MAX = 73;
/** Begins and ends the name of a place, in texts from which control characters were removed. */
const MARK = "\u0001";
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

// Loaded with the first mail, not at the start of the server.
const library = lazy(() => require("nodemailer/lib/qp") as typeof import("nodemailer/lib/qp"));

/** Encodes a text in quoted-printable. Control characters except tabs and line breaks are removed. */
export function encodeText(text: string): EncodedText {
  return { quotedPrintable: encodeLines(withoutControl(text)) };
}

/** Returns a text without control characters except tabs and line breaks. */
export function withoutControl(text: string): string {
  return text.replace(CONTROL, "");
}

function encodeLines(text: string): string {
  if (text === "") return "";
  const { encode, wrap } = library();
  const lines = text.replace(/\r\n?|\n/g, "\r\n");
  const complete = lines.endsWith("\r\n") ? lines : `${lines}\r\n`;
  return wrap(encode(complete), LINE_MAX).replaceAll(/^(?:\.|From )/gm, encodeStart);
}

/** Encodes starts of lines that servers change: a dot, and "From " in mailboxes. */
function encodeStart(start: string): string {
  return start === "." ? "=2E" : "=46rom ";
}

/** Returns the line that stands for text which differs by recipient. It goes on a line of its own. */
export function placeLine(name: string): string {
  return MARK + name + MARK;
}

/** Encoded text with places for lines that differ by recipient. */
export interface SharedText {
  /** Encoded size without the places, in bytes. */
  size: number;
  /** Returns the text with lines in its places. */
  fill(lines: Readonly<Record<string, string | EncodedText>>): EncodedText;
}

/**
 * Encodes the lines that all recipients get. Returns undefined unless the text contains each of `places`
 * once, on a line of its own, and no other place.
 */
export function encodeShared(text: string, places: readonly string[]): SharedText | undefined {
  const pieces = text.split(MARK);
  const names = pieces.filter((_, index) => index % 2 === 1);
  const fixed = pieces.filter((_, index) => index % 2 === 0);
  const isComplete = names.length === places.length && places.every((name) => names.includes(name));
  const isOnOwnLines = fixed.every(
    (piece, index) =>
      (index === 0 || piece.startsWith("\n")) &&
      (index === fixed.length - 1 || piece === "" || piece.endsWith("\n")),
  );
  if (!isComplete || !isOnOwnLines || pieces.length % 2 === 0) return undefined;
  const encoded = fixed.map((piece, index) => encodeFixed(piece, index > 0));
  return {
    size: encoded.reduce((sum, piece) => sum + piece.length, 0),
    fill(lines) {
      const filled = encoded.map((piece, index) => {
        const name = names[index];
        if (name === undefined) return piece;
        const line = lines[name];
        if (line === undefined) throw new Error(`the place ${name} of a mail has no text`);
        return piece + (typeof line === "string" ? encodeText(line) : line).quotedPrintable;
      });
      return { quotedPrintable: filled.join("") };
    },
  };
}

/** Stands for one character of a link while the lines around it are encoded. */
const FILLER = "~";
/** Links of which encoding changes no character. */
const PLAIN_LINK = /^[\w.:/-]+$/;

/**
 * Returns the function that encodes a text with a link in the place of `slot`. Texts with links of the same
 * length are encoded once, and the link is then put between their lines.
 */
export function encodeAround(text: string, slot: string): (link: string) => EncodedText {
  const byLength = new Map<number, string[]>();
  const canFill = !text.includes(FILLER);
  return (link) => {
    const inFull = () => encodeText(text.replaceAll(slot, link));
    if (!canFill || !PLAIN_LINK.test(link)) return inFull();
    let pieces = byLength.get(link.length);
    if (!pieces) {
      const filled = text.replaceAll(slot, FILLER.repeat(link.length));
      pieces = encodeText(filled).quotedPrintable.split(/(~+)/);
      byLength.set(link.length, pieces);
    }
    let encoded = "";
    let at = 0;
    for (const piece of pieces) {
      const isLink = piece.startsWith(FILLER);
      encoded += isLink ? link.slice(at, at + piece.length) : piece;
      if (isLink) at = (at + piece.length) % link.length;
    }
    // Some servers remove a dot at the start of a line.
    return encoded.includes("\n.") ? inFull() : { quotedPrintable: encoded };
  };
}

/** Encodes lines after a place without the end of the place's line, which belongs to its text. */
function encodeFixed(piece: string, isAfterPlace: boolean): string {
  return encodeLines(withoutControl(isAfterPlace ? piece.slice(1) : piece));
}
