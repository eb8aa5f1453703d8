import { hasUnsafeCharacters } from "./text";

/** A valid e-mail address. */
export interface MailAddress {
  /** Local part as typed, and the domain in A-labels and lower case. Mail is sent to it. */
  address: string;
  /** Local part in lower case, and the domain. Addresses with the same key are the same address. */
  key: string;
  /** Key without plus-tag and without dots in the local part, for limits of mails to one recipient. */
  throttleKey: string;
  domain: string;
}

/** A name with an address, such as the sender of a mail. */
export interface Mailbox {
  name: string | null;
  address: MailAddress;
}

/** Reason why a text is not an address, as the end of the sentence "The address …". */
export interface AddressError {
  error: string;
}

/** Reason why a text is not an address, with its name. */
interface InvalidAddress extends AddressError {
  reason: "address" | "address_ascii" | "address_long" | "address_start";
}

/** Limits of RFC 5321, in octets. */
const LOCAL_PART_MAX = 64;
const ADDRESS_MAX = 254;

/** Limit of characters that are read: normalising combining marks takes quadratic time. */
const READ_MAX = 1_000;

/** Maximum length of the name of a mailbox, in UTF-16 units. */
const NAME_MAX = 100;

const NOT_AN_ADDRESS: InvalidAddress = {
  reason: "address",
  error: "must be an e-mail address, such as name@example.com",
};

// Atoms of RFC 5321 and, for SMTPUTF8, of RFC 6531. Quoted local parts and comments are not read.
const LOCAL_PART =
  /^[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+(?:\.[\w!#$%&'*+/=?^`{|}~\u0080-\u{10ffff}-]+)*$/u;
const LONE_SURROGATE_OR_SPACE = /[\s\u00a0\ufeff\u200b-\u200d\u2060\ufffd]|\p{Cs}|\p{Cn}|\p{Zs}/u;

// Characters that a URL removes, decodes, or takes as the end of its host.
const NOT_IN_DOMAINS = /[\s/\\?#@%:[\]]/;

const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

/**
 * Matches addresses that some programs of a mail server take for something else: an option (`-`) or an encoded word
 * (`=?`).
 */
export const AMBIGUOUS_ADDRESS = /^-|=\?/;

interface AddressRules {
  /** True to accept a local part outside ASCII. */
  allowUtf8Local?: boolean;
}

/** Parses an address that may be new here. */
export function parseMailAddress(
  text: string,
  rules: AddressRules = {},
): MailAddress | InvalidAddress {
  const address = parseStoredAddress(text, rules);
  if ("error" in address || !AMBIGUOUS_ADDRESS.test(address.address)) return address;
  return { reason: "address_start", error: "must not begin with - or contain =?" };
}

/** Parses an address that is stored, sought or erased. Earlier versions accepted ambiguous ones. */
export function parseStoredAddress(
  text: string,
  { allowUtf8Local = false }: AddressRules = {},
): MailAddress | InvalidAddress {
  if (text.length > READ_MAX) return tooLong();
  const typed = text.trim().normalize("NFC");
  const at = typed.lastIndexOf("@");
  if (at < 1 || hasUnsafeCharacters(typed)) return NOT_AN_ADDRESS;
  const local = typed.slice(0, at);
  const domain = toDomain(typed.slice(at + 1));
  if (!LOCAL_PART.test(local) || LONE_SURROGATE_OR_SPACE.test(local)) return NOT_AN_ADDRESS;
  if (domain === undefined) return NOT_AN_ADDRESS;
  if (!allowUtf8Local && !isAscii(local)) {
    return {
      reason: "address_ascii",
      error: "must have only ASCII characters before the @",
    };
  }
  const address = `${local}@${domain}`;
  if (Buffer.byteLength(local) > LOCAL_PART_MAX || Buffer.byteLength(address) > ADDRESS_MAX) {
    return tooLong();
  }
  const lower = local.toLowerCase().normalize("NFC");
  const withoutTag = lower.replace(/(?!^)\+.*$/u, "").replaceAll(".", "");
  return {
    address,
    key: `${lower}@${domain}`,
    throttleKey: `${withoutTag}@${domain}`,
    domain,
  };
}

/** Parses `status@example.com` or `Northwind <status@example.com>`. */
export function parseMailbox(text: string): Mailbox | AddressError {
  const [, before, inside] = /^([^<>]*)<([^<>]*)>\s*$/.exec(text.slice(0, READ_MAX)) ?? [];
  const address = parseMailAddress(inside ?? text);
  if ("error" in address) return address;
  const name = (before ?? "").trim().replace(/^"(.*)"$/, "$1");
  if (hasUnsafeCharacters(name)) return { error: "must not have control characters in its name" };
  if (name.length > NAME_MAX) {
    return { error: `must have a name of at most ${NAME_MAX} characters` };
  }
  return { name: name === "" ? null : name, address };
}

/** Returns a mailbox as people type it. */
export function formatMailbox({ name, address }: { name: string | null; address: string }): string {
  return name === null ? address : `${name} <${address}>`;
}

/** Returns an address of which only the first character before the @ is shown: "a…@example.com". */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf("@");
  const [first = ""] = address.slice(0, Math.max(0, at));
  return `${first}…${address.slice(at)}`;
}

/** Returns true if a text has only ASCII characters. */
export function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) return false;
  }
  return true;
}

/** Converts a domain to A-labels by UTS 46; undefined if it is invalid, an address or has no dot. */
function toDomain(text: string): string | undefined {
  if (text === "" || NOT_IN_DOMAINS.test(text)) return undefined;
  let domain: string;
  try {
    domain = new URL(`http://${text}/`).hostname;
  } catch {
    return undefined;
  }
  const top = domain.slice(domain.lastIndexOf(".") + 1);
  return DOMAIN.test(domain) && !/^\d+$/.test(top) ? domain : undefined;
}

function tooLong(): InvalidAddress {
  return {
    reason: "address_long",
    error: `must have at most ${LOCAL_PART_MAX} bytes before the @ and ${ADDRESS_MAX} in all`,
  };
}

/** Events that a subscriber chooses by kind. */
export const SUBSCRIBER_EVENTS = ["incidents", "maintenance", "status"] as const;
export type SubscriberEvent = (typeof SUBSCRIBER_EVENTS)[number];

/** `page`: everything about the page; `selection`: the chosen components and groups. */
export type SubscriberScope = "page" | "selection";

/** Origin of a subscriber's consent. */
export type ConsentSource = "form" | "dashboard" | "command" | "import";

/**
 * State of a sign-up: not looked at; a mail was queued; none will be; confirmed; void because another request
 * of the address was confirmed, or the subscription has ended; declined by the person.
 */
export type MailRequestState = "waiting" | "sent" | "unsent" | "confirmed" | "void" | "declined";

/** `1`: mail of an account or a sign-up; `2`: to the team; `3`: of a mailing. Sent in this order. */
export type MailClass = 1 | 2 | 3;

/** Template of alerts. Each is sent once; the delivery that it belongs to decides about another try. */
export const ALERT_TEMPLATE = "alert";

export type MailStatus =
  "pending" | "sent" | "bounced" | "failed" | "superseded" | "cancelled" | "expired";

export type MailingState = "expanding" | "sending" | "held" | "done" | "stopped";

/** Reasons for which an address gets no mail of a kind. `erased` stops nothing. */
export const SUPPRESSION_REASONS = [
  "bounced",
  "soft",
  "complained",
  "unsubscribed",
  "declined",
  "blocked",
  "erased",
] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

/** Name of the setting with the last holds of all mailings. */
export const MAIL_HOLDS_SETTING = "mail_holds";

/**
 * Reason for which all mailings are held: too many of their mails failed, or a restore could not read who left
 * since the backup.
 */
type HoldReason = "failures" | "restore";

/** Hold of all mailings. Other mails are sent. Times are in unix ms. */
export interface MailHold {
  reason: HoldReason;
  at: number;
  /** Time of the oldest result that led to it. */
  since: number;
  /** Null until an admin goes on. */
  endedAt: number | null;
}

/** Settings of a page about e-mail. Names as in the API. */
export interface PageMailSettings {
  /** False if visitors cannot subscribe. */
  subscriptions: boolean;
  /** Name of the sender; null for the name of the page. */
  from_name: string | null;
  reply_to: string | null;
  /** `thread`: mails of one incident have the same subject; `status`: the subject begins with the status. */
  subject: "thread" | "status";
  /** Plain text at the end of each mail, such as a legal address. */
  footer: string | null;
}
