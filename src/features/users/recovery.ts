/*
 * Letting users in again who lost their second factor, or cannot sign in at all. Loads no library of codes.
 */
import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { endLinks, issueLink } from "../auth/links";
import { endSessionsOf } from "../auth/sessions";
import { type PasswordLink, RESET_MS } from "./invitations";
import { mailSecondFactor, mailUser } from "./mails";
import { canUsePassword } from "./rules";
import { deleteSecondFactor } from "./second-factor-store";
import { endSessions } from "./sign-in";
import type { UserRow } from "./store";
import { changeUser, getLiveUserRow, setRole } from "./users";
import { presentUser } from "./wire";

/**
 * Removes the second factor of a user who lost it, and ends all their sessions. Returns false if there is none. Throws
 * `not_found`, or `conflict` for a disabled user, and for a user's own, which needs a code.
 */
export function resetSecondFactor(ctx: Ctx, tx: Tx, userId: string, actor: Actor): boolean {
  const user = getLiveUserRow(tx, userId);
  if (actor.id === userId) throw conflict("Turn off your own second factor under Account.");
  if (!removeSecondFactor(ctx, tx, user, actor)) return false;
  endSessionsOf(tx, userId);
  const by = actor.kind === "user" ? "owner" : "command";
  mailSecondFactor(ctx, tx, user, { change: "reset", by });
  return true;
}

function removeSecondFactor(ctx: Ctx, tx: Tx, user: UserRow, actor: Actor): boolean {
  if (deleteSecondFactor(tx, { userId: user.id }) === 0) return false;
  changeUser(ctx, tx, user, {});
  const summary = `Reset the second factor of “${user.name}”`;
  audit(ctx, tx, actor, "user.second_factor_reset", user.id, summary);
  return true;
}

/**
 * Lets a user in who cannot sign in any more: ends all sessions, removes the second factor, sets the password or issues a
 * link for choosing one, which works with any setting, and makes the user an owner if `makesOwner`. The user gets one mail.
 * Identities of the user stay. Throws `not_found`, or `conflict` for a disabled user, and for a password with which the
 * user could not sign in.
 */
export function recoverUser(
  ctx: Ctx,
  tx: Tx,
  userId: string,
  { makesOwner, passwordHash }: { makesOwner: boolean; passwordHash?: string | undefined },
  actor: Actor,
): PasswordLink | undefined {
  getLiveUserRow(tx, userId);
  if (makesOwner) setRole(ctx, tx, userId, "owner", actor);
  endSessions(ctx, tx, userId, actor);
  removeSecondFactor(ctx, tx, getLiveUserRow(tx, userId), actor);
  endLinks(tx, { userId });
  const row = getLiveUserRow(tx, userId);
  const { name, role } = row;
  if (passwordHash !== undefined && !canUsePassword(ctx.config, row)) {
    throw conflict(
      `Only owners sign in with a password here (ALLCLEAR_LOCAL_SIGN_IN=owners), and “${name}” is ${role}. Leave out --password-stdin for a link that works once, or add --owner.`,
    );
  }
  const how = passwordHash === undefined ? "a link for choosing a password" : "a new password";
  audit(ctx, tx, actor, "user.recover", userId, `Recovered the account of “${name}” with ${how}`);
  mailUser(ctx, tx, row, { template: "recovered", params: { at: ctx.clock.now(), role } });
  if (passwordHash !== undefined) {
    changeUser(ctx, tx, row, { passwordHash, passwordChangedAt: ctx.clock.now() });
    return undefined;
  }
  const purpose = row.passwordHash === null ? "invite" : "reset";
  const link = issueLink(ctx, tx, { purpose, userId, lastsMs: RESET_MS, isRecovery: true });
  return { user: presentUser(row), purpose, isMailed: false, ...link };
}
