import type { Role } from "../../kernel/role";
import { containsKeyShape } from "../../kernel/key-shape";
import { hasUnsafeCharacters } from "../../kernel/text";

const EMAIL = /^[^\s@]+@[^\s@]+$/u;
/** In UTF-16 units, well above any email. Composing takes time that grows with the square of a text. */
const LONGEST_COMPOSED = 1_000;

/**
 * An email as it is kept and looked up: trimmed, composed (Unicode's NFC) and in lower case, so that
 * it is the same in any case of letters, also of those that SQLite does not know the cases of.
 */
export function canonicalEmail(text: string): string {
  const trimmed = text.trim();
  return (trimmed.length > LONGEST_COMPOSED ? trimmed : trimmed.normalize("NFC")).toLowerCase();
}

/** What is wrong with the form of a canonical email; undefined if nothing. Its length is the schema's. */
export function emailError(email: string): string | undefined {
  const isEmail = EMAIL.test(email) && !hasUnsafeCharacters(email) && !containsKeyShape(email);
  if (isEmail) return undefined;
  return "must be an email address, such as ada@example.com";
}

/** The role of a new user, or what is wrong with the one that was asked for. */
export function decideRole(
  desired: Role | undefined,
  isFirst: boolean,
): { role: Role } | { complaint: string } {
  if (!isFirst) return desired ? { role: desired } : { complaint: "is required" };
  const isOwner = desired === undefined || desired === "owner";
  return isOwner ? { role: "owner" } : { complaint: "must be owner: this is the first user" };
}

interface Owner {
  passwordHash: string | null;
}

/**
 * Whether a live owner may stop being one, by the other live owners. Somebody must be left, and
 * nobody who can sign in is replaced by those who have not chosen a password yet and may never do so.
 */
export function mayStepDown(owner: Owner, others: readonly Owner[]): boolean {
  return others.some((other) => other.passwordHash !== null || owner.passwordHash === null);
}

/** How a user stands: may sign in, has yet to choose a password, or is shut out. */
type UserState = "active" | "invited" | "disabled";

export function stateOfUser(user: {
  disabled_at: string | null;
  has_password: boolean;
}): UserState {
  if (user.disabled_at !== null) return "disabled";
  return user.has_password ? "active" : "invited";
}

/** Whether a user can use the dashboard at all. */
export function isLive(user: { disabledAt: number | null }): boolean {
  return user.disabledAt === null;
}
