const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:"]);
// Allowed in a URL, but the end of one in some markup.
const ENDS_MARKUP = /[\s<>"'`|\\^{}()]/g;

/**
 * A web address in its canonical form, its host in punycode, without a character that means something
 * in a service's markup. Undefined for what is none, or reads as one site and leads to another
 * (`https://bank.example@elsewhere.example`).
 */
export function webAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !SCHEMES.has(url.protocol) || url.username !== "" || url.password !== "") {
    return undefined;
  }
  return url.href.replace(ENDS_MARKUP, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

/** The address behind `mailto:`; undefined for another scheme. */
export function mailAddress(text: string): string | undefined {
  return /^mailto:([^?]+)/i.exec(text)?.[1];
}
