import { addressField, structuredField, textField } from "./header";
import { type EncodedText, encodeText } from "./quoted-printable";

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
