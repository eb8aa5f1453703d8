import { type MailKey, shortMac } from "./tokens";

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
  return shortMac(key, "bounce", mailId, MAC_LENGTH);
}
