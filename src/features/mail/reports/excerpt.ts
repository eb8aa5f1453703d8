import { decodeWords } from "postal-mime";
import { redactText } from "../../../base/secrets";

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
export function excerptOf(message: Uint8Array): string {
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
