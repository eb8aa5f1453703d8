/*
 * One-time links of users: setting up Allclear, invitations, and new passwords.
 */
import { type Actor, userActor } from "../../base/actor";
import { conflict, Problem } from "../../base/errors";
import { DAY_MS, HOUR_MS } from "../../base/time";
import { validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import {
  endLinks,
  type IssuedLink,
  issueLink,
  type LinkPurpose,
  type OneTimeLink,
  redeemLink,
} from "../auth/links";
import { endSessionsOf, type LiveSession, type SessionOrigin } from "../auth/sessions";
import { mailChangedPassword, mailUser } from "./mails";
import { isLive } from "./rules";
import { startSessionOrStep, openSession, requirePasswordUse, type SignedIn } from "./sign-in";
import { findUser, type UserRow } from "./store";
import { addUser, changeUser, describeUser, getLiveUserRow, getUser, hasUsers } from "./users";
import { type NewUser, presentUser, UserChange, type UserResource } from "./wire";

/** Lifetime of the link that creates the first user. */
export const SET_UP_LINK_MS = HOUR_MS;
/** Lifetime of an invitation. */
export const INVITE_MS = 7 * DAY_MS;
/** Lifetime of a link for a new password that is not asked for by mail. */
export const RESET_MS = DAY_MS;

/** A link with which a user chooses a password. */
export interface PasswordLink extends IssuedLink {
  user: UserResource;
  purpose: "invite" | "reset";
  /** True if a mail with a link of its own goes to the user. */
  isMailed: boolean;
}

/** Returns the path of a link on the public address. */
export function linkPath(purpose: LinkPurpose, token: string): string {
  return `/admin/${purpose === "setup" ? "setup" : "join"}/${token}`;
}

/**
 * Issues the link that creates the first user and returns its token, valid for an hour; it replaces
 * the earlier one. Undefined if there is a user already.
 */
export function issueSetUpLink(ctx: Ctx, tx: Tx): string | undefined {
  if (hasUsers(tx)) return undefined;
  return issueLink(ctx, tx, { purpose: "setup", lastsMs: SET_UP_LINK_MS }).token;
}

/**
 * Creates the first user, the owner, with the set-up link, and signs them in; the browser's earlier
 * session `replaced` ends. Throws `not_found` for an invalid link, `conflict` if there is a user,
 * `validation_failed` with all invalid fields.
 */
export function setUpOwner(
  ctx: Ctx,
  tx: Tx,
  token: string,
  input: { email: string; name: string; passwordHash: string; timeZone?: string },
  origin: SessionOrigin,
  replaced?: LiveSession,
): { user: UserResource; sessionToken: string } {
  takeLink(ctx, tx, token, "setup");
  if (hasUsers(tx)) throw conflict("Allclear is already set up.");
  const { email, name, passwordHash, timeZone } = input;
  const row = addUser(ctx, tx, { email, name, role: "owner" }, passwordHash, timeZone);
  const actor = userActor(row, origin.ip);
  audit(ctx, tx, actor, "user.set_up", row.id, `Set Allclear up as ${describeUser(row)}`);
  const sessionToken = openSession(ctx, tx, row.id, origin, replaced);
  return { user: presentUser({ ...row, lastLoginAt: ctx.clock.now() }), sessionToken };
}

/**
 * Creates a user who chooses a password with a link that is valid for seven days. If mail is ready, one with a
 * link of its own is queued. Throws as `createUser` does.
 */
export function inviteUser(ctx: Ctx, tx: Tx, input: NewUser, actor: Actor): PasswordLink {
  const row = addUser(ctx, tx, input, null);
  const purpose = "invite";
  const link = issueLink(ctx, tx, { purpose, userId: row.id, lastsMs: INVITE_MS });
  audit(ctx, tx, actor, "user.invite", row.id, `Invited ${describeUser(row)}`);
  const isMailed = mailInvitation(ctx, tx, row, actor);
  return { user: presentUser(row), purpose, isMailed, ...link };
}

/**
 * Issues a link with which a user chooses a password: valid for a day if they have one, else for
 * seven. It replaces their earlier links of this kind. An invitation is mailed as well, if mail is ready; a link
 * for a user with a password is not, since their mailbox may be the reason for it. Throws `not_found`, or
 * `conflict` for a disabled user, and for a new password of a user who may have none.
 */
export function issuePasswordLink(ctx: Ctx, tx: Tx, userId: string, actor: Actor): PasswordLink {
  const row = getLiveUserRow(tx, userId);
  const purpose = row.passwordHash === null ? "invite" : "reset";
  if (purpose === "reset") requirePasswordUse(ctx, row);
  const lastsMs = purpose === "invite" ? INVITE_MS : RESET_MS;
  const link = issueLink(ctx, tx, { purpose, userId, lastsMs });
  const summary = `Created a password link for “${row.name}”`;
  audit(ctx, tx, actor, "user.password_link", userId, summary);
  const isMailed = purpose === "invite" && mailInvitation(ctx, tx, row, actor);
  return { user: presentUser(row), purpose, isMailed, ...link };
}

function mailInvitation(ctx: Ctx, tx: Tx, user: UserRow, actor: Actor): boolean {
  const by = actor.kind === "user" ? actor.label : "";
  return mailUser(ctx, tx, user, { template: "invitation", params: { by } });
}

/**
 * Sets the password, and name and time zone if given, of the user of an invitation or reset link; ends all
 * their sessions and links, and signs them in, or starts the step for the code of a second factor; the browser's
 * earlier session `replaced` ends.
 * Throws `not_found` for an invalid link, `conflict` for a user who may have no password, or `validation_failed` at
 * `#/name`.
 */
export function acceptLink(
  ctx: Ctx,
  tx: Tx,
  token: string,
  chosen: { passwordHash: string; name?: string; timeZone?: string },
  origin: SessionOrigin,
  replaced?: LiveSession,
): SignedIn & { user: UserResource } {
  const { purpose, userId, isRecovery } = takeLink(ctx, tx, token, "invite", "reset");
  const before = findUser(tx, { id: userId ?? "" });
  if (!before || !isLive(before)) throw invalidLink();
  if (!isRecovery) requirePasswordUse(ctx, before);
  const { passwordHash, name = before.name, timeZone = before.timeZone } = chosen;
  validate(UserChange, { name });
  const row = changeUser(ctx, tx, before, {
    name,
    timeZone,
    passwordHash,
    passwordChangedAt: ctx.clock.now(),
  });
  endSessionsOf(tx, row.id);
  endLinks(tx, { userId: row.id });
  const signedIn = startSessionOrStep(ctx, tx, { userId: row.id, isRecovery }, origin, replaced);
  const did = purpose === "invite" ? "accepted the invitation" : "chose a new password by a link";
  const summary = `“${row.name}” ${did}${"sessionToken" in signedIn ? ", and signed in" : ""}`;
  audit(ctx, tx, userActor(row, origin.ip), "user.accept", row.id, summary);
  // The first password of a user who has not joined yet changes none.
  const hadJoined = before.passwordHash !== null || before.lastLoginAt !== null;
  if (hadJoined) mailChangedPassword(ctx, tx, row, "link");
  return { user: getUser(tx, row.id), ...signedIn };
}

/** Redeems a link of one of these purposes. Throws `not_found` for others, which stay valid. */
function takeLink(ctx: Ctx, tx: Tx, token: string, ...purposes: LinkPurpose[]): OneTimeLink {
  const link = redeemLink(tx, token, ctx.clock.now());
  if (!link || !purposes.includes(link.purpose)) throw invalidLink();
  return link;
}

function invalidLink(): Problem {
  return new Problem("not_found", "This link was already used or has expired.");
}
