import { lazy } from "../../base/lazy";
import type { Ctx } from "../../context";
import type { MailSettings } from "./settings";
import type { MailRow } from "./store";

/** A mail as its template writes it. */
export interface ComposedMail {
  from: { name: string | null; address: string };
  replyTo: string | null;
  /** The only recipient. */
  to: string;
  subject: string;
  /** The same content twice: as plain text and as HTML. */
  text: string | EncodedText;
  html: string | EncodedText;
  /** More headers by name, with values in ASCII. */
  headers: Readonly<Record<string, string>>;
  /** `<id@domain>`, the same at every try. */
  messageId: string;
  references?: string | undefined;
  inReplyTo?: string | undefined;
  /** Time of writing, in unix ms. */
  date: number;
}

/** Facts that templates may use besides the mail itself. */
export interface TemplateEnvironment {
  ctx: Ctx;
  /** Settings with which the mail is sent. */
  settings: MailSettings;
}

/** A mail that was written; `unwanted` if it should not be sent any more. */
type Written = ComposedMail | "unwanted";

/**
 * Writes a mail at the moment of its sending, with current data. The result is a promise if something has to be
 * stored first, such as the hash of a link's token.
 */
export type MailTemplate<Result = Written | Promise<Written>> = (
  mail: MailRow,
  env: TemplateEnvironment,
) => Result;

/** Templates by the names in `mails.template`. */
export type Templates<Result = Written | Promise<Written>> = Readonly<
  Record<string, MailTemplate<Result>>
>;

/** Parts of a mail that its template writes. */
type Said = Pick<ComposedMail, "subject" | "text" | "html"> &
  Partial<Pick<ComposedMail, "headers" | "messageId" | "references" | "inReplyTo">> & {
    /** Name of the sender; null for the address alone. */
    fromName: string | null;
    /** Address for replies, if it is not that of the settings. */
    replyTo?: string | null;
  };

/** Returns a mail from the address of the settings to the recipient of a queued one. */
export function composeMail(
  { id, recipient }: Pick<MailRow, "id" | "recipient">,
  { ctx, settings }: TemplateEnvironment,
  { fromName, replyTo, ...said }: Said,
): ComposedMail {
  return {
    from: { name: fromName, address: settings.from.address },
    replyTo: replyTo ?? settings.replyTo,
    to: recipient,
    headers: {},
    messageId: `<${id}@${domainOf(settings)}>`,
    date: ctx.clock.now(),
    ...said,
  };
}

/** Returns the domain of the sender's address. */
export function domainOf({ from: { address } }: MailSettings): string {
  return address.slice(address.lastIndexOf("@") + 1);
}

/** Headers of every mail. They keep mailboxes from answering automatically. */
const AUTOMATIC = { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" };

/** Headers that `toMessage` writes itself. */
const OWN =
  /^(?:from|to|cc|bcc|sender|reply-to|subject|date|message-id|in-reply-to|references|mime-version|content-.*)$/i;

const MESSAGE_ID = /^<[^\s<>@]+@[^\s<>@]+>$/;

// Quoted-printable text never contains "=_", so that no line of a part is taken for the boundary.
const BOUNDARY = "=_allclear";

const PART = { text: "text/plain", html: "text/html" };

/**
 * Returns a mail as the relay gets it: `multipart/alternative` of text and HTML, both UTF-8 in
 * quoted-printable. Throws for addresses and headers that are invalid.
 */
export function toMessage(mail: ComposedMail): Uint8Array {
  const { from, replyTo, to, subject, text, html, messageId, references, inReplyTo, date } = mail;
  const headers = { ...AUTOMATIC, ...mail.headers };
  const own = Object.keys(headers).find((name) => OWN.test(name));
  if (own !== undefined) throw new Error(`the header ${own} of a mail is set twice`);
  const message =
    addressField("From", from.address, from.name) +
    addressField("To", to) +
    (replyTo === null ? "" : addressField("Reply-To", replyTo)) +
    textField("Subject", subject) +
    structuredField("Date", formatDate(date)) +
    idField("Message-ID", messageId) +
    idField("In-Reply-To", inReplyTo) +
    idField("References", references) +
    Object.entries(headers)
      .map(([name, value]) => structuredField(name, value))
      .join("") +
    structuredField("MIME-Version", "1.0") +
    structuredField("Content-Type", `multipart/alternative; boundary="${BOUNDARY}"`) +
    `\r\n${partOf(PART.text, text)}${partOf(PART.html, html)}--${BOUNDARY}--\r\n`;
  return Buffer.from(message);
}

function partOf(type: string, content: string | EncodedText): string {
  const { quotedPrintable } = typeof content === "string" ? encodeText(content) : content;
  return `--${BOUNDARY}\r\nContent-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${quotedPrintable}\r\n`;
}

function idField(name: string, id: string | undefined): string {
  if (id === undefined) return "";
  if (!MESSAGE_ID.test(id)) throw new Error(`the header ${name} of a mail has an invalid id`);
  return structuredField(name, id);
}

/** Formats a time as RFC 5322 does: "Sun, 22 Nov 2026 14:32:00 +0000". */
function formatDate(ms: number): string {
  return new Date(ms).toUTCString().replace("GMT", "+0000");
}

/** Maximum length of a line with encoded words, in octets (RFC 2047, 2). */
const HEADER_LINE_MAX = 76;

/** Maximum length of an encoded word, in octets. */
const WORD_MAX = 75;

const PRINTABLE = /^[\x20-\x7e]*$/;

const FIELD_NAME = /^[A-Za-z][A-Za-z0-9-]*$/;

/** Characters that need no quotes in a display name, with spaces. */
const ATOMS = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~ ]*$/;

// Control characters, separators of lines, and characters that change the direction of text.
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

/** Characters that an address never contains, since they would end it or begin another. */
const NOT_IN_ADDRESSES = /[\s\p{Cc}<>()[\]\\,;:"]/u;

/** Returns a text as one line without control characters and directional overrides. */
export function headerText(text: string): string {
  return text.toWellFormed().replace(UNSAFE, " ").replace(/ {2,}/g, " ").trim();
}

/** Returns a header field whose value is text for people, such as the subject. */
function textField(name: string, value: string): string {
  const text = headerText(value);
  const line = `${requireFieldName(name)}: `;
  if (PRINTABLE.test(text) && !text.includes("=?") && !/\S{900}/.test(text)) {
    return `${fold(line + text)}\r\n`;
  }
  return `${line}${encodedWords(text, HEADER_LINE_MAX - line.length).join("\r\n ")}\r\n`;
}

/** Returns a header field with a structured value. Throws for characters outside printable ASCII. */
function structuredField(name: string, value: string): string {
  if (!PRINTABLE.test(value)) throw new Error(`the header ${name} has an invalid value`);
  return `${fold(`${requireFieldName(name)}: ${value}`)}\r\n`;
}

/** Returns a header field with one address, of which only the local part can be outside ASCII. */
function addressField(name: string, address: string, displayName?: string | null): string {
  const phrase = displayName ? displayPhrase(displayName) : "";
  const mailbox = requireAddress(address);
  const line = `${requireFieldName(name)}: `;
  if (phrase === "") return `${line}${mailbox}\r\n`;
  const end = `<${mailbox}>`;
  const isLong = line.length + phrase.length + 1 + end.length > HEADER_LINE_MAX;
  return `${line}${phrase}${isLong ? "\r\n " : " "}${end}\r\n`;
}

/** Returns an address. Throws for one that could change a header or the recipients. */
function requireAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const isAddress = at > 0 && at < address.length - 1 && address.length <= 320;
  if (isAddress && address.indexOf("@") === at && !NOT_IN_ADDRESSES.test(address)) return address;
  throw new Error("an address of the mail is invalid");
}

/**
 * Returns a name for the place before an address or a list's id: atoms, a quoted string, or one encoded
 * word, in at most 75 octets. A longer name is cut.
 */
export function displayPhrase(name: string): string {
  const text = headerText(name);
  if (!PRINTABLE.test(text) || text.includes("=?")) return encodedWord(text, WORD_MAX);
  if (ATOMS.test(text)) return text.slice(0, WORD_MAX).trimEnd();
  let inner = "";
  for (const character of text) {
    const next = inner + (/["\\]/.test(character) ? `\\${character}` : character);
    if (next.length > WORD_MAX - 2) break;
    inner = next;
  }
  return `"${inner}"`;
}

/** Returns one encoded word of at most `max` octets. A longer text is cut and ends with an ellipsis. */
function encodedWord(text: string, max: number): string {
  const encode = wordEncoding(text);
  if (encode(text).length <= max) return encode(text);
  const characters = Array.from(text.slice(0, max));
  while (encode(`${characters.join("").trimEnd()}…`).length > max) characters.pop();
  return encode(`${characters.join("").trimEnd()}…`);
}

/** Returns encoded words for a text, of which the first has at most `firstMax` octets. */
function encodedWords(text: string, firstMax: number): string[] {
  const encode = wordEncoding(text);
  const words: string[] = [];
  let word = "";
  for (const character of text) {
    const max = words.length === 0 ? firstMax : WORD_MAX;
    if (word !== "" && encode(word + character).length > max) {
      words.push(encode(word));
      word = "";
    }
    word += character;
  }
  words.push(encode(word));
  return words;
}

/** Returns the shorter of the two encodings for a text. */
function wordEncoding(text: string): (text: string) => string {
  const sample = text.slice(0, 2_000);
  return asWordQ(sample).length <= asWordB(sample).length ? asWordQ : asWordB;
}

function asWordB(text: string): string {
  return `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`;
}

function asWordQ(text: string): string {
  let encoded = "";
  for (const byte of Buffer.from(text)) {
    const character = String.fromCharCode(byte);
    if (character === " ") encoded += "_";
    else if (/[A-Za-z0-9!*+\-/]/.test(character)) encoded += character;
    else encoded += `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return `=?UTF-8?Q?${encoded}?=`;
}

/** Folds a line at spaces, so that lines have at most 76 octets where they contain spaces. */
function fold(line: string): string {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > HEADER_LINE_MAX) {
    // The name of the field stays on the first line with the start of its value.
    const first = lines.length === 0 ? rest.indexOf(": ") + 2 : 1;
    let at = rest.lastIndexOf(" ", HEADER_LINE_MAX);
    if (at < first) at = rest.indexOf(" ", Math.max(first, HEADER_LINE_MAX));
    if (at === -1) break;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...lines, rest].join("\r\n");
}

function requireFieldName(name: string): string {
  if (FIELD_NAME.test(name)) return name;
  throw new Error("a header of the mail has an invalid name");
}

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
