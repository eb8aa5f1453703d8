/*
 * Users: creation, name, role, disabling, and which mails they get. Links by which they choose a password are in
 * `invitations.ts`, their sign-ins and sessions in `sign-in.ts`.
 */
import type { Actor, Role } from "../../base/actor";
import { conflict, type FieldError, invalidFields, notFound } from "../../base/errors";
import { schemaErrors, validate } from "../../base/validation";
import { chosenZone, isTimeZone, TIME_ZONE_MAX, UNCHOSEN_ZONE } from "../../base/zones";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { endLinks } from "../auth/links";
import { endSessionsOf } from "../auth/sessions";
import { endStepsOf } from "../auth/steps";
import {
  canLoseOwnership,
  canonicalEmail,
  decideRole,
  emailError,
  isLive,
  issuersInForce,
} from "./rules";
import {
  findAnyUser,
  findUser,
  findUserRowByEmail,
  insertUser,
  listIdentitiesOf,
  listLiveKeyRows,
  listOtherLiveOwners,
  listUserRows,
  updateUserRow,
  type UserRow,
} from "./store";
import { NewUser, presentUser, UserChange, type UserResource } from "./wire";

/** Lists all users, newest first, including disabled ones. */
export function listUsers(reader: Reader): UserResource[] {
  return listUserRows(reader, {}).map(presentUser);
}

/** Returns a user by id. Throws `not_found`. */
export function getUser(reader: Reader, id: string): UserResource {
  return presentUser(getUserRow(reader, id));
}

/** Finds a user by email, case-insensitively. */
export function findUserByEmail(reader: Reader, email: string): UserResource | undefined {
  const row = findUserRowByEmail(reader, { email: canonicalEmail(email) });
  return row && presentUser(row);
}

/** Returns true if the installation has been set up. */
export function hasUsers(reader: Reader): boolean {
  return findAnyUser(reader, {}) !== undefined;
}

/**
 * Lists the keys of a user that work at `now` (unix ms). They keep working when the user is
 * disabled.
 */
export function listLiveKeysOf(
  reader: Reader,
  userId: string,
  now: number,
): { id: string; name: string }[] {
  return listLiveKeyRows(reader, { userId, now });
}

/**
 * Creates a user; without a password hash they cannot sign in until they choose a password with a
 * link. The first user is the owner and voids the set-up link. Throws `validation_failed` with all
 * invalid fields, including an email that is taken.
 */
export function createUser(
  ctx: Ctx,
  tx: Tx,
  input: NewUser & { passwordHash?: string },
  actor: Actor,
): UserResource {
  const { passwordHash = null, ...user } = input;
  const row = addUser(ctx, tx, user, passwordHash);
  audit(ctx, tx, actor, "user.create", row.id, `Created the user ${describeUser(row)}`);
  return presentUser(row);
}

/** Returns all errors of a new user's fields, apart from conflicts with other users. */
export function validateNewUser(input: NewUser): FieldError[] {
  const email = typeof input.email === "string" ? canonicalEmail(input.email) : undefined;
  const fields = schemaErrors(NewUser, email === undefined ? input : { ...input, email });
  if (email === undefined || fields.some(({ pointer }) => pointer === "#/email")) return fields;
  const detail = emailError(email);
  return detail === undefined ? fields : [{ pointer: "#/email", detail }, ...fields];
}

/** Writes a new user's row and voids the set-up link. The caller writes the audit row. */
export function addUser(
  ctx: Ctx,
  tx: Tx,
  input: NewUser,
  passwordHash: string | null,
  timeZone = UNCHOSEN_ZONE,
): UserRow {
  const fields = validateNewUser(input);
  const isWrong = (pointer: string) => fields.some((field) => field.pointer === pointer);
  if (!isWrong("#/email") && findUserByEmail(tx, input.email)) {
    fields.push({ pointer: "#/email", detail: "belongs to another user" });
  }
  const decided = isWrong("#/role") ? undefined : decideRole(input.role, !hasUsers(tx));
  if (decided && "error" in decided) {
    fields.push({ pointer: "#/role", detail: decided.error });
  }
  if (fields.length > 0 || !decided || "error" in decided) throw invalidFields(fields);
  const now = ctx.clock.now();
  const row: UserRow = {
    id: ctx.newId("usr"),
    email: canonicalEmail(input.email),
    name: input.name,
    role: decided.role,
    passwordHash,
    passwordChangedAt: passwordHash === null ? null : now,
    lastLoginAt: null,
    disabledAt: null,
    warnsOfKeys: true,
    timeZone,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  insertUser(tx, row);
  endLinks(tx, { purpose: "setup" });
  return row;
}

/** Changes a user's name. Throws `not_found`, or `validation_failed`. */
export function renameUser(ctx: Ctx, tx: Tx, id: string, name: string, actor: Actor): UserResource {
  validate(UserChange, { name });
  const before = getUserRow(tx, id);
  if (before.name === name) return presentUser(before);
  const after = changeUser(ctx, tx, before, { name });
  audit(ctx, tx, actor, "user.rename", id, `Renamed the user “${before.name}” to “${name}”`);
  return presentUser(after);
}

/**
 * Changes a user's role, from their next request on. Throws `not_found`, `validation_failed`, or
 * `conflict` for the last owner.
 */
export function setRole(ctx: Ctx, tx: Tx, id: string, role: Role, actor: Actor): UserResource {
  validate(UserChange, { role });
  const before = getUserRow(tx, id);
  if (before.role === role) return presentUser(before);
  requireOtherOwner(ctx, tx, before, "given another role", actor);
  const after = changeUser(ctx, tx, before, { role });
  // The new role may not sign in as the earlier one did.
  endStepsOf(tx, id);
  const summary = `Changed the role of “${before.name}” from ${before.role} to ${role}`;
  audit(ctx, tx, actor, "user.role", id, summary);
  return presentUser(after);
}

/**
 * Disables a user: ends their sessions and voids their links. Their keys keep working (see
 * `listLiveKeysOf`). A disabled user stays unchanged. Throws `not_found`, or `conflict` for the
 * last owner.
 */
export function disableUser(ctx: Ctx, tx: Tx, id: string, actor: Actor): UserResource {
  const before = getUserRow(tx, id);
  if (!isLive(before)) return presentUser(before);
  requireOtherOwner(ctx, tx, before, "disabled", actor);
  const after = changeUser(ctx, tx, before, { disabledAt: ctx.clock.now() });
  endSessionsOf(tx, id);
  endLinks(tx, { userId: id });
  audit(ctx, tx, actor, "user.disable", id, `Disabled the user ${describeUser(before)}`);
  return presentUser(after);
}

/** Enables a user with their earlier password. Throws `not_found`. */
export function enableUser(ctx: Ctx, tx: Tx, id: string, actor: Actor): UserResource {
  const before = getUserRow(tx, id);
  if (isLive(before)) return presentUser(before);
  const after = changeUser(ctx, tx, before, { disabledAt: null });
  audit(ctx, tx, actor, "user.enable", id, `Enabled the user ${describeUser(before)}`);
  return presentUser(after);
}

/** Returns a user's row. Throws `not_found`. */
export function getUserRow(reader: Reader, id: string): UserRow {
  const row = findUser(reader, { id });
  if (!row) throw notFound("user");
  return row;
}

/** Returns a user's row. Throws `not_found`, or `conflict` for a disabled user. */
export function getLiveUserRow(reader: Reader, id: string): UserRow {
  const row = getUserRow(reader, id);
  if (!isLive(row)) throw conflict(`“${row.name}” is disabled. Enable the user first.`);
  return row;
}

/** Writes columns of a user and returns the new row. The caller writes the audit row. */
export function changeUser(ctx: Ctx, tx: Tx, before: UserRow, change: Partial<UserRow>): UserRow {
  const after = { ...changedRow(ctx, before), ...change };
  updateUserRow(tx, after);
  return after;
}

/** Describes a user for the audit log. */
export function describeUser({ name, email, role }: UserRow): string {
  return `“${name}” (${email}), ${role}`;
}

/**
 * Returns true for the last owner, who can be neither disabled nor given another role. Throws
 * `not_found`.
 */
export function isLastOwner(ctx: Ctx, reader: Reader, id: string): boolean {
  return isLast(ctx, reader, getUserRow(reader, id));
}

function isLast({ config }: Ctx, reader: Reader, user: UserRow, actor?: Actor): boolean {
  if (user.role !== "owner" || !isLive(user)) return false;
  const issuers = issuersInForce(config);
  const identities = listIdentitiesOf(reader, { userId: user.id });
  // A command does not know which issuers are in force at the server.
  const isCommand = actor?.kind === "cli";
  const hasIdentity = identities.some(({ issuer }) => isCommand || issuers.includes(issuer));
  const others = listOtherLiveOwners(reader, {
    exceptId: user.id,
    issuers: JSON.stringify(issuers),
  });
  return !canLoseOwnership({ ...user, hasIdentity }, others);
}

function requireOtherOwner(ctx: Ctx, tx: Tx, user: UserRow, what: string, actor: Actor): void {
  if (!isLast(ctx, tx, user, actor)) return;
  throw conflict(
    `“${user.name}” is the last owner and cannot be ${what}. First make an owner of another user who can sign in.`,
  );
}

/**
 * Changes the time zone in which the dashboard shows times to a user. Throws `not_found`, or `validation_failed` for an
 * unknown one.
 */
export function setTimeZone(ctx: Ctx, tx: Tx, id: string, timeZone: string, actor: Actor): void {
  if (!isTimeZone(timeZone)) {
    const detail = "must be a time zone, such as Europe/Berlin";
    throw invalidFields([{ pointer: "#/time_zone", detail }]);
  }
  const before = getUserRow(tx, id);
  const chosen = chosenZone(timeZone);
  if (before.timeZone === chosen) return;
  changeUser(ctx, tx, before, { timeZone: chosen });
  const summary = `Changed the time zone of “${before.name}” to ${timeZone}`;
  audit(ctx, tx, actor, "user.time_zone", id, summary);
}

/** Returns the time zone that a browser names, as a chosen one; `UNCHOSEN_ZONE` if this build does not know it. */
export function browserZone(named: string): string {
  return named.length <= TIME_ZONE_MAX && isTimeZone(named) ? chosenZone(named) : UNCHOSEN_ZONE;
}

/** Returns which mails a user gets. Throws `not_found`. */
export function readPreferences(reader: Reader, id: string): { key_warnings: boolean } {
  return { key_warnings: getUserRow(reader, id).warnsOfKeys };
}

/** Lets a user get a mail before API keys expire, or not. Throws `not_found`. */
export function setKeyWarnings(ctx: Ctx, tx: Tx, id: string, isOn: boolean, actor: Actor): void {
  const before = getUserRow(tx, id);
  if (before.warnsOfKeys === isOn) return;
  changeUser(ctx, tx, before, { warnsOfKeys: isOn });
  const summary = `Turned mails about expiring keys ${isOn ? "on" : "off"} for “${before.name}”`;
  audit(ctx, tx, actor, "user.key_warnings", id, summary);
}
