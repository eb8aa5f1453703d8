import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { conflict, Problem, validate } from "../../errors";
import { audit } from "../../events";
import { type Actor, userActor } from "../../domain/actor";
import { DAY_MS, HOUR_MS } from "../../kernel/time";
import {
  endSessionsOf,
  type IssuedLink,
  issueLink,
  type LinkPurpose,
  type LiveSession,
  type OneTimeLink,
  redeemLink,
  type SessionOrigin,
  voidLinks,
} from "../auth";
import { type NewUser, presentUser, UserChange, type UserResource } from "./model";
import { isLive } from "./rules";
import { addUser, changeUser, describeUser, getLiveUserRow, hasUsers } from "./service";
import { openSession } from "./sign-in";
import { findUser, type UserRow } from "./store";

type Services = Pick<AppContext, "baseUrl" | "clock" | "newId" | "random">;

/** Lifetime of the link that creates the first user. */
export const SET_UP_LINK_MS = HOUR_MS;
const INVITE_MS = 7 * DAY_MS;
const RESET_MS = DAY_MS;

/** A link by which a user chooses a password. */
export interface PasswordLink extends IssuedLink {
  user: UserResource;
  purpose: "invite" | "reset";
}

/** Returns the path of a link on the public address. */
export function linkPath(purpose: LinkPurpose, token: string): string {
  return `/admin/${purpose === "setup" ? "setup" : "join"}/${token}`;
}

/** Somebody who has just signed in by a link. The token exists here and nowhere else. */
interface SignedIn {
  user: UserResource;
  sessionToken: string;
}

/**
 * The token of a link that makes the first user, good for an hour; it replaces the one before.
 * Undefined when there is a user already.
 */
export function issueSetUpLink(
  ctx: Pick<AppContext, "clock" | "random">,
  tx: Tx,
): string | undefined {
  if (hasUsers(tx)) return undefined;
  return issueLink(ctx, tx, { purpose: "setup", lastsMs: SET_UP_LINK_MS }).token;
}

/**
 * Makes the first user, the owner, by the set-up link and signs them in; `replaced`, which the browser
 * had before, ends. Throws `not_found` when the link opens nothing, `conflict` when there is a user,
 * `validation_failed` with every wrong field.
 */
export function setUpOwner(
  ctx: Services,
  tx: Tx,
  token: string,
  input: { email: string; name: string; passwordHash: string },
  origin: SessionOrigin,
  replaced?: LiveSession,
): SignedIn {
  takeLink(ctx, tx, token, "setup");
  if (hasUsers(tx)) throw conflict("Allclear has been set up already.");
  const { email, name, passwordHash } = input;
  const row = addUser(ctx, tx, { email, name, role: "owner" }, passwordHash);
  const actor = userActor(row, origin.ip);
  audit(ctx, tx, actor, "user.set_up", row.id, `Set Allclear up as ${describeUser(row)}`);
  return admit(ctx, tx, row, origin, replaced);
}

/** Creates a user who chooses a password by a link, good for seven days. Throws as `createUser` does. */
export function inviteUser(ctx: Services, tx: Tx, input: NewUser, actor: Actor): PasswordLink {
  const row = addUser(ctx, tx, input, null);
  const purpose = "invite";
  const link = issueLink(ctx, tx, { purpose, userId: row.id, lastsMs: INVITE_MS });
  audit(ctx, tx, actor, "user.invite", row.id, `Invited ${describeUser(row)}`);
  return { user: presentUser(row), purpose, ...link };
}

/**
 * A link by which a user chooses a password: for a day in the place of one that they have, else for
 * seven. It replaces their earlier one. Throws `not_found`, or `conflict` for a disabled user.
 */
export function issuePasswordLink(
  ctx: Services,
  tx: Tx,
  userId: string,
  actor: Actor,
): PasswordLink {
  const row = getLiveUserRow(tx, userId);
  const purpose = row.passwordHash === null ? "invite" : "reset";
  const lastsMs = purpose === "invite" ? INVITE_MS : RESET_MS;
  const link = issueLink(ctx, tx, { purpose, userId, lastsMs });
  const summary = `Made a link by which “${row.name}” chooses a password`;
  audit(ctx, tx, actor, "user.password_link", userId, summary);
  return { user: presentUser(row), purpose, ...link };
}

/**
 * Sets the password that the holder of an invitation or a reset link has chosen, and their name where
 * one is given; ends all of their sessions and links, and signs them in; `replaced`, which the browser
 * had before, ends. Throws `not_found` when the link opens nothing, or `validation_failed` at `#/name`.
 */
export function acceptLink(
  ctx: Services,
  tx: Tx,
  token: string,
  chosen: { passwordHash: string; name?: string },
  origin: SessionOrigin,
  replaced?: LiveSession,
): SignedIn {
  const { purpose, userId } = takeLink(ctx, tx, token, "invite", "reset");
  const before = findUser(tx, { id: userId ?? "" });
  if (!before || !isLive(before)) throw opensNothing();
  const { passwordHash, name = before.name } = chosen;
  validate(UserChange, { name });
  const row = changeUser(ctx, tx, before, {
    name,
    passwordHash,
    passwordChangedAt: ctx.clock.now(),
  });
  endSessionsOf(tx, row.id);
  voidLinks(tx, { userId: row.id });
  const did = purpose === "invite" ? "accepted the invitation" : "chose a new password by a link";
  const summary = `“${row.name}” ${did}, and signed in`;
  audit(ctx, tx, userActor(row, origin.ip), "user.accept", row.id, summary);
  return admit(ctx, tx, row, origin, replaced);
}

/** Uses a link of one of these purposes up. Throws `not_found` for any other, which is left as it was. */
function takeLink(ctx: Services, tx: Tx, token: string, ...purposes: LinkPurpose[]): OneTimeLink {
  const link = redeemLink(tx, token, ctx.clock.now());
  if (!link || !purposes.includes(link.purpose)) throw opensNothing();
  return link;
}

function opensNothing(): Problem {
  return new Problem("not_found", "This link was already used or has expired.");
}

function admit(
  ctx: Services,
  tx: Tx,
  row: UserRow,
  origin: SessionOrigin,
  replaced: LiveSession | undefined,
): SignedIn {
  const sessionToken = openSession(ctx, tx, row.id, origin, replaced);
  return { user: presentUser({ ...row, lastLoginAt: ctx.clock.now() }), sessionToken };
}
