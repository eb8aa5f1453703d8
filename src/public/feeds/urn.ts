const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * The id of a resource as the `urn:uuid:` (RFC 9562) that it is made of: an IRI that stays the same
 * whatever the page's slug and the server's address become. Takes ids that this server has made.
 */
export function urnOf(id: string): string {
  let value = 0n;
  for (const digit of id.slice(id.indexOf("_") + 1)) {
    value = (value << 5n) | BigInt(CROCKFORD.indexOf(digit));
  }
  const hex = value.toString(16).padStart(32, "0");
  const groups = [0, 8, 12, 16, 20].map((from, index, all) => hex.slice(from, all[index + 1]));
  return `urn:uuid:${groups.join("-")}`;
}
