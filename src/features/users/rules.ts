import type { Role } from "../../base/actor";
import { containsKeyShape } from "../../base/ids";
import { AMBIGUOUS_ADDRESS } from "../../base/mail-address";
import { hasUnsafeCharacters } from "../../base/text";
import { DAY_MS } from "../../base/time";

const EMAIL = /^[^\s@]+@[^\s@]+$/u;
/**
 * Maximum length in UTF-16 units, far above any email: composing takes time that grows with the
 * square of the length.
 */
const LONGEST_COMPOSED = 1_000;

/**
 * Returns an email as it is stored and looked up: trimmed, composed (Unicode NFC) and in lower
 * case, including letters that SQLite cannot lower.
 */
export function canonicalEmail(text: string): string {
  const trimmed = text.trim();
  return (trimmed.length > LONGEST_COMPOSED ? trimmed : trimmed.normalize("NFC")).toLowerCase();
}

/**
 * Returns the error of a canonical email's form; undefined for a valid one. The schema limits its
 * length.
 */
export function emailError(email: string): string | undefined {
  const isEmail = EMAIL.test(email) && !hasUnsafeCharacters(email) && !containsKeyShape(email);
  if (isEmail && AMBIGUOUS_ADDRESS.test(email)) return "must not begin with - or contain =?";
  if (isEmail) return undefined;
  return "must be an e-mail address, such as ada@example.com";
}

/** Returns the role of a new user, or the error of the given one. */
export function decideRole(
  desired: Role | undefined,
  isFirst: boolean,
): { role: Role } | { error: string } {
  if (!isFirst) return desired ? { role: desired } : { error: "is required" };
  const isOwner = desired === undefined || desired === "owner";
  return isOwner ? { role: "owner" } : { error: "must be owner: this is the first user" };
}

interface Owner {
  passwordHash: string | null;
}

/**
 * Returns true if a live owner may give up the role, given the other live owners. One must remain;
 * an owner who can sign in is not replaced by those who have not chosen a password yet.
 */
export function canLoseOwnership(owner: Owner, others: readonly Owner[]): boolean {
  return others.some((other) => other.passwordHash !== null || owner.passwordHash === null);
}

/** State of a user: can sign in, has no password yet, or is disabled. */
type UserState = "active" | "invited" | "disabled";

export function stateOfUser(user: {
  disabled_at: string | null;
  has_password: boolean;
}): UserState {
  if (user.disabled_at !== null) return "disabled";
  return user.has_password ? "active" : "invited";
}

/** Returns true if a user is not disabled. */
export function isLive(user: { disabledAt: number | null }): boolean {
  return user.disabledAt === null;
}

/** Days before the expiry of an API key at which a mail warns of it. */
export const WARNING_DAYS = [3, 14] as const;

/**
 * Returns the step of the warning about a key that is due at `at` (unix ms); undefined if none is. A key that was
 * created later than a step does not have it.
 */
export function warningStep(
  { createdAt, expiresAt }: { createdAt: number; expiresAt: number },
  at: number,
): number | undefined {
  const steps = WARNING_DAYS.filter((days) => expiresAt - createdAt >= days * DAY_MS);
  return steps.find((days) => expiresAt - at <= days * DAY_MS);
}
