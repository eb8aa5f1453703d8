/*
 * Users whom another system names: an OpenID Connect provider, or a proxy. Their sign-in, their role by groups, and the
 * connection of an identity with a user.
 */
import { type Actor, type Role, userActor } from "../../base/actor";
import type { RoleRule } from "../../base/config/sign-in";
import { conflict, notFound } from "../../base/errors";
import { codePointLength, withoutUnsafeCharacters } from "../../base/text";
import { NAME_MAX } from "../../base/texts";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { endLinks, findLink } from "../auth/links";
import { type Claims, type Provider, providerName } from "../auth/provider";
import type { LiveSession, SessionOrigin } from "../auth/sessions";
import { endStepsOf } from "../auth/steps";
import { mailUser } from "./mails";
import {
  canonicalEmail,
  canUsePassword,
  isLive,
  isSameEmail,
  issuersInForce,
  matchRole,
  PROXY_ISSUER,
} from "./rules";
import { openSession } from "./sign-in";
import {
  deleteIdentity,
  findIdentity,
  findUser,
  findUserRowByEmail,
  type IdentityRow,
  insertIdentity,
  listIdentitiesOf,
  setIdentityUsed,
  type UserRow,
} from "./store";
import {
  addUser,
  browserZone,
  changeUser,
  describeUser,
  getUserRow,
  hasUsers,
  isLastOwner,
  validateNewUser,
} from "./users";
import { presentUser, type UserResource } from "./wire";

/** Someone whom another system has identified, as it describes them. */
export interface Person {
  /** Name of the system for people, such as "Northwind". */
  system: string;
  /** Issuer of the identity: a URL, or `proxy`. */
  issuer: string;
  /** Name of the person at the issuer, which is never given to someone else. */
  subject: string;
  email: string | undefined;
  /** True if the system has verified that the person has the e-mail, or is trusted to have. */
  isEmailVerified: boolean;
  /** True if the e-mail alone connects the identity with the user who has it. */
  canLinkByEmail: boolean;
  name: string | undefined;
  groups: readonly string[];
  /** IANA time zone. */
  timeZone: string | undefined;
}

/** Returns the person whom the claims of the provider describe. Claims of the ID token precede those of UserInfo. */
export function personOfProvider(
  { name: system, issuer }: Pick<Provider, "name" | "issuer">,
  { token, userInfo = {} }: Claims,
  { oidcEmailVerified, oidcLinkByEmail, oidcGroupsClaim }: Ctx["config"],
): Person {
  const claim = (name: string) => textOf(token[name]) ?? textOf(userInfo[name]);
  // The e-mail and its verification are those of one answer: between two, the e-mail may change.
  const isWhole = textOf(token["email"]) !== undefined && token["email_verified"] !== undefined;
  const source = isWhole || textOf(userInfo["email"]) === undefined ? token : userInfo;
  const isVerified = truthOf(source["email_verified"]);
  const isDenied = [token, userInfo].some((each) => truthOf(each["email_verified"]) === false);
  return {
    system,
    issuer,
    subject: String(token["sub"]),
    email: textOf(source["email"]),
    isEmailVerified: !isDenied && (isVerified ?? oidcEmailVerified === "assume"),
    canLinkByEmail: !isDenied && oidcLinkByEmail === "on" && isVerified === true,
    name: claim("name") ?? claim("preferred_username"),
    groups: groupsOf(token[oidcGroupsClaim] ?? userInfo[oidcGroupsClaim]),
    timeZone: claim("zoneinfo"),
  };
}

/** Someone whom a proxy in front of the dashboard names. */
export interface ProxyUser {
  name: string;
  email: string | undefined;
  groups: readonly string[];
}

/** Name of the proxy for people. */
const PROXY_NAME = "the identity proxy";

/** Identity of a user. */
export interface UserIdentity extends IdentityRow {
  /** Name for people of the system that gave it. */
  system: string;
}

/** Lists the identities of a user, oldest first. */
export function listIdentities(
  reader: Reader,
  userId: string,
  config: Ctx["config"],
): UserIdentity[] {
  return listIdentitiesOf(reader, { userId }).map((row) => ({
    ...row,
    system: systemName(row.issuer, config),
  }));
}

/** Returns the name for people of the system that gave an identity; its issuer for a provider that is not set up. */
function systemName(issuer: string, config: Ctx["config"]): string {
  if (issuer === PROXY_ISSUER) return PROXY_NAME;
  return issuer === config.oidcIssuer ? (providerName(config) ?? issuer) : issuer;
}

/** Returns the person whom a proxy names. The e-mail counts as verified. */
export function personOfProxy(
  { name, email, groups }: ProxyUser,
  { oidcLinkByEmail }: Ctx["config"],
): Person {
  return {
    system: PROXY_NAME,
    issuer: PROXY_ISSUER,
    subject: name,
    email,
    isEmailVerified: true,
    canLinkByEmail: oidcLinkByEmail === "on",
    // An e-mail is not used as a display name.
    name: name.includes("@") ? undefined : name,
    groups,
    timeZone: undefined,
  };
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === "string" && claim.trim() !== "" ? claim.trim() : undefined;
}

/** Returns a claim that is true or false; undefined for others. Some providers send it as a text. */
function truthOf(claim: unknown): boolean | undefined {
  if (claim === true || claim === "true") return true;
  return claim === false || claim === "false" ? false : undefined;
}

/** Returns the groups of a claim: a list of names, or one name. */
function groupsOf(claim: unknown): string[] {
  const list: unknown[] = Array.isArray(claim) ? claim : [claim];
  return list.filter((group) => typeof group === "string");
}

/** Reasons for which a person is not let in: what is known of it, and what can be done. */
export const REJECTIONS = {
  disabled: {
    reason: "the user is disabled here",
    remedy: "An owner can enable the user in Settings → Users.",
  },
  no_role: {
    reason: "no group of the user has a role",
    remedy: "Add one of the groups to ALLCLEAR_ROLES, or the user to a group that has a role.",
  },
  no_email: {
    reason: "the e-mail is not known",
    remedy:
      "Let the provider send the claim email, or the proxy the header of ALLCLEAR_IDENTITY_PROXY_EMAIL_HEADER, or invite the user in Settings → Users.",
  },
  unusable_email: {
    reason: "the e-mail is no address that a user can have",
    remedy: "Correct it where it comes from, or invite the user in Settings → Users.",
  },
  unverified_email: {
    reason: "the e-mail is not verified",
    remedy:
      "Let the provider verify it. If it never says so, set ALLCLEAR_OIDC_EMAIL_VERIFIED=assume. Or invite the user in Settings → Users.",
  },
  taken_email: {
    reason: "another user has the e-mail",
    remedy:
      "The user can sign in with the password and connect in Account, or set ALLCLEAR_OIDC_LINK_BY_EMAIL=on.",
  },
  not_invited: {
    reason: "new users are not created",
    remedy: "Invite the user in Settings → Users, or set ALLCLEAR_CREATE_USERS=on.",
  },
  not_set_up: {
    reason: "Allclear is not set up yet, and no group makes the user an owner",
    remedy: "Set Allclear up with the link that the server prints at its start.",
  },
  ended_invitation: {
    reason: "the invitation was used, replaced or has expired",
    remedy: "An owner can create a new one in Settings → Users.",
  },
  other_user: {
    reason: "the identity belongs to another user",
    remedy: "That user can disconnect it in Account, or an owner in Settings → Users.",
  },
  has_identity: {
    reason: "the user is connected with another identity",
    remedy: "Disconnect that one first, in Account or in Settings → Users.",
  },
} as const;

export type Rejection = keyof typeof REJECTIONS;

/** Outcome for a person who signs in. */
export type SignInOutcome =
  | { rejection: Rejection; rule?: RoleRule | undefined }
  | {
      /** `known`: the identity has a user. `link`: it gets one who exists. `create`: it gets a new one. */
      kind: "known" | "link";
      user: UserRow;
      rule: RoleRule | undefined;
    }
  | { kind: "create"; role: Role; name: string; email: string; rule: RoleRule | undefined };

/** Circumstances of a sign-in. */
interface SignInAt {
  /** Token of the invitation with which the person came. */
  invitation?: string | undefined;
}

/** Decides if a person may sign in, and as whom. Writes nothing. */
export function findSignInOutcome(
  ctx: Ctx,
  reader: Reader,
  person: Person,
  { invitation }: SignInAt = {},
): SignInOutcome {
  const { roles } = ctx.config;
  const rule = roles && matchRole(roles, person.groups);
  const found = outcomeOfPerson(ctx, reader, person, rule, invitation);
  if ("rejection" in found) return { ...found, rule };
  if ("user" in found && !isLive(found.user)) return { rejection: "disabled", rule };
  // After the user: a person who is disabled stays out, with any group.
  return roles && !rule ? { rejection: "no_role" } : found;
}

function outcomeOfPerson(
  ctx: Ctx,
  reader: Reader,
  person: Person,
  rule: RoleRule | undefined,
  invitation: string | undefined,
): SignInOutcome {
  const { issuer, subject, email = "", isEmailVerified, canLinkByEmail } = person;
  const identity = findIdentity(reader, { issuer, subject });
  const known = identity && findUser(reader, { id: identity.userId });
  const invited = invitation === undefined ? undefined : findInvited(ctx, reader, invitation);
  const isAlone = ({ id }: UserRow) => listIdentitiesOf(reader, { userId: id }).length === 0;
  if (invitation !== undefined && !invited) return { rejection: "ended_invitation" };
  if (known) {
    if (invited && invited.id !== known.id) return { rejection: "other_user" };
    return { kind: "known", user: known, rule };
  }
  if (invited) {
    // A second identity is not connected: its groups could give the user another person's role.
    return isAlone(invited) ? { kind: "link", user: invited, rule } : { rejection: "has_identity" };
  }
  if (email === "") return { rejection: "no_email" };
  const owner = findUserRowByEmail(reader, { email: canonicalEmail(email) });
  if (owner) {
    const isLinked = canLinkByEmail && isAlone(owner) && isSameEmail(email, owner.email);
    return isLinked ? { kind: "link", user: owner, rule } : { rejection: "taken_email" };
  }
  if (!isEmailVerified) return { rejection: "unverified_email" };
  if (ctx.config.createUsers === "off") return { rejection: "not_invited" };
  const role = rule?.role ?? "viewer";
  if (role !== "owner" && !hasUsers(reader)) return { rejection: "not_set_up" };
  const created = { role, name: nameOf(person), email: canonicalEmail(email) };
  return validateNewUser(created).length > 0
    ? { rejection: "unusable_email" }
    : { kind: "create", ...created, rule };
}

/** Returns true if the e-mail of a person shows that an invitation of a user is meant for this person. */
export function isAddressee(
  { email = "", isEmailVerified }: Person,
  user: Pick<UserRow, "email">,
): boolean {
  return isEmailVerified && isSameEmail(email, user.email);
}

/** Returns the user of an invitation; undefined if the invitation does not work any more. */
function findInvited(ctx: Ctx, reader: Reader, token: string): UserRow | undefined {
  const link = findLink(reader, token, ctx.clock.now());
  return link?.purpose === "invite" ? findUser(reader, { id: link.userId ?? "" }) : undefined;
}

/** Returns a name that a user can have: that of the person, else the part of the e-mail before the @. */
function nameOf({ name = "", email = "" }: Person): string {
  const local = email.trim().split("@", 1).join();
  const candidates = [withoutUnsafeCharacters(name).trim(), withoutUnsafeCharacters(local)];
  const isUsable = (text: string) =>
    codePointLength(text) <= NAME_MAX && validateNewUser({ name: text, email: "a@b" }).length === 0;
  return candidates.find(isUsable) ?? "User";
}

/** A person who has signed in. The token is not stored. */
interface SignedInPerson {
  user: UserResource;
  sessionToken: string;
}

/**
 * Signs a person in, or returns the reason why not: finds, connects or creates the user, gives the role of the groups if
 * ALLCLEAR_ROLES is set, and starts a session of 12 hours, which replaces the browser's earlier one.
 */
export function signInPerson(
  ctx: Ctx,
  tx: Tx,
  person: Person,
  at: SignInAt & { origin: SessionOrigin; replaced?: LiveSession | undefined },
): SignedInPerson | { rejection: Rejection } {
  const outcome = findSignInOutcome(ctx, tx, person, at);
  if ("rejection" in outcome) return { rejection: outcome.rejection };
  const { origin, replaced, invitation } = at;
  const user =
    outcome.kind === "create"
      ? createUserOf(ctx, tx, person, outcome, origin)
      : giveRole(ctx, tx, person, outcome, origin);
  const actor = userActor(user, origin.ip);
  if (outcome.kind === "link") {
    const how = invitation === undefined ? "by the e-mail" : "by an invitation";
    recordConnection(ctx, tx, user, person, `${how} at a sign-in`, actor);
    // Who accepts an invitation knows of it.
    if (invitation === undefined) mailConnection(ctx, tx, user, person);
  }
  // An invitation works once, whichever way it is accepted.
  if (invitation !== undefined || outcome.kind === "link") endLinks(tx, { userId: user.id });
  const identity = storeIdentity(ctx, tx, user.id, person);
  const summary = `“${user.name}” signed in with ${person.system}`;
  audit(ctx, tx, actor, "user.sign_in", user.id, summary);
  const begun = { ...origin, identityId: identity.id };
  const sessionToken = openSession(ctx, tx, user.id, begun, replaced);
  return { user: presentUser({ ...user, lastLoginAt: ctx.clock.now() }), sessionToken };
}

function createUserOf(
  ctx: Ctx,
  tx: Tx,
  { timeZone = "", system }: Person,
  { email, name, role }: Extract<SignInOutcome, { kind: "create" }>,
  origin: SessionOrigin,
): UserRow {
  const row = addUser(ctx, tx, { email, name, role }, null, browserZone(timeZone));
  const summary = `Created the user ${describeUser(row)}, who signed in with ${system}`;
  audit(ctx, tx, userActor(row, origin.ip), "user.create", row.id, summary);
  return row;
}

/** Gives a user the role of the groups, if there is one. The last owner keeps the role. */
function giveRole(
  ctx: Ctx,
  tx: Tx,
  { system }: Person,
  { user, rule }: { user: UserRow; rule: RoleRule | undefined },
  origin: SessionOrigin,
): UserRow {
  const role = rule?.role;
  if (role === undefined || role === user.role) return user;
  if (isLastOwner(ctx, tx, user.id)) {
    const warn = () =>
      ctx.log.warn({ user: user.id }, "the last owner keeps the role, which no group gives");
    tx.afterCommit(warn);
    return user;
  }
  const after = changeUser(ctx, tx, user, { role });
  // The new role may not sign in as the earlier one did.
  endStepsOf(tx, user.id);
  const summary = `Changed the role of “${user.name}” from ${user.role} to ${role}, by the groups of ${system}`;
  audit(ctx, tx, userActor(user, origin.ip), "user.role", user.id, summary);
  return after;
}

/** Stores the identity of a user, or that it was used again. */
function storeIdentity(ctx: Ctx, tx: Tx, userId: string, person: Person): IdentityRow {
  const { issuer, subject } = person;
  const now = ctx.clock.now();
  const label = labelOf(person);
  const known = findIdentity(tx, { issuer, subject });
  const isOwn = known?.userId === userId;
  // An identity of a deleted user is replaced.
  if (known && !isOwn) deleteIdentity(tx, { id: known.id });
  if (known && isOwn) setIdentityUsed(tx, { id: known.id, label, lastUsedAt: now });
  else insertIdentity(tx, { userId, issuer, subject, label, createdAt: now, lastUsedAt: now });
  const stored = findIdentity(tx, { issuer, subject });
  if (!stored) throw new Error("the identity was not stored");
  return stored;
}

/** Limit of a stored label, in UTF-16 units. */
const LABEL_MAX = 255;

/** Returns how a person is called: by the e-mail, else the name, else the subject. */
export function labelOf({ email, name, subject }: Person): string {
  return withoutUnsafeCharacters(email ?? name ?? subject).slice(0, LABEL_MAX);
}

/** Connects an identity with a signed-in user. Returns the reason why not. Throws `not_found`. */
export function connectPerson(
  ctx: Ctx,
  tx: Tx,
  userId: string,
  person: Person,
  actor: Actor,
): { rejection: Rejection } | undefined {
  const { issuer, subject } = person;
  const user = getUserRow(tx, userId);
  if (!isLive(user)) return { rejection: "disabled" };
  const known = findIdentity(tx, { issuer, subject });
  if (known && known.userId !== userId) return { rejection: "other_user" };
  const own = listIdentitiesOf(tx, { userId });
  if (!known && own.some((one) => one.issuer === issuer)) return { rejection: "has_identity" };
  storeIdentity(ctx, tx, userId, person);
  if (known) return undefined;
  recordConnection(ctx, tx, user, person, "in the account", actor);
  mailConnection(ctx, tx, user, person);
  return undefined;
}

/** Queues the mail that tells a user of a new way to sign in. */
function mailConnection(ctx: Ctx, tx: Tx, user: UserRow, person: Person): void {
  const params = { system: person.system, label: labelOf(person), at: ctx.clock.now() };
  mailUser(ctx, tx, user, { template: "connected", params });
}

/** Records a new identity of a user. A restore knows by the version that it is newer than a backup. */
function recordConnection(
  ctx: Ctx,
  tx: Tx,
  user: UserRow,
  person: Person,
  how: string,
  actor: Actor,
): void {
  changeUser(ctx, tx, user, {});
  const summary = `Connected “${user.name}” with ${person.system} as ${labelOf(person)}, ${how}`;
  audit(ctx, tx, actor, "user.connect", user.id, summary);
}

/**
 * Removes an identity of a user, and ends the sessions that began with it. Throws `not_found`, or `conflict` if the user
 * is the last owner or removes it from the own account, and could then not sign in any more.
 */
export function disconnectIdentity(
  ctx: Ctx,
  tx: Tx,
  userId: string,
  identityId: number,
  actor: Actor,
): void {
  const user = getUserRow(tx, userId);
  const identities = listIdentities(tx, userId, ctx.config);
  const identity = identities.find(({ id }) => id === identityId);
  if (!identity) throw notFound("identity");
  const issuers = issuersInForce(ctx.config);
  const ways = identities.filter(({ issuer }) => issuers.includes(issuer));
  const hasPassword = user.passwordHash !== null && canUsePassword(ctx.config, user);
  const isOnlyWay = !hasPassword && ways.every(({ id }) => id === identityId) && ways.length > 0;
  if (isOnlyWay && (actor.id === userId || isLastOwner(ctx, tx, userId))) {
    throw conflict(
      `“${user.name}” could not sign in any more. First choose a password by a link that an owner creates.`,
    );
  }
  // Its sessions end by the foreign key.
  deleteIdentity(tx, { id: identityId });
  changeUser(ctx, tx, user, {});
  const summary = `Disconnected “${user.name}” from ${identity.system} (${identity.label})`;
  audit(ctx, tx, actor, "user.disconnect", userId, summary);
}
