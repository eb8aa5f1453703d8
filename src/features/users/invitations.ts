import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { conflict, Problem } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../kernel/actor";
import { DAY_MS, HOUR_MS } from "../../kernel/time";
import { endSessionsOf, issueLink, type Link, useLink, voidLinks } from "../auth";
import { type NewUser, presentUser, type UserResource } from "./model";
import { isLive } from "./rules";
import {
  addUser,
  changeUser,
  describe,
  getLiveUserRow,
  hasUsers,
  refuseBroken,
  userActor,
} from "./service";
import { type From, openSession } from "./sign-in";
import { findUser, type UserRow } from "./store";

type Services = Pick<AppContext, "clock" | "newId" | "random">;

const SET_UP_MS = HOUR_MS;
const INVITE_MS = 7 * DAY_MS;
const RESET_MS = DAY_MS;

/** Somebody who has just signed in by a link. The token exists here and nowhere else. */
export interface SignedIn {
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
  return issueLink(ctx, tx, { purpose: "setup", lastsMs: SET_UP_MS });
}

/**
 * Makes the first user, the owner, by the set-up link and signs them in. Throws `not_found` when the
 * link opens nothing, `conflict` when there is a user, `validation_failed` with every wrong field.
 */
export function setUpOwner(
  ctx: Services,
  tx: Tx,
  token: string,
  input: { email: string; name: string; passwordHash: string },
  from: From,
): SignedIn {
  takeLink(ctx, tx, token, "setup");
  if (hasUsers(tx)) throw conflict("Allclear has been set up already.");
  const { email, name, passwordHash } = input;
  const row = addUser(ctx, tx, { email, name, role: "owner" }, passwordHash);
  const actor = userActor(row, from.ip);
  audit(ctx, tx, actor, "user.set_up", row.id, `Set Allclear up as ${describe(row)}`);
  return admit(ctx, tx, row, from);
}

/** Creates a user who chooses a password by a link, good for seven days. Throws as `createUser` does. */
export function inviteUser(
  ctx: Services,
  tx: Tx,
  input: NewUser,
  actor: Actor,
): { user: UserResource; token: string } {
  const row = addUser(ctx, tx, input, null);
  const token = issueLink(ctx, tx, { purpose: "invite", userId: row.id, lastsMs: INVITE_MS });
  audit(ctx, tx, actor, "user.invite", row.id, `Invited ${describe(row)}`);
  return { user: presentUser(row), token };
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
): { user: UserResource; token: string; purpose: "invite" | "reset" } {
  const row = getLiveUserRow(tx, userId);
  const purpose = row.passwordHash === null ? "invite" : "reset";
  const lastsMs = purpose === "invite" ? INVITE_MS : RESET_MS;
  const token = issueLink(ctx, tx, { purpose, userId, lastsMs });
  const summary = `Made a link by which “${row.name}” chooses a password`;
  audit(ctx, tx, actor, "user.password_link", userId, summary);
  return { user: presentUser(row), token, purpose };
}

/**
 * Sets the password that the holder of an invitation or a reset link has chosen, and their name where
 * one is given; ends all of their sessions and links, and signs them in. Throws `not_found` when the
 * link opens nothing, or `validation_failed` at `#/name`.
 */
export function acceptLink(
  ctx: Services,
  tx: Tx,
  token: string,
  chosen: { passwordHash: string; name?: string },
  from: From,
): SignedIn {
  const { purpose, userId } = takeLink(ctx, tx, token, "invite", "reset");
  const before = findUser(tx, { id: userId ?? "" });
  if (!before || !isLive(before)) throw opensNothing();
  const { passwordHash, name = before.name } = chosen;
  refuseBroken({ name });
  const row = changeUser(ctx, tx, before, {
    name,
    passwordHash,
    passwordChangedAt: ctx.clock.now(),
  });
  endSessionsOf(tx, row.id);
  voidLinks(tx, { userId: row.id });
  const did = purpose === "invite" ? "accepted the invitation" : "chose a new password by a link";
  const summary = `“${row.name}” ${did}, and signed in`;
  audit(ctx, tx, userActor(row, from.ip), "user.accept", row.id, summary);
  return admit(ctx, tx, row, from);
}

/** Uses a link of one of these purposes up. Throws `not_found` for any other, which is left as it was. */
function takeLink(ctx: Services, tx: Tx, token: string, ...purposes: Link["purpose"][]): Link {
  const link = useLink(tx, token, ctx.clock.now());
  if (!link || !purposes.includes(link.purpose)) throw opensNothing();
  return link;
}

function opensNothing(): Problem {
  return new Problem("not_found", "The link was used before, or its time is over.");
}

function admit(ctx: Services, tx: Tx, row: UserRow, from: From): SignedIn {
  const sessionToken = openSession(ctx, tx, row.id, from);
  return { user: presentUser({ ...row, lastLoginAt: ctx.clock.now() }), sessionToken };
}
