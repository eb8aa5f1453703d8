import {
  type AddressError,
  type MailAddress,
  maskAddress,
  parseMailAddress,
} from "../../base/mail-address";

const SCHEME = "mailto:";

/** Characters of a local part that have a meaning in a URL. */
const RESERVED = /[%?#]/g;

/** Parses a `mailto:` URL of exactly one address. */
export function parseMailto(url: string): MailAddress | AddressError {
  const error = "must be mailto: and one address, such as mailto:oncall@example.com";
  const written = url.trim();
  if (written.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return { error };
  if (/[?#,;]/.test(written)) return { error: "must have one address, without a query" };
  const text = decoded(written.slice(SCHEME.length));
  const address = text === undefined ? { error } : parseMailAddress(text);
  return "error" in address ? { error } : address;
}

/** Returns the `mailto:` URL of an address. */
export function mailtoOf(address: string): string {
  return SCHEME + address.replace(RESERVED, encodeURIComponent);
}

/** Returns a stored `mailto:` URL with only the first character of its local part. */
export function maskedMailto(url: string): string {
  return mailtoOf(maskAddress(recipientOf(url)));
}

/** Returns the address of a stored `mailto:` URL. */
export function recipientOf(url: string): string {
  return decoded(url.slice(SCHEME.length)) ?? "";
}

/** Returns the address of a stored `mailto:` URL in the form in which addresses are compared. */
export function recipientKeyOf(url: string): string {
  return recipientOf(url).toLowerCase();
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
