import { type Role, ROLES } from "../../base/actor";
import { EVERYONE, type RoleRule } from "../../base/config/sign-in";
import { containsKeyShape } from "../../base/ids";
import { AMBIGUOUS_ADDRESS } from "../../base/mail-address";
import { hasUnsafeCharacters } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time";

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

/** Returns true if an e-mail is the stored one but for the case of its ASCII letters. Other letters that look alike count as different. */
export function isSameEmail(email: string, stored: string): boolean {
  return email.trim().replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) === stored;
}

/** Returns the issuers whose identities sign in. Those of others are kept, for the case that one comes back. */
export function issuersInForce({
  oidcIssuer,
  identityProxy = [],
}: {
  oidcIssuer?: string | undefined;
  identityProxy?: readonly unknown[];
}): string[] {
  return [
    ...(oidcIssuer === undefined ? [] : [oidcIssuer]),
    ...(identityProxy.length > 0 ? [PROXY_ISSUER] : []),
  ];
}

/** Issuer of the identities that proxies in front of the dashboard give. */
export const PROXY_ISSUER = "proxy";

interface Owner {
  passwordHash: string | null;
  /** True if a system that is in force knows the owner. */
  hasIdentity: boolean;
}

/**
 * Returns true if a live owner may give up the role, given the other live owners. One must remain;
 * an owner who can sign in is not replaced by those who cannot.
 */
export function canLoseOwnership(owner: Owner, others: readonly Owner[]): boolean {
  return others.some((other) => canSignIn(other) || !canSignIn(owner));
}

function canSignIn({ passwordHash, hasIdentity }: Owner): boolean {
  return passwordHash !== null || hasIdentity;
}

/**
 * Returns true if a user without a password has joined by an identity at `at` (unix ms) or later, also if it is
 * disconnected again. One with an earlier identity is invited to choose a password.
 */
export function hasJoinedSince(
  { lastLoginAt }: { lastLoginAt: number | null },
  identities: readonly { createdAt: number }[],
  at: number,
): boolean {
  const wasConnected = identities.some(({ createdAt }) => createdAt < at);
  return !wasConnected && lastLoginAt !== null && lastLoginAt >= at;
}

/** Returns true if a user may choose a password and sign in with it. */
export function canUsePassword(
  { localSignIn }: { localSignIn: "all" | "owners" },
  { role }: { role: Role },
): boolean {
  return localSignIn === "all" || role === "owner";
}

/** Returns the rule with the highest role among those that groups match; undefined if they match none. */
export function matchRole(
  rules: readonly RoleRule[],
  groups: readonly string[],
): RoleRule | undefined {
  const isMatch = ({ group }: RoleRule) => group === EVERYONE || groups.includes(group);
  return rules
    .filter(isMatch)
    .toSorted((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role))
    .at(0);
}

/** State of a user: can sign in, has not joined yet, or is disabled. */
type UserState = "active" | "invited" | "disabled";

/** Returns the state of a user. Those without a password who have signed in did so with an identity. */
export function stateOfUser(user: {
  disabled_at: string | null;
  has_password: boolean;
  last_login_at: string | null;
}): UserState {
  if (user.disabled_at !== null) return "disabled";
  return user.has_password || user.last_login_at !== null ? "active" : "invited";
}

/** Returns true if a user is not disabled. */
export function isLive(user: { disabledAt: number | null }): boolean {
  return user.disabledAt === null;
}

/** Wrong codes of a user, and the end of the pause in which no code is accepted (unix ms). */
interface WrongCodes {
  /** Times within the last hour. */
  wrongCodes: readonly number[];
  /** Number of pauses without a day of rest between them. Each lasts twice as long as the one before, up to a limit. */
  pauses: number;
  pausedUntil: number;
}

/** Wrong codes within an hour after which a pause begins. */
const WRONG_CODES_MAX = 10;

const FIRST_PAUSE_MS = 15 * MINUTE_MS;

const LONGEST_PAUSE_MS = 4 * HOUR_MS;

/**
 * Counts a wrong code at `now`. The tenth within an hour begins a pause of 15 minutes, the next tenth one of 30, and so on
 * up to 4 hours; after a day without a pause the next one lasts 15 minutes again.
 */
export function afterWrongCode(before: WrongCodes, now: number): WrongCodes {
  const { pauses, pausedUntil } = before;
  const wrongCodes = [...before.wrongCodes.filter((at) => at > now - HOUR_MS), now];
  if (wrongCodes.length < WRONG_CODES_MAX) return { wrongCodes, pauses, pausedUntil };
  const earlier = now - pausedUntil < DAY_MS ? pauses : 0;
  const lastsMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** earlier);
  return { wrongCodes: [], pauses: earlier + 1, pausedUntil: now + lastsMs };
}

/** A code of the app or a recovery code, as its digits and capital letters. */
export type TypedCode = { code: string } | { recoveryCode: string };

/**
 * Maximum length of a typed code in UTF-16 units, with room for a space after each character. Normalising takes time
 * that grows with the square of the length.
 */
const LONGEST_CODE = 100;

/** Reads what someone typed as a code, with any spaces and hyphens; undefined for text of another shape. */
export function readCode(typed: string): TypedCode | undefined {
  if (typed.length > LONGEST_CODE) return undefined;
  const text = typed
    .normalize("NFKC")
    .replaceAll(/[\s\p{Pd}]/gu, "")
    .toUpperCase();
  if (/^\d{6}$/.test(text)) return { code: text };
  return /^[A-Z2-7]{16}$/.test(text) ? { recoveryCode: text } : undefined;
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
