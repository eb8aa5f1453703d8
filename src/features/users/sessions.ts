import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { plural } from "../../kernel/text";
import { endSession, endSessionsOf } from "../auth";
import { getUserRow } from "./service";

/** Ends all of a user's sessions, or all but one, and answers how many. Throws `not_found`. */
export function endSessions(
  ctx: Pick<AppContext, "clock">,
  tx: Tx,
  userId: string,
  actor: Actor,
  exceptSessionId?: number,
): number {
  const { name } = getUserRow(tx, userId);
  const count = endSessionsOf(tx, userId, exceptSessionId);
  if (count > 0) {
    audit(ctx, tx, actor, "session.end", userId, `Ended ${plural(count, "session")} of “${name}”`);
  }
  return count;
}

/** Ends one of a user's own sessions. Whether there was one. Throws `not_found` for the user. */
export function endOneSession(
  ctx: Pick<AppContext, "clock">,
  tx: Tx,
  userId: string,
  sessionId: number,
  actor: Actor,
): boolean {
  const { name } = getUserRow(tx, userId);
  if (!endSession(tx, userId, sessionId)) return false;
  audit(ctx, tx, actor, "session.end", userId, `Ended a session of “${name}”`);
  return true;
}
