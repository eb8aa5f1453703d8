import PostalMime from "postal-mime";
import { readDeliveryStatus, readFeedback } from "./delivery-status";
import { excerptOf } from "./excerpt";
import { allOf, type Fields, parseFieldGroups } from "./fields";
import type { Finding, MailHint } from "./finding";

/**
 * Limits of what is read: bytes, lines, and lines that may begin a part. The parts that matter come before the
 * returned message. Together they bound the time that a hostile message takes to some milliseconds.
 */
const READ_MAX = 128 * 1024;
const LINES_MAX = 8_000;
const PARTS_MAX = 400;
const NESTING_MAX = 8;
const HEADERS_MAX = 32 * 1024;

/** Fields in which the envelope sender of a mail comes back, of the report itself and of its parts. */
const RECEIVED_FOR = ["delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "to", "cc"];
const SENDERS = ["x-postfix-sender", "original-mail-from", "return-path", "x-envelope-from"];

const ENVELOPE_SENDER = /\+(eml_[0-9a-z]{26})-([0-9a-f]{8})@/gi;
const MAIL_ID = /\beml_[0-9a-z]{26}\b/i;
const MESSAGE_ID = /<(eml_[0-9a-z]{26})@/i;

const LF = 0x0a;
const DASH = 0x2d;

interface Part {
  mimeType: string;
  text: string;
}

/**
 * Reads a message: a delivery status (RFC 3464) or a complaint (RFC 5965). Returns `ignored` for what says nothing
 * about a mail that failed: delays, receipts, automatic replies.
 */
export async function readMessage(raw: Uint8Array): Promise<Finding | "ignored"> {
  const beginning = raw.subarray(0, endOfReading(raw));
  const excerpt = excerptOf(raw);
  const unknown: Finding = {
    kind: "other",
    isCertain: false,
    status: null,
    diagnostic: "",
    mails: [],
    excerpt,
  };
  const message = await parse(beginning);
  if (!message) return unknown;
  const { headers, parts } = message;
  const status = parts.find(({ mimeType }) =>
    /^message\/(global-)?delivery-status$/.test(mimeType),
  );
  const feedback = parts.find(({ mimeType }) => mimeType === "message/feedback-report");
  const report = parseFieldGroups((status ?? feedback)?.text ?? "");
  if (!status && !feedback) return isAutomatic(headers) ? "ignored" : unknown;
  const meaning = status ? readDeliveryStatus(report) : readFeedback(report[0]);
  if (meaning === undefined || meaning === "ignored") return meaning ?? unknown;
  return { ...unknown, ...meaning, mails: hintsOf(headers, report[0], returnedHeaders(parts)) };
}

/** Returns the position up to which a message is read. */
function endOfReading(raw: Uint8Array): number {
  const end = Math.min(raw.byteLength, READ_MAX);
  let lines = 0;
  let parts = 0;
  for (let at = raw.indexOf(LF); at !== -1 && at < end; at = raw.indexOf(LF, at + 1)) {
    if (raw[at + 1] === DASH && raw[at + 2] === DASH) parts += 1;
    if (++lines === LINES_MAX || parts === PARTS_MAX) return at + 1;
  }
  return end;
}

async function parse(raw: Uint8Array): Promise<{ headers: Fields; parts: Part[] } | undefined> {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const [header = ""] = text.toString("latin1", 0, HEADERS_MAX).split(/\r?\n\r?\n/, 1);
  const headers: Fields = parseFieldGroups(header)[0] ?? new Map();
  // The parser would also read the addresses, which takes long if there are many.
  const needed = ["content-type", "content-transfer-encoding"].flatMap((name) =>
    allOf(headers, name).map((value) => `${name}: ${value}\r\n`),
  );
  const message = Buffer.concat([
    Buffer.from(needed.join(""), "latin1"),
    text.subarray(header.length),
  ]);
  try {
    const { attachments } = await PostalMime.parse(message, {
      forceRfc822Attachments: true,
      attachmentEncoding: "utf8",
      maxNestingDepth: NESTING_MAX,
      maxHeadersSize: HEADERS_MAX,
    });
    const parts = attachments.map(({ mimeType, content }) => ({
      mimeType,
      text: typeof content === "string" ? content : "",
    }));
    return { headers, parts };
  } catch {
    // Nested too deep, or with too large headers.
    return undefined;
  }
}

/** Returns the header of the message that came back with a report. */
function returnedHeaders(parts: readonly Part[]): Fields | undefined {
  const returned = parts.find(({ mimeType }) =>
    /^(message\/(rfc822|global)|(text\/rfc822|message\/global)-headers)$/.test(mimeType),
  );
  return returned && parseFieldGroups(returned.text.trimStart())[0];
}

/** Returns the mails that a report names: by envelope senders, by its envelope id, by the returned message. */
function hintsOf(
  headers: Fields,
  report: Fields | undefined,
  returned: Fields | undefined,
): MailHint[] {
  const senders = [
    ...allOf(headers, ...RECEIVED_FOR),
    ...allOf(report, ...SENDERS),
    ...allOf(returned, ...SENDERS),
  ].join("\n");
  const proven = [...senders.matchAll(ENVELOPE_SENDER)].map(([, id = "", mac = ""]) => ({
    id: id.toLowerCase(),
    mac: mac.toLowerCase(),
  }));
  const named = [
    ...allOf(report, "original-envelope-id").map((text) => MAIL_ID.exec(text)?.[0]),
    ...allOf(returned, "message-id").map((text) => MESSAGE_ID.exec(text)?.[1]),
  ].flatMap((id) => (id === undefined ? [] : [{ id: id.toLowerCase() }]));
  // More than one or two come only from a hostile message.
  return [...proven.slice(0, 4), ...named.slice(0, 4)];
}

/** True for an automatic reply, such as a vacation notice or a receipt for reading, that is no report of a server. */
function isAutomatic(headers: Fields): boolean {
  const types = allOf(headers, "content-type").filter((value) =>
    /^multipart\/report\b/i.test(value),
  );
  if (types.some((value) => /disposition-notification/i.test(value))) return true;
  if (types.length > 0 || headers.has("x-failed-recipients")) return false;
  return (
    allOf(headers, "auto-submitted").some((value) => /^auto-(replied|notified)/i.test(value)) ||
    allOf(headers, "x-autoreply", "x-autorespond").length > 0 ||
    allOf(headers, "precedence", "x-precedence").some((value) => /auto_?reply/i.test(value))
  );
}
