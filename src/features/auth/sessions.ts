/*
 * Sessions of users: start, look-up by token, last use, end; and the tokens of sessions, steps and links.
 */
import { LRUCache } from "lru-cache";
import type { Role } from "../../base/actor";
import { type RandomBytes, sha256 } from "../../base/hash";
import { newToken } from "../../base/tokens";
import { lazy } from "../../base/lazy";
import { knownZone, UNCHOSEN_ZONE, zoneLabel } from "../../base/zones";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import {
  IDENTITY_SESSION_MS,
  isHttps,
  isSessionLive,
  isTouchDue,
  needsSecondFactor,
  SESSION_IDLE_MS,
  SESSION_LIFETIME_MS,
} from "./rules";
import {
  deleteDeadLinks,
  deleteDeadSessions,
  deleteDeadSteps,
  deleteOldestSessions,
  deleteOtherSessionsOf,
  deleteSession,
  deleteSessionsOf,
  deleteStepsOfUser,
  findSessionRow,
  insertSession,
  listSessionRows,
  type SessionRow,
  touchSessionRow,
} from "./store";

const SESSIONS_OF_A_USER = 50;
const USER_AGENT_LENGTH = 400;
const ID_BYTES = 6;

/** User of a session. */
interface SessionUser {
  id: string;
  email: string;
  name: string;
  role: Role;
  /** IANA time zone in which the dashboard shows times and reads those that the user types. */
  timeZone: string;
  /** False while it is UTC because the user never chose one. */
  isZoneChosen: boolean;
}

/** A session with its current user. Times in unix ms. */
export interface UserSession {
  /** Never reused, so that a reference to a session cannot reach another one. */
  id: number;
  user: SessionUser;
  createdAt: number;
  /** Up to a minute earlier than the last use. */
  lastSeenAt: number;
  ip: string;
  userAgent: string;
  /** Identity with which it began; null for a password or a link. */
  identityId: number | null;
}

/** A valid session. */
export interface LiveSession extends UserSession {
  /** True if the user needs a second factor and has none: the session can only set one up. */
  isForSetUpOnly: boolean;
}

/** Client that starts a session. */
export interface SessionOrigin {
  ip: string;
  /** User agent that the browser sends. */
  userAgent: string;
  /** Identity of another system with which the session begins; absent for a password or a link. */
  identityId?: number;
}

export interface Sessions {
  /**
   * Returns the session of a token. Undefined unless it was used in the last 24 hours and started
   * in the last 14 days (12 hours with an identity), its user is neither disabled nor deleted, and
   * the installation uses HTTPS exactly if it did at the start. Reads one row of the database, so that changes by other
   * processes apply at once.
   */
  find(token: string, now: number): LiveSession | undefined;
  /**
   * Returns the id of the user whose session has a token, even if the session has expired. Undefined once
   * it was ended or deleted.
   */
  ownerOf(token: string): string | undefined;
  /**
   * Records the use of a session in the background, at most once a minute per session. Failed
   * writes are logged, never thrown.
   */
  touch(session: LiveSession, now: number, ip: string): void;
}

export function createSessions(ctx: Ctx): Sessions {
  return {
    find(token, now) {
      const hash = hashToken(token);
      const row = hash && findSessionRow(ctx.db, { hash });
      const isLive = row && row.isSecure === isHttps(ctx.baseUrl) && isSessionLive(row, now);
      if (!isLive) return undefined;
      // A session of another system began without a password, which alone needs a code.
      const isMissing = !row.hasSecondFactor && row.identityId === null;
      const isForSetUpOnly = isMissing && needsSecondFactor(ctx.config.secondFactor, row.userRole);
      return { ...presentSession(row), isForSetUpOnly };
    },
    ownerOf(token) {
      const hash = hashToken(token);
      return hash && findSessionRow(ctx.db, { hash })?.userId;
    },
    touch: createLastSeen(ctx).touch,
  };
}

/**
 * Starts a session and returns its token, which is not stored. A user has at most 50 sessions; the
 * oldest ones end. A user agent is cut at 400 characters. Throws if the user does not exist.
 */
export function startSession(ctx: Ctx, tx: Tx, userId: string, origin: SessionOrigin): string {
  const now = ctx.clock.now();
  const token = generateToken(ctx.random);
  deleteOldestSessions(tx, { userId, kept: SESSIONS_OF_A_USER - 1 });
  insertSession(tx, {
    // Random, since SQLite would reuse the id of the last deleted row.
    id: Buffer.from(ctx.random(ID_BYTES)).readUIntBE(0, ID_BYTES),
    hash: hashToken(token) as Buffer,
    userId,
    isSecure: isHttps(ctx.baseUrl),
    createdAt: now,
    lastSeenAt: now,
    ip: origin.ip,
    userAgent: origin.userAgent.slice(0, USER_AGENT_LENGTH),
    identityId: origin.identityId ?? null,
  });
  return token;
}

/** Ends one of the user's own sessions. Returns true if it existed. */
export function endSession(tx: Tx, userId: string, sessionId: number): boolean {
  return deleteSession(tx, { userId, id: sessionId }) > 0;
}

/** Ends all sessions of a user, or all but one, and all sign-ins that wait for a code. Returns the number of sessions. */
export function endSessionsOf(tx: Tx, userId: string, exceptSessionId?: number): number {
  deleteStepsOfUser(tx, { userId });
  if (exceptSessionId === undefined) return deleteSessionsOf(tx, { userId });
  return deleteOtherSessionsOf(tx, { userId, exceptId: exceptSessionId });
}

/** Lists a user's live sessions at `now` (unix ms), last used first. */
export function listSessionsOf(reader: Reader, userId: string, now: number): UserSession[] {
  return listSessionRows(reader, { userId })
    .filter((row) => isSessionLive(row, now))
    .map(presentSession);
}

function presentSession(row: SessionRow): UserSession {
  return {
    id: row.id,
    user: {
      id: row.userId,
      email: row.userEmail,
      name: row.userName,
      role: row.userRole,
      timeZone: zoneLabel(knownZone(row.userTimeZone)),
      isZoneChosen: row.userTimeZone !== UNCHOSEN_ZONE,
    },
    createdAt: row.createdAt,
    lastSeenAt: row.lastSeenAt,
    ip: row.ip,
    userAgent: row.userAgent,
    identityId: row.identityId,
  };
}

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;

/**
 * Deletes expired sessions, links and steps at `now` (unix ms), at most 500 rows per call, to keep the
 * transaction short. Returns true if there may be more.
 */
export function sweepAuth(tx: Tx, now: number): boolean {
  const sessions = deleteDeadSessions(tx, {
    seenUntil: now - SESSION_IDLE_MS,
    createdUntil: now - SESSION_LIFETIME_MS,
    identityUntil: now - IDENTITY_SESSION_MS,
    limit: ROWS_PER_BATCH,
  });
  const links = deleteDeadLinks(tx, { now, limit: ROWS_PER_BATCH - sessions });
  const steps = deleteDeadSteps(tx, { now, limit: ROWS_PER_BATCH - sessions - links });
  return sessions + links + steps === ROWS_PER_BATCH;
}

const REMEMBERED = 10_000;

/** Session fields needed to record its last use. */
interface Used {
  id: number;
  lastSeenAt: number;
}

/**
 * Records the last use of each session in the background, at most once a minute per session, also
 * while writes fail.
 */
function createLastSeen(ctx: Ctx) {
  /**
   * Start of the last write for each session, by session id. A write in progress cannot be read
   * back yet.
   */
  const begun = lazy(() => new LRUCache<number, number>({ max: REMEMBERED }));

  async function write(id: number, at: number, ip: string): Promise<void> {
    try {
      await ctx.db.write((tx) => touchSessionRow(tx, { id, at, ip }));
    } catch (error) {
      ctx.log.warn({ err: error }, "the last use of a session could not be written");
    }
  }

  return {
    /** `now` in unix ms. Never throws. */
    touch(session: Used, now: number, ip: string): void {
      const usedAt = Math.max(session.lastSeenAt, begun().get(session.id) ?? 0);
      if (!isTouchDue(usedAt, now)) return;
      begun().set(session.id, now);
      void write(session.id, now, ip);
    },
  };
}

/*
 * Token of a session, a step or a one-time link: 32 random bytes in 43 base62 characters. The database stores
 * only its SHA-256, by which it is found.
 */
const SHAPE = /^[0-9A-Za-z]{43}$/;

export function generateToken(random: RandomBytes): string {
  return newToken(random);
}

/** Returns the hash of a token; undefined for a text of another shape. */
export function hashToken(token: string): Buffer | undefined {
  return SHAPE.test(token) ? sha256(token) : undefined;
}
