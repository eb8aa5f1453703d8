import type { RandomBytes } from "./hash";
import { lazy } from "./lazy";

/** Encrypts texts that browsers carry for this server, and that no one else can read or change. */
interface Seal {
  /** Returns a sealed text, in the alphabet of Base64 for URLs. */
  seal(text: string): string;
  /** Returns the text that was sealed; undefined for any other, and for one of another seal. */
  open(sealed: string): string | undefined;
}

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
/** Random for each text, as AES-GCM needs it. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Creates a seal with a key that only this process has, so that nothing sealed outlives it. */
export function createSeal(random: RandomBytes): Seal {
  const key = lazy(() => random(KEY_BYTES));
  // Loaded here, since no start needs it.
  const crypto = () => process.getBuiltinModule("node:crypto");
  return {
    seal(text) {
      const nonce = random(NONCE_BYTES);
      const cipher = crypto().createCipheriv(ALGORITHM, key(), nonce);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, "base64url");
      const bodyAt = NONCE_BYTES + TAG_BYTES;
      if (bytes.length < bodyAt) return undefined;
      const decipher = crypto().createDecipheriv(ALGORITHM, key(), bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, bodyAt));
      try {
        const opened = [decipher.update(bytes.subarray(bodyAt)), decipher.final()];
        return Buffer.concat(opened).toString("utf8");
      } catch {
        return undefined;
      }
    },
  };
}
