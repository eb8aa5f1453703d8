import { lazy } from "./lazy";

// Loaded with the first body that may declare a character set, not while the server starts.
const sniffer = lazy(
  () => require("html-encoding-sniffer") as typeof import("html-encoding-sniffer").default,
);

/** Encodings that the Encoding Standard only names, so that browsers show nothing of them. */
export const UNREAD_CHARSET = "replacement";

/**
 * Returns the character set of a body by its byte order mark, its content type, or what an HTML or XML
 * document declares; undefined for none.
 */
export function charsetOf(bytes: Uint8Array, contentType: string): string | undefined {
  const [, quoted, bare] =
    /;\s*charset\s*=\s*(?:["']([^"']*)["']|([^\s;,]*))/i.exec(contentType) ?? [];
  const label = (quoted ?? bare ?? "").trim();
  const type = contentType.split(/[;,]/, 1)[0]?.trim().toLowerCase() ?? "";
  const isXml = /[/+]xml$/.test(type);
  const canDeclare = isXml || type === "" || type === "text/html";
  const hasMark = bytes[0] === 0xfe || bytes[0] === 0xff || bytes[0] === 0xef;
  if (!hasMark && /^utf-?8$/i.test(label)) return "UTF-8";
  if (!hasMark && !canDeclare && label === "") return undefined;
  const found = sniffer()(canDeclare ? bytes : bytes.subarray(0, MARK_BYTES), {
    xml: isXml,
    transportLayerEncodingLabel: label,
    defaultEncoding: "",
  });
  return found === "" ? undefined : found;
}

const MARK_BYTES = 3;

/**
 * Decodes a body. Without a character set it is UTF-8, or windows-1252 if it has bytes that UTF-8 does not allow,
 * as browsers do. A character that is cut off at the end is left out if `isCut`.
 */
export function decodeText(bytes: Uint8Array, charset: string | undefined, isCut: boolean): string {
  if (charset === undefined) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    } catch {
      return new TextDecoder("windows-1252").decode(bytes);
    }
  }
  return new TextDecoder(charset).decode(bytes, { stream: isCut });
}
