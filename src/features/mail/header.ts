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
export function textField(name: string, value: string): string {
  const text = headerText(value);
  const line = `${requireFieldName(name)}: `;
  if (PRINTABLE.test(text) && !text.includes("=?") && !/\S{900}/.test(text)) {
    return `${fold(line + text)}\r\n`;
  }
  return `${line}${encodedWords(text, HEADER_LINE_MAX - line.length).join("\r\n ")}\r\n`;
}

/** Returns a header field with a structured value. Throws for characters outside printable ASCII. */
export function structuredField(name: string, value: string): string {
  if (!PRINTABLE.test(value)) throw new Error(`the header ${name} has an invalid value`);
  return `${fold(`${requireFieldName(name)}: ${value}`)}\r\n`;
}

/** Returns a header field with one address, of which only the local part can be outside ASCII. */
export function addressField(name: string, address: string, displayName?: string | null): string {
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
