/*
 * One-time links: tokens that work once, until they end.
 */
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { isUnexpired } from "./rules";
import { generateToken, hashToken } from "./sessions";
import {
  deleteLink,
  deleteLinksFor,
  deleteLinksOfUser,
  deleteLinksWithPurpose,
  findLinkRow,
  insertLink,
} from "./store";

/** Purpose of a link: set up the installation, accept an invitation, or choose a new password. */
export type LinkPurpose = "setup" | "invite" | "reset";

export interface OneTimeLink {
  purpose: LinkPurpose;
  /** User of the link; null if there is no user yet. */
  userId: string | null;
  /** True if it sets a password even where only owners may have one. */
  isRecovery: boolean;
  /** Unix ms; the link is refused from this time on. */
  expiresAt: number;
}

/** A link that was just issued. Its token is not stored. */
export interface IssuedLink {
  token: string;
  /** Unix ms. */
  expiresAt: number;
}

interface NewLink {
  purpose: LinkPurpose;
  userId?: string;
  lastsMs: number;
  isRecovery?: boolean;
}

/**
 * Issues a link that is valid for `lastsMs`. It replaces the earlier link of the same purpose and
 * user. Throws if the user does not exist.
 */
export function issueLink(ctx: Ctx, tx: Tx, link: NewLink): IssuedLink {
  const { purpose, userId = null } = link;
  deleteLinksFor(tx, { purpose, userId });
  return addLink(ctx, tx, link);
}

/** Issues a link as `issueLink` does, but keeps the earlier ones. */
export function addLink(ctx: Ctx, tx: Tx, link: NewLink): IssuedLink {
  const now = ctx.clock.now();
  const token = generateToken(ctx.random);
  const { purpose, userId = null, isRecovery = false } = link;
  const expiresAt = now + link.lastsMs;
  insertLink(tx, {
    hash: hashToken(token) as Buffer,
    purpose,
    userId,
    createdAt: now,
    expiresAt,
    isRecovery,
  });
  return { token, expiresAt };
}

/** Finds a link that works at `now`, without using it up. */
export function findLink(reader: Reader, token: string, now: number): OneTimeLink | undefined {
  const hash = hashToken(token);
  const row = hash && findLinkRow(reader, { hash });
  if (!row || !isUnexpired(row, now)) return undefined;
  const { purpose, userId, expiresAt, isRecovery } = row;
  return { purpose, userId, expiresAt, isRecovery };
}

/** Uses up a link and returns it as `findLink` does. */
export function redeemLink(tx: Tx, token: string, now: number): OneTimeLink | undefined {
  const link = findLink(tx, token, now);
  if (link) deleteLink(tx, { hash: hashToken(token) as Buffer });
  return link;
}

/** Ends every link of a purpose, or every link of a user. */
export function endLinks(tx: Tx, which: { purpose: LinkPurpose } | { userId: string }): void {
  if ("purpose" in which) deleteLinksWithPurpose(tx, which);
  else deleteLinksOfUser(tx, which);
}
