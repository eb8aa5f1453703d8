/*
 * Codes of authenticator apps (TOTP, RFC 6238): SHA-1, six digits, 30 seconds, which all apps know; and recovery codes. The
 * library is loaded with the dashboard alone.
 */
import { Secret, TOTP } from "otpauth";
import { type RandomBytes, sha256 } from "../../base/hash";

const CODES = { algorithm: "SHA1", digits: 6, period: 30 } as const;

/** Periods before and after the current one whose codes are accepted, for clocks that differ. */
const WINDOW = 1;

const SECRET_BYTES = 20;

const SECRET_TEXT = /^[A-Z2-7]{32}$/;

/** Returns a new secret in Base32: 32 characters. */
export function createSecret(random: RandomBytes): string {
  return base32(random(SECRET_BYTES));
}

/** Returns the bytes of a secret; undefined for a text of another shape. */
export function readSecret(text: string): Buffer | undefined {
  return SECRET_TEXT.test(text) ? Buffer.from(Secret.fromBase32(text).bytes) : undefined;
}

/** Returns the URI that apps read from the picture. `host` tells several installations apart. */
export function keyUri(about: { secret: string; email: string; host: string }): string {
  const { secret, email, host } = about;
  // A colon ends the issuer in a label.
  const issuer = `Allclear ${host.replaceAll(":", " ")}`;
  return new TOTP({ ...CODES, issuer, label: email, secret }).toString();
}

/**
 * Returns the period of a code, of 30 seconds and counted since 1970. Undefined if it is the code of no period near `now`
 * (unix ms). The same code is accepted again and again: the caller notes the period.
 */
export function periodOfCode(secret: Uint8Array, code: string, now: number): number | undefined {
  const delta = TOTP.validate({
    ...CODES,
    token: code,
    secret: secretOf(secret),
    timestamp: now,
    window: WINDOW,
  });
  return delta === null ? undefined : TOTP.counter({ ...CODES, timestamp: now }) + delta;
}

/** Number of recovery codes that a user gets together. */
export const RECOVERY_CODES = 10;

const RECOVERY_CODE_BYTES = 10;

/** Returns ten new recovery codes of 80 bits: 16 characters each. */
export function createRecoveryCodes(random: RandomBytes): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => base32(random(RECOVERY_CODE_BYTES)));
}

/** Returns the hash by which a recovery code is stored. */
export function hashRecoveryCode(code: string): Buffer {
  return sha256(code);
}

/** Returns a text in groups of four characters, which are easier to copy by hand. */
export function inGroups(text: string, separator: string): string {
  return text.match(/.{1,4}/g)?.join(separator) ?? "";
}

function base32(bytes: Uint8Array): string {
  return secretOf(bytes).base32;
}

/** Copies the bytes, since a buffer may be a part of a larger one. */
function secretOf(bytes: Uint8Array): Secret {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
}
