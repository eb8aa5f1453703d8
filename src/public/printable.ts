// Control characters other than tab and the ends of lines, and what Unicode says is no character.
const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]|\p{Surrogate}/gu;

/** A text without the characters that XML 1.0 and RFC 5545 have no way to write. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "");
}
