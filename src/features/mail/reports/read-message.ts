import PostalMime from "postal-mime";
import { readDeliveryStatus, readFeedback } from "./delivery-status";
import { allOf, type Fields, parseFieldGroups } from "./fields";
import type { Finding, MailHint } from "./finding";

/** Number of bytes that are read: the parts that matter come before the returned message. */
const READ_MAX = 128 * 1024;
const NESTING_MAX = 8;
const HEADERS_MAX = 48 * 1024;
/** Number of bytes of a report that are kept. */
const EXCERPT_MAX = 20 * 1024;

/** Fields in which the envelope sender of a mail comes back, of the report itself and of its parts. */
const RECEIVED_FOR = ["delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "to", "cc"];
const SENDERS = ["x-postfix-sender", "original-mail-from", "return-path", "x-envelope-from"];

const ENVELOPE_SENDER = /\+(eml_[0-9a-z]{26})-([0-9a-f]{8})@/gi;
const MAIL_ID = /\beml_[0-9a-z]{26}\b/i;
const MESSAGE_ID = /<(eml_[0-9a-z]{26})@/i;

interface Part {
  mimeType: string;
  text: string;
}

/**
 * Reads a message: a delivery status (RFC 3464) or a complaint (RFC 5965). Returns `ignored` for what says nothing
 * about a mail that failed: delays, receipts, automatic replies.
 */
export async function readMessage(raw: Uint8Array): Promise<Finding | "ignored"> {
  // Decoded byte by byte, so that a character that is cut stays readable to the parser.
  const beginning = raw.slice(0, READ_MAX);
  const excerpt = excerptOf(beginning);
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

async function parse(raw: Uint8Array): Promise<{ headers: Fields; parts: Part[] } | undefined> {
  try {
    const { headers, attachments } = await PostalMime.parse(raw, {
      forceRfc822Attachments: true,
      attachmentEncoding: "utf8",
      maxNestingDepth: NESTING_MAX,
      maxHeadersSize: HEADERS_MAX,
    });
    const fields = new Map<string, string[]>();
    for (const { key, value } of headers) fields.set(key, [...(fields.get(key) ?? []), value]);
    const parts = attachments.map(({ mimeType, content }) => ({
      mimeType,
      text: typeof content === "string" ? content : "",
    }));
    return { headers: fields, parts };
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

/** True for an automatic reply, such as a vacation notice, that is no report of a server. */
function isAutomatic(headers: Fields): boolean {
  const isReport =
    headers.has("x-failed-recipients") ||
    allOf(headers, "content-type").some((value) => /^multipart\/report\b/i.test(value));
  if (isReport) return false;
  return (
    allOf(headers, "auto-submitted").some((value) => /^auto-(replied|notified)/i.test(value)) ||
    allOf(headers, "x-autoreply", "x-autorespond").length > 0 ||
    allOf(headers, "precedence", "x-precedence").some((value) => /auto_?reply/i.test(value))
  );
}

function excerptOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, EXCERPT_MAX)).replaceAll("\0", "");
}
