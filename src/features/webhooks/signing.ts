import { SECOND_MS } from "../../kernel/time";
import { secretBytes } from "./secrets";

export interface Signed {
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
