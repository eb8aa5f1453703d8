import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import type { Role } from "../../domain/role";
import { createLastSeen } from "./last-seen";
import { isSessionLive, SESSION_IDLE_MS, SESSION_LIFETIME_MS } from "./rules";
import {
  deleteOldestSessions,
  deleteOtherSessionsOf,
  deleteSession,
  deleteSessionsOf,
  findSessionRow,
  insertSession,
  listSessionRows,
  type SessionRow,
  deleteDeadLinks,
  deleteDeadSessions,
} from "./store";
import { generateToken, hashToken } from "./token";

const SESSIONS_OF_A_USER = 50;
const USER_AGENT_LENGTH = 400;
const ID_BYTES = 6;

/** A session that opens something, with its user as they are now. Times in unix ms. */
export interface LiveSession {
  /** Never that of an earlier session, so that what names one never reaches another. */
  id: number;
  user: { id: string; email: string; name: string; role: Role };
  createdAt: number;
  /** Up to a minute behind the last use. */
  lastSeenAt: number;
  ip: string;
  userAgent: string;
}

/** Client that starts a session. */
export interface SessionOrigin {
  ip: string;
  /** The browser's word for itself. */
  userAgent: string;
}

export interface Sessions {
  /**
   * The session that a token opens at this moment. Undefined unless it was used in the last 24 hours,
   * was started in the last 14 days, its user is neither disabled nor deleted, and the installation
   * has HTTPS now if and only if it had then. Reads the database, one row by its index, so that what
   * another process changed counts at once.
   */
  find(token: string, now: number): LiveSession | undefined;
  /**
   * Notes that a session is used. Written in the background, at most once a minute a session; what the
   * database refuses is logged and never thrown.
   */
  touch(session: LiveSession, now: number, ip: string): void;
}

export function createSessions(
  ctx: Pick<AppContext, "baseUrl" | "clock" | "db" | "log">,
): Sessions {
  return {
    find(token, now) {
      const hash = hashToken(token);
      const row = hash && findSessionRow(ctx.db, { hash });
      const isLive = row && row.isSecure === isSecure(ctx.baseUrl) && isSessionLive(row, now);
      return isLive ? presentSession(row) : undefined;
    },
    touch: createLastSeen(ctx).touch,
  };
}

/**
 * Starts a session and answers its token, which exists here and nowhere else. A user has at most 50:
 * the oldest end. A user agent is cut at 400 characters. Throws when there is no such user.
 */
export function startSession(
  ctx: Pick<AppContext, "baseUrl" | "clock" | "random">,
  tx: Tx,
  userId: string,
  origin: SessionOrigin,
): string {
  const now = ctx.clock.now();
  const token = generateToken(ctx.random);
  deleteOldestSessions(tx, { userId, kept: SESSIONS_OF_A_USER - 1 });
  insertSession(tx, {
    // SQLite would give a new row the id of the last one that was deleted.
    id: Buffer.from(ctx.random(ID_BYTES)).readUIntBE(0, ID_BYTES),
    hash: hashToken(token) as Buffer,
    userId,
    isSecure: isSecure(ctx.baseUrl),
    createdAt: now,
    lastSeenAt: now,
    ip: origin.ip,
    userAgent: origin.userAgent.slice(0, USER_AGENT_LENGTH),
  });
  return token;
}

/** Returns true if sessions require HTTPS, which they do if the public address has it. */
export function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}

/** Ends one of the user's own sessions. Whether there was one. */
export function endSession(tx: Tx, userId: string, sessionId: number): boolean {
  return deleteSession(tx, { userId, id: sessionId }) > 0;
}

/** Ends all of a user's sessions, or all but one. Answers how many. */
export function endSessionsOf(tx: Tx, userId: string, exceptSessionId?: number): number {
  if (exceptSessionId === undefined) return deleteSessionsOf(tx, { userId });
  return deleteOtherSessionsOf(tx, { userId, exceptId: exceptSessionId });
}

/** A user's live sessions, last seen first. `now` in unix ms. */
export function listSessionsOf(reader: Reader, userId: string, now: number): LiveSession[] {
  return listSessionRows(reader, { userId })
    .filter((row) => isSessionLive(row, now))
    .map(presentSession);
}

function presentSession(row: SessionRow): LiveSession {
  return {
    id: row.id,
    user: { id: row.userId, email: row.userEmail, name: row.userName, role: row.userRole },
    createdAt: row.createdAt,
    lastSeenAt: row.lastSeenAt,
    ip: row.ip,
    userAgent: row.userAgent,
  };
}

const ROWS_AT_ONCE = 500;

/**
 * Deletes sessions and links that open nothing any more, at most 500 rows a call, so that no
 * transaction grows long. What is left is for the next call. `now` in unix ms.
 */
export function sweepAuth(tx: Tx, now: number): void {
  const sessions = deleteDeadSessions(tx, {
    seenUntil: now - SESSION_IDLE_MS,
    createdUntil: now - SESSION_LIFETIME_MS,
    limit: ROWS_AT_ONCE,
  });
  deleteDeadLinks(tx, { now, limit: ROWS_AT_ONCE - sessions });
}
