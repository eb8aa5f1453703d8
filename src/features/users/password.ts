import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { conflict } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { endSessionsOf, listSessionsOf, type LiveSession, voidLinks } from "../auth";
import { changeUser, getLiveUserRow } from "./service";

/**
 * Sets a user's password: all of their sessions end but the one to keep, and their links open nothing
 * any more. Throws `not_found`, or `conflict` when the user is disabled or the session to keep has
 * itself been ended, as another change of the password does.
 */
export function changePassword(
  ctx: Pick<AppContext, "clock" | "newId">,
  tx: Tx,
  change: { userId: string; passwordHash: string; keepSessionId?: number },
  actor: Actor,
): void {
  const { userId, passwordHash, keepSessionId } = change;
  const now = ctx.clock.now();
  const user = getLiveUserRow(tx, userId);
  const isKept = ({ id }: LiveSession) => id === keepSessionId;
  if (keepSessionId !== undefined && !listSessionsOf(tx, userId, now).some(isKept)) {
    throw conflict("Your session has ended. Sign in again.");
  }
  changeUser(ctx, tx, user, { passwordHash, passwordChangedAt: now });
  endSessionsOf(tx, userId, keepSessionId);
  voidLinks(tx, { userId });
  audit(ctx, tx, actor, "user.password", userId, `Changed the password of “${user.name}”`);
}
