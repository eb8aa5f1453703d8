/* The address of an endpoint for e-mail: its `mailto:` URL, and the conditions under which it gets alerts. */
import {
  type AddressError,
  type MailAddress,
  maskAddress,
  parseMailAddress,
} from "../../base/mail-address";
import type { WebhookFormat } from "../../base/webhook";
import type { Reader } from "../../db/statements";
import { hasStoppedAlerts } from "../mail/alert-stop-store";
import { addressHmac, findMailKey } from "../mail/tokens";
import {
  findEnabledUserByEmail,
  listConfirmedRecipients,
  listMailWebhooks,
  type WebhookRow,
} from "./store";

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

/** Properties of an endpoint that decide if its address gets alerts. */
interface Receiver {
  format: WebhookFormat;
  url: string;
  confirmedAt: number | null;
}

/**
 * Returns true if an endpoint may get events. The address of an endpoint for e-mail must be an enabled user's
 * or have confirmed, so that nobody can send mail to strangers, and its owner must not have stopped alerts.
 */
export function isOpenToEvents(reader: Reader, { format, url, confirmedAt }: Receiver): boolean {
  if (format !== "email") return true;
  const address = recipientKeyOf(url);
  const isWelcome =
    confirmedAt !== null || findEnabledUserByEmail(reader, { email: address }) !== undefined;
  if (!isWelcome) return false;
  const key = findMailKey(reader);
  return !key || !hasStoppedAlerts(reader, addressHmac(key, address));
}

/** Lists the endpoints that send alerts to an address, oldest first. */
export function listWebhooksTo(reader: Reader, address: string): WebhookRow[] {
  const key = address.toLowerCase();
  return listMailWebhooks(reader, {}).filter(({ url }) => recipientKeyOf(url) === key);
}

/**
 * Returns the time at which the address of an endpoint confirmed alerts for another one (unix ms); null if it
 * did not, and for other formats.
 */
export function confirmedAtOf(
  reader: Reader,
  { format, url }: Pick<Receiver, "format" | "url">,
): number | null {
  if (format !== "email") return null;
  const key = recipientKeyOf(url);
  const rows = listConfirmedRecipients(reader, {});
  return rows.find((other) => recipientKeyOf(other.url) === key)?.confirmedAt ?? null;
}
