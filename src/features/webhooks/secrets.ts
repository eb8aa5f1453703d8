import { HOUR_MS, SECOND_MS } from "../../kernel/time";
import type { RandomBytes } from "../../kernel/random";

/** Prefix of secrets. It and the bounds below are from Standard Webhooks 1.0. */
const PREFIX = "whsec_";
const BYTES_MIN = 24;
const BYTES_MAX = 64;
/** As many as the digest that they key. */
const BYTES_NEW = 32;

/** For so long the secret before a rotation signs too. */
export const ROTATION_OVERLAP_MS = 24 * HOUR_MS;

/** A new secret: `whsec_` and the base64 of 32 unpredictable bytes. */
export function newSecret(random: RandomBytes): string {
  return PREFIX + Buffer.from(random(BYTES_NEW)).toString("base64");
}

/** Returns the error of a secret without repeating it; undefined for a valid one. */
export function secretError(text: string): string | undefined {
  if (!text.startsWith(PREFIX)) return `must begin with ${PREFIX}`;
  const encoded = text.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64");
  // Buffer skips what is not base64; only the real thing survives the way back.
  if (bytes.toString("base64") !== encoded) return `must be ${PREFIX} and base64, with its padding`;
  if (bytes.length < BYTES_MIN || bytes.length > BYTES_MAX) {
    return `must hold ${BYTES_MIN} to ${BYTES_MAX} bytes; these are ${bytes.length}`;
  }
  return undefined;
}

/** The bytes that key the signature. Throws where `secretError` finds something wrong. */
export function secretBytes(secret: string): Buffer {
  const wrong = secretError(secret);
  // Without the secret: what is thrown reaches the log.
  if (wrong !== undefined) throw new Error(`The secret of a webhook ${wrong}.`);
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}

/** The secrets of an endpoint, as its row holds them. */
export interface Secrets {
  secret: string;
  previousSecret: string | null;
  /** Unix milliseconds. */
  previousSecretEndsAt: number | null;
}

/** The secrets that sign at a moment (unix ms), the present one first. */
export function secretsInForce(
  { secret, previousSecret, previousSecretEndsAt }: Secrets,
  now: number,
): string[] {
  const isOverlapping =
    previousSecret !== null && previousSecretEndsAt !== null && now < previousSecretEndsAt;
  return isOverlapping ? [secret, previousSecret] : [secret];
}

interface Signed {
  /** The event's id: the same at every try, so that a receiver can drop what it has had. */
  id: string;
  /** Time of the attempt, in unix milliseconds. */
  at: number;
  /** The body exactly as it is sent. */
  body: string;
  /** Those in force, at least one. */
  secrets: readonly string[];
}

/**
 * The headers by which a receiver knows a message for ours, by Standard Webhooks 1.0: HMAC-SHA256 over
 * id, time and body, one signature a secret. Throws for a secret that is none.
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
