import type { RandomBytes } from "../../base/hash";
import { HOUR_MS, SECOND_MS } from "../../base/time";

/** Prefix of secrets. The prefix and the limits below are those of Standard Webhooks 1.0. */
const PREFIX = "whsec_";
const BYTES_MIN = 24;
const BYTES_MAX = 64;
/** Length of new secrets: that of the HMAC digest. */
const BYTES_NEW = 32;

/** Time for which the earlier secret signs too after a rotation. */
export const ROTATION_OVERLAP_MS = 24 * HOUR_MS;

/** Generates a secret: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(random: RandomBytes): string {
  return PREFIX + Buffer.from(random(BYTES_NEW)).toString("base64");
}

/** Returns the error of a secret without repeating it; undefined for a valid one. */
export function secretError(text: string): string | undefined {
  if (!text.startsWith(PREFIX)) return `must begin with ${PREFIX}`;
  const encoded = text.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64");
  // Buffer ignores invalid characters, so only valid base64 is the same after decoding and
  // encoding.
  if (bytes.toString("base64") !== encoded)
    return `must be ${PREFIX} followed by base64 with padding`;
  if (bytes.length < BYTES_MIN || bytes.length > BYTES_MAX) {
    return `must have ${BYTES_MIN} to ${BYTES_MAX} bytes, not ${bytes.length}`;
  }
  return undefined;
}

/** Returns the bytes of a secret. Throws if `secretError` finds an error. */
export function secretBytes(secret: string): Buffer {
  const wrong = secretError(secret);
  // The message must not contain the secret, since it is logged.
  if (wrong !== undefined) throw new Error(`The secret of a webhook ${wrong}.`);
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}

/** Secrets of an endpoint, as stored. */
interface Secrets {
  secret: string;
  previousSecret: string | null;
  /** Unix milliseconds. */
  previousSecretEndsAt: number | null;
}

/** Returns the secrets that sign at `now` (unix ms), the current one first. */
export function secretsInForce(
  { secret, previousSecret, previousSecretEndsAt }: Secrets,
  now: number,
): string[] {
  const isOverlapping =
    previousSecret !== null && previousSecretEndsAt !== null && now < previousSecretEndsAt;
  return isOverlapping ? [secret, previousSecret] : [secret];
}

interface Signed {
  /** Id of the event, the same at every attempt, so that receivers can discard duplicates. */
  id: string;
  /** Time of the attempt, in unix milliseconds. */
  at: number;
  /** Body as it is sent. */
  body: string;
  /** Secrets that sign, at least one. */
  secrets: readonly string[];
}

/**
 * Returns the signature headers of Standard Webhooks 1.0: HMAC-SHA256 over id, time and body, one
 * signature per secret. Throws for an invalid secret.
 */
export function signatureHeaders({ id, at, body, secrets }: Signed): Record<string, string> {
  const timestamp = String(Math.floor(at / SECOND_MS));
  const content = `${id}.${timestamp}.${body}`;
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((secret) => `v1,${sign(secret, content)}`).join(" "),
  };
}

function sign(secret: string, content: string): string {
  return new Bun.CryptoHasher("sha256", secretBytes(secret)).update(content).digest("base64");
}
