/** Control characters other than tab and line breaks, non-characters and lone surrogates. */
const UNPRINTABLE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]|\p{Surrogate}/gu;

/** Removes the characters that XML 1.0 and RFC 5545 cannot represent. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "");
}
