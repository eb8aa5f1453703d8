import { timingSafeEqual } from "node:crypto";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { findSetting, putSetting } from "../settings/store";

/** Name of the setting with the key from which tokens and marks of addresses are derived. */
const MAIL_KEY = "mail_key";
const KEY_BYTES = 32;

/** Purpose of a link in a mail. A token of one purpose is none of another. */
export type LinkPurpose = "alerts" | "confirm" | "decline" | "manage" | "unsubscribe";

/** Random key of the installation. No token is stored: each is derived again whenever it is needed. */
export interface MailKey {
  readonly bytes: Uint8Array;
}

/** Object of a token: a sign-up request or a subscriber. */
interface TokenSubject {
  id: string;
  /** For managing alone: the subscriber's version of links. */
  version?: number;
}

/** Returns the key of the installation; undefined if nothing was derived from one yet. */
export function findMailKey(reader: Reader): MailKey | undefined {
  const value = findSetting(reader, { name: MAIL_KEY })?.value;
  return typeof value === "string" ? { bytes: Buffer.from(value, "base64") } : undefined;
}

/** Returns the key of the installation, which it creates at first. */
export function ensureMailKey(ctx: Ctx, tx: Tx): MailKey {
  const found = findMailKey(tx);
  if (found) return found;
  const bytes = Buffer.from(ctx.random(KEY_BYTES));
  putSetting(tx, { name: MAIL_KEY, value: bytes.toString("base64"), now: ctx.clock.now() });
  return { bytes };
}

/** Returns the token of a link: the id of its subject, and a MAC over purpose and id. */
export function tokenOf(key: MailKey, purpose: LinkPurpose, subject: TokenSubject): string {
  return `${subject.id}.${macOf(key, purpose, subject)}`;
}

/** Returns the id that a token names, whether the token is right or not; undefined for other text. */
export function subjectOfToken(token: string): string | undefined {
  return /^([a-z]{3}_[0-9a-z]{26})\.[\w-]{43}$/.exec(token)?.[1];
}

/** Returns true if a token is the one of this purpose and subject. Takes the same time for each wrong one. */
export function isTokenOf(
  key: MailKey,
  purpose: LinkPurpose,
  subject: TokenSubject,
  token: string,
): boolean {
  const expected = Buffer.from(tokenOf(key, purpose, subject));
  const given = Buffer.from(token);
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}

/**
 * Returns the mark of an address, by which suppressions are kept: they outlive the address. `addressKey`
 * is the address in lower case.
 */
export function addressHmac(key: MailKey, addressKey: string): string {
  return hmac(key, "address", addressKey);
}

function macOf(key: MailKey, purpose: LinkPurpose, { id, version }: TokenSubject): string {
  return hmac(key, purpose, version === undefined ? id : `${id}\n${version}`);
}

/** Returns an HMAC-SHA-256 as 43 characters. The purpose keeps values of different kinds apart. */
function hmac(key: MailKey, purpose: string, text: string): string {
  return new Bun.CryptoHasher("sha256", key.bytes)
    .update(`${purpose}\n${text}`)
    .digest("base64url");
}

const MAC_LENGTH = 8;

/**
 * Returns the envelope sender of a mail, by which a later report about it is recognised:
 * `local+eml_…-{MAC}@domain`, at most 64 octets before the `@`.
 */
export function envelopeSender(key: MailKey, bounceAddress: string, mailId: string): string {
  const at = bounceAddress.lastIndexOf("@");
  const [local, domain] = [bounceAddress.slice(0, at), bounceAddress.slice(at + 1)];
  return `${local}+${mailId}-${bounceMac(key, mailId)}@${domain}`;
}

/** Returns the MAC of a mail's envelope sender, in lower case. */
export function bounceMac(key: MailKey, mailId: string): string {
  return new Bun.CryptoHasher("sha256", key.bytes)
    .update(`bounce\n${mailId}`)
    .digest("hex")
    .slice(0, MAC_LENGTH);
}
