import PostalMime, { decodeWords } from "postal-mime";
import { redactText } from "../../base/redaction";
import type { Finding, MailHint } from "./reports";
import { isUnknownAddress, maybeUnknownAddress } from "./rules";
import { cleanReply } from "./reply";

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

/** Meaning of a delivery status or a complaint. */
type Meaning = Pick<Finding, "kind" | "isCertain" | "status" | "diagnostic">;

const ENHANCED = /\b([245]\.\d{1,3}\.\d{1,3})\b/;

const REPLY_CODE = /\b([245]\d\d)\b/;

/**
 * Returns the meaning of a delivery status (RFC 3464): one group for the message, one for each recipient. Returns
 * `ignored` if no mail failed, and undefined without recipients.
 */
function readDeliveryStatus(groups: readonly Fields[]): Meaning | "ignored" | undefined {
  const recipients = groups.filter(
    (group) => group.has("final-recipient") || group.has("action") || group.has("status"),
  );
  if (recipients.length === 0) return undefined;
  // A mail has one recipient. A list or an alias may have more.
  const failed = recipients.find(hasFailed);
  if (!failed) return "ignored";
  // Some servers give the words of the last one without its type.
  const words = cleanReply(
    (firstOf(failed, "diagnostic-code") ?? "").replace(/^\s*[\w-]{1,20}\s*;\s*/, ""),
  );
  const own = ENHANCED.exec(firstOf(failed, "status") ?? "")?.[1];
  const status = own !== undefined && !isGeneric(own) ? own : (ENHANCED.exec(words)?.[1] ?? own);
  const base = { status: status ?? null, diagnostic: words };
  if (status !== undefined && isUnknownAddress(status)) {
    return { kind: "hard", isCertain: true, ...base };
  }
  const code = Number(REPLY_CODE.exec(words)?.[1]);
  if ((status === undefined || isGeneric(status)) && maybeUnknownAddress(code)) {
    return { kind: "hard", isCertain: false, ...base };
  }
  return { kind: "soft", isCertain: false, ...base };
}

/** Returns the meaning of a complaint (RFC 5965). */
function readFeedback(fields: Fields | undefined): Meaning | "ignored" {
  const type = (firstOf(fields, "feedback-type") ?? "").toLowerCase();
  // Reports about signatures, and mail that was moved out of the spam folder, are no complaints.
  if (type === "" || type === "not-spam" || type === "auth-failure") return "ignored";
  return { kind: "complaint", isCertain: true, status: null, diagnostic: cleanReply(type) };
}

/** True for a recipient to whom the mail will not be delivered: not one that is delayed, or has it. */
function hasFailed(group: Fields): boolean {
  const [action] = allOf(group, "action");
  if (action !== undefined) return /^\s*fail/i.test(action);
  return /^\s*5\./.test(firstOf(group, "status") ?? "");
}

/** True for a status that says no more than its class. */
function isGeneric(status: string): boolean {
  return /^[245]\.0\.0$/.test(status);
}

/** Number of bytes of a report that are kept. */
const EXCERPT_MAX = 20 * 1024;

/** Number of boundaries that are recognised. More come only from a hostile message. */
const BOUNDARIES_MAX = 50;

const ENCODING = /^content-transfer-encoding:[ \t]*(base64|quoted-printable)\b/i;

const BOUNDARY = /\bboundary[ \t]*=[ \t]*(?:"([^"\r\n]+)"|([^\s;"]+))/gi;

const BASE64_LINE = /^[a-z0-9+/=]*\s*$/i;

/** Control characters of no text, not even of one in UTF-16 or ISO-2022-JP. */
// oxlint-disable-next-line no-control-regex
const NOT_TEXT = /[\u0001-\u0008\u000e-\u001a\u001c-\u001f]/;

/** Lines with the same encoding; undefined for those in the clear. */
interface Piece {
  encoding: string | undefined;
  text: string;
}

/**
 * Returns the beginning of a message in the clear, so that an address in it is found when it is erased: what is
 * encoded for transfer is decoded, and parts that are no text are left out. Links in a mail that came back may still
 * work, so their tokens are removed, also where quoted-printable breaks them over lines.
 */
function excerptOf(message: Uint8Array): string {
  const raw = Buffer.from(message.subarray(0, EXCERPT_MAX)).toString("latin1");
  const bytes = Buffer.from(decodeParts(raw), "latin1");
  const text = new TextDecoder().decode(bytes).replaceAll("\0", "");
  return redactText(decodeWords(text).replaceAll(/=\r?\n/g, ""));
}

/** Decodes the parts of a message, also those of messages in it. Each character is a byte. */
function decodeParts(message: string): string {
  const boundaries = [...message.matchAll(BOUNDARY)].slice(0, BOUNDARIES_MAX);
  const delimiters = boundaries.map(([, quoted, bare]) => `--${quoted ?? bare}`);
  let piece: Piece = { encoding: undefined, text: "" };
  const pieces = [piece];
  const begin = (encoding: string | undefined) => pieces.push((piece = { encoding, text: "" }));
  let announced: string | undefined;
  for (const line of message.split(/(?<=\n)/)) {
    if (piece.encoding !== undefined && isAfter(piece.encoding, line, delimiters)) begin(undefined);
    piece.text += line;
    if (piece.encoding !== undefined) continue;
    announced = ENCODING.exec(line)?.[1]?.toLowerCase() ?? announced;
    if (announced === undefined || line.trim() !== "") continue;
    begin(announced);
    announced = undefined;
  }
  return pieces.map(decodePiece).join("");
}

/** Returns true for the first line after an encoded part. */
function isAfter(encoding: string, line: string, delimiters: readonly string[]): boolean {
  if (encoding === "base64") return !BASE64_LINE.test(line);
  return line.startsWith("--") && delimiters.some((delimiter) => line.startsWith(delimiter));
}

function decodePiece({ encoding, text }: Piece): string {
  if (encoding === undefined) return text;
  if (encoding === "quoted-printable") {
    return text
      .replaceAll(/=[ \t]*\r?\n/g, "")
      .replaceAll(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  }
  // Some servers pad each line.
  const units = text.replaceAll(/\s/g, "").split(/=+/);
  const decoded = units.map((unit) => Buffer.from(unit, "base64").toString("latin1")).join("");
  if (decoded === "") return text;
  return NOT_TEXT.test(decoded) ? "[not text]\r\n" : `${decodeParts(decoded)}\r\n`;
}

/** Fields of a header or of a report, by their names in lower case. A repeated field has several values. */
type Fields = ReadonlyMap<string, readonly string[]>;

/** Limits of the fields of a part, so that reading a hostile one stays cheap. */
const TEXT_MAX = 64 * 1024;

const VALUE_MAX = 4_000;

const GROUPS_MAX = 50;

const FIELD = /^([!-9;-~]{1,100})[ \t]*:(.*)$/;

/** Parses groups of fields that blank lines separate, such as those of a delivery status (RFC 3464). */
function parseFieldGroups(text: string): Fields[] {
  const groups: Map<string, string[]>[] = [];
  let group: Map<string, string[]> | undefined;
  let values: string[] | undefined;
  for (const line of text.slice(0, TEXT_MAX).split(/\r\n|\r|\n/)) {
    if (line.trim() === "") {
      group = values = undefined;
    } else if (/^[ \t]/.test(line)) {
      if (values) values.push(`${values.pop() ?? ""} ${line.trim()}`.slice(0, VALUE_MAX));
    } else {
      const [, name = "", value = ""] = FIELD.exec(line) ?? [];
      values = undefined;
      if (name === "") continue;
      if (!group) {
        if (groups.length === GROUPS_MAX) break;
        groups.push((group = new Map()));
      }
      const key = name.toLowerCase();
      values = group.get(key) ?? [];
      group.set(key, values);
      values.push(value.trim().slice(0, VALUE_MAX));
    }
  }
  return groups;
}

/** Returns the first value of a field; undefined without one. */
function firstOf(fields: Fields | undefined, name: string): string | undefined {
  return fields?.get(name)?.[0];
}

/** Returns all values of some fields. */
function allOf(fields: Fields | undefined, ...names: readonly string[]): string[] {
  return names.flatMap((name) => fields?.get(name) ?? []);
}
