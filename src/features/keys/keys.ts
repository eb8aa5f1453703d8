/*
 * Changes of API keys: creation, name and limit, rotation, revocation. Each raises `keysChanged`, by which the directory of
 * keys in memory is read again. Reading is in `records.ts`.
 */
import type { Actor } from "../../base/actor";
import { conflict } from "../../base/errors";
import { FieldErrors, type Valid, validate } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { getKey, getKeyRow } from "./records";
import {
  decideExpiry,
  generateKeyValue,
  hashKeyValue,
  keyValueStart,
  type Overlap,
  OVERLAPS,
  stateOfKey,
} from "./rules";
import {
  endOldValuesOfKey,
  endValuesOfKey,
  insertKey,
  insertKeyValue,
  type KeyRow,
  updateKeyRow,
} from "./store";
import { CreateKeyBody, DEFAULT_RATE_LIMIT, type KeyResource, type UpdateKeyBody } from "./wire";

/** A key with its value: show the value once and never store it. */
export interface RevealedKey {
  key: KeyResource;
  value: string;
}

/** Creates a key. Throws `validation_failed` for an end that is not possible. */
export function createKey(
  ctx: Ctx,
  tx: Tx,
  input: Valid<CreateKeyBody>,
  actor: Actor,
): RevealedKey {
  const now = ctx.clock.now();
  const errors = new FieldErrors();
  const expiresAt = readExpiry(input, errors, now);
  errors.throwIfAny();
  const row: KeyRow = {
    id: ctx.newId("key"),
    name: input.name,
    scopes: input.scopes,
    rateLimit: input.rate_limit ?? DEFAULT_RATE_LIMIT,
    expiresAt,
    revokedAt: null,
    version: 1,
    createdAt: now,
    createdByKind: actor.kind,
    createdById: actor.id,
    createdByLabel: actor.label,
  };
  insertKey(tx, row);
  const value = addValue(ctx, tx, row.id, now);
  audit(
    ctx,
    tx,
    actor,
    "key.create",
    row.id,
    `Created the key “${row.name}”: ${row.scopes.join(", ")}`,
  );
  ctx.signals.keysChanged.raise(tx);
  return { key: getKey(tx, row.id), value };
}

/** Changes a key's name or limit. Throws `not_found`. */
export function updateKey(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<UpdateKeyBody>,
  actor: Actor,
): KeyResource {
  const before = getKeyRow(tx, id);
  const after = {
    ...before,
    name: input.name ?? before.name,
    rateLimit: input.rate_limit ?? before.rateLimit,
    version: before.version + 1,
  };
  if (after.name === before.name && after.rateLimit === before.rateLimit) return getKey(tx, id);
  updateKeyRow(tx, after);
  audit(ctx, tx, actor, "key.update", after.id, describeUpdate(before, after));
  ctx.signals.keysChanged.raise(tx);
  return getKey(tx, id);
}

/**
 * Gives a key a new value. Its other values work until the end of the overlap, or end now. Throws
 * `not_found`, or `conflict` for a key that is expired or revoked.
 */
export function rotateKey(
  ctx: Ctx,
  tx: Tx,
  id: string,
  overlap: Overlap,
  actor: Actor,
): RevealedKey {
  const row = getKeyRow(tx, id);
  const now = ctx.clock.now();
  const state = stateOfKey(row, now);
  if (state !== "live") {
    throw conflict(`The key is ${state}, so it cannot be rotated. Create another key.`);
  }
  endValuesOfKey(tx, { keyId: id, endsAt: now + OVERLAPS[overlap] });
  const value = addValue(ctx, tx, id, now);
  updateKeyRow(tx, { ...row, version: row.version + 1 });
  const ending = overlap === "now" ? "ended at once" : `ends in ${overlap}`;
  audit(
    ctx,
    tx,
    actor,
    "key.rotate",
    row.id,
    `Rotated the key “${row.name}”; its old value ${ending}`,
  );
  ctx.signals.keysChanged.raise(tx);
  return { key: getKey(tx, id), value };
}

/**
 * Ends all values of a key but the newest. Changes nothing if no older value works. Throws
 * `not_found`.
 */
export function endOldValues(ctx: Ctx, tx: Tx, id: string, actor: Actor): KeyResource {
  const row = getKeyRow(tx, id);
  const now = ctx.clock.now();
  const isLive = stateOfKey(row, now) === "live";
  if (isLive && endOldValuesOfKey(tx, { keyId: id, now }) > 0) {
    updateKeyRow(tx, { ...row, version: row.version + 1 });
    audit(ctx, tx, actor, "key.end_old_value", id, `Ended the old value of the key “${row.name}”`);
    ctx.signals.keysChanged.raise(tx);
  }
  return getKey(tx, id);
}

/** Revokes a key, which cannot be undone. A second call changes nothing. Throws `not_found`. */
export function revokeKey(ctx: Ctx, tx: Tx, id: string, actor: Actor): KeyResource {
  const row = getKeyRow(tx, id);
  if (row.revokedAt === null) {
    updateKeyRow(tx, { ...row, revokedAt: ctx.clock.now(), version: row.version + 1 });
    audit(ctx, tx, actor, "key.revoke", row.id, `Revoked the key “${row.name}”`);
    ctx.signals.keysChanged.raise(tx);
  }
  return getKey(tx, id);
}

function addValue(ctx: Ctx, tx: Tx, keyId: string, now: number): string {
  const value = generateKeyValue(ctx.random);
  insertKeyValue(tx, {
    hash: hashKeyValue(value),
    keyId,
    start: keyValueStart(value),
    createdAt: now,
  });
  return value;
}

/** Examines the fields of a new key at `now` (unix ms). Throws `validation_failed` with all invalid fields. */
export function validateNewKey(input: CreateKeyBody, now: number): Valid<CreateKeyBody> {
  return validate(CreateKeyBody, input, (valid, errors) => void readExpiry(valid, errors, now));
}

/** Returns the end of a new key in unix ms; null for none. Adds an error for an impossible end. */
function readExpiry(
  { expires }: Partial<CreateKeyBody>,
  errors: FieldErrors,
  now: number,
): number | null {
  if (typeof expires !== "string") return null;
  const expiry = decideExpiry(expires, now);
  if ("expiresAt" in expiry) return expiry.expiresAt;
  errors.add(["expires"], expiry.error);
  return null;
}

function describeUpdate(before: KeyRow, after: KeyRow): string {
  const changes: string[] = [];
  if (after.name !== before.name) changes.push(`name to “${after.name}”`);
  if (after.rateLimit !== before.rateLimit) changes.push(`limit to ${after.rateLimit} a minute`);
  return `Changed the key “${before.name}”: ${changes.join(", ")}`;
}
