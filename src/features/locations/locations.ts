/*
 * Verbs of locations from which agents check monitors, and of the tokens of their agents: 32 random bytes in 43 base62
 * characters, of which the database stores only the SHA-256. Each raises `locationsChanged`, by which the directory of
 * tokens in memory is read again. `local`, the server, is no row.
 */
import type { Actor } from "../../base/actor";
import { conflict, notFound } from "../../base/errors";
import { sha256 } from "../../base/hash";
import { newToken, tokenKey } from "../../base/tokens";
import { type ApplyMetadata, freeRef } from "../../base/ids";
import { LOCAL } from "../../base/status";
import { firstNames, toRef } from "../../base/text";
import type { Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import { changedRow, type Reader, type Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { type Overlap, OVERLAPS } from "../keys/rules";
import {
  deleteEndedTokens,
  deleteLocationToken,
  deleteLocationTokens,
  endTokensAt,
  findLocation,
  findLocationByRef,
  findLocationToken,
  insertLocation,
  insertLocationToken,
  listLocations,
  listMonitorsAt,
  listTokensOfLocation,
  type LocationRow,
  updateLocationRow,
} from "./store";
import type { LocationInput } from "./wire";

/** Maximum number of locations of an installation. */
const LOCATIONS_MAX = 100;

/** Number of monitors that a refused deletion names, and of those that it counts. */
const NAMED_MAX = 3;
const NAMED_READ = 1_000;

/** A location with the token of its agent: show the token once and never store it. */
export interface RevealedLocation {
  row: LocationRow;
  token: string;
}

/** Creates a location with a token. Throws `conflict` for a ref that is taken, and if there are too many locations. */
export function createLocation(
  ctx: Ctx,
  tx: Tx,
  input: Valid<LocationInput>,
  actor: Actor,
  metadata: ApplyMetadata = {},
): RevealedLocation {
  const row = createWithoutToken(ctx, tx, input, actor, metadata);
  const token = newToken(ctx.random);
  storeToken(ctx, tx, row.id, token);
  return { row, token };
}

/** Creates a location to which an admin or a file gives a token later. Throws as `createLocation` does. */
export function createWithoutToken(
  ctx: Ctx,
  tx: Tx,
  { name }: Valid<LocationInput>,
  actor: Actor,
  metadata: ApplyMetadata = {},
): LocationRow {
  if (listLocations(tx, {}).length >= LOCATIONS_MAX) {
    throw conflict(
      `There are ${LOCATIONS_MAX} locations, the most that there can be. Delete one first.`,
    );
  }
  const ref =
    metadata.ref ?? freeRef(toRef(name) || "location", (taken) => findRefHolder(tx, taken));
  requireFreeRef(tx, ref);
  const now = ctx.clock.now();
  const row: LocationRow = {
    id: ctx.newId("loc"),
    ref,
    name,
    managedBy: metadata.managedBy ?? null,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    contactAt: null,
    agentVersion: null,
    offlineSince: null,
    process: null,
    resultsTaken: 0,
  };
  insertLocation(tx, row);
  audit(ctx, tx, actor, "location.create", row.id, `Created the location “${name}”`);
  ctx.signals.locationsChanged.raise(tx);
  return row;
}

/** Returns what has a ref: a location, or the server, whose ref is `local`. */
function findRefHolder(reader: Reader, ref: string): object | undefined {
  return ref === LOCAL ? { ref } : findLocationByRef(reader, { ref });
}

/** Throws `conflict` if another location or the server has the ref. */
function requireFreeRef(reader: Reader, ref: string): void {
  if (ref === LOCAL) throw conflict(`The ref ${LOCAL} is that of the server.`);
  const holder = findLocationByRef(reader, { ref });
  if (holder) throw conflict(`The ref ${ref} is taken by the location “${holder.name}”.`);
}

/**
 * Changes name and ref of a location. A change to the current values changes nothing. Throws `not_found`, or
 * `conflict` for a ref that is taken.
 */
export function updateLocation(
  ctx: Ctx,
  tx: Tx,
  id: string,
  { name }: Valid<Partial<LocationInput>>,
  actor: Actor,
  metadata: Pick<ApplyMetadata, "ref"> = {},
): LocationRow {
  const before = getLocation(tx, id);
  const after = { ...before, name: name ?? before.name, ref: metadata.ref ?? before.ref };
  const changed = [
    ...(after.name === before.name ? [] : ["name"]),
    ...(after.ref === before.ref ? [] : ["ref"]),
  ];
  if (changed.length === 0) return before;
  if (after.ref !== before.ref) requireFreeRef(tx, after.ref);
  return save(ctx, tx, after, actor, {
    action: "location.update",
    summary: `Changed the location “${before.name}”: ${changed.join(", ")}`,
  });
}

/**
 * Gives a location another token: a generated one, or that of a file. The tokens before it count until the end of the
 * overlap, or end now. Throws `not_found`, or `conflict` for a token that a location has or had.
 */
export function rotateLocationToken(
  ctx: Ctx,
  tx: Tx,
  id: string,
  overlap: Overlap,
  actor: Actor,
  token = newToken(ctx.random),
): RevealedLocation {
  const before = getLocation(tx, id);
  const now = ctx.clock.now();
  deleteEndedTokens(tx, { locationId: id, now });
  const hadTokens = listTokensOfLocation(tx, { locationId: id }).length > 0;
  if (overlap === "now") deleteLocationTokens(tx, { locationId: id });
  else endTokensAt(tx, { locationId: id, endsAt: now + OVERLAPS[overlap] });
  if (findLocationToken(tx, { hash: sha256(token) })) {
    throw conflict("A location has this token already. Generate another one.");
  }
  storeToken(ctx, tx, id, token);
  const ending = overlap === "now" ? "ended at once" : `ends in ${overlap}`;
  const row = save(ctx, tx, before, actor, {
    action: "location.rotate_token",
    summary: hadTokens
      ? `Gave the location “${before.name}” another token; the one before ${ending}`
      : `Gave the location “${before.name}” a token`,
  });
  return { row, token };
}

/** Ends a token of a location, which is refused from now on. Throws `not_found`. */
export function endLocationToken(
  ctx: Ctx,
  tx: Tx,
  id: string,
  key: string,
  actor: Actor,
): LocationRow {
  const row = getLocation(tx, id);
  const token = findTokenByKey(tx, id, key);
  if (!token) throw notFound("token");
  deleteLocationToken(tx, { hash: token.hash });
  return save(ctx, tx, row, actor, {
    action: "location.end_token",
    summary: `Ended a token of the location “${row.name}”`,
  });
}

/**
 * Deletes a location, whose tokens are refused from now on. Its results stay until they are as old as others that are
 * deleted. Throws `not_found`, or `conflict` while a monitor is checked from it.
 */
export function deleteLocation(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const row = getLocation(tx, id);
  const named = listMonitorsAt(tx, { locationId: id, limit: NAMED_READ });
  if (named.length > 0) {
    const names = named.map(({ name }) => `“${name}”`);
    throw conflict(
      `The location is used by ${firstNames(names, NAMED_MAX)}. Take it out of these monitors first.`,
    );
  }
  deleteLocationTokens(tx, { locationId: id });
  const deleted = { ...row, deletedAt: ctx.clock.now() };
  save(ctx, tx, deleted, actor, {
    action: "location.delete",
    summary: `Deleted the location “${row.name}”`,
  });
}

/** Actions on locations in the audit log. */
type LocationAction =
  "location.update" | "location.rotate_token" | "location.end_token" | "location.delete";

/** Writes the next version of a location, with the audit row of the change. */
function save(
  ctx: Ctx,
  tx: Tx,
  row: LocationRow,
  actor: Actor,
  { action, summary }: { action: LocationAction; summary: string },
): LocationRow {
  const saved = changedRow(ctx, row);
  updateLocationRow(tx, saved);
  audit(ctx, tx, actor, action, row.id, summary);
  ctx.signals.locationsChanged.raise(tx);
  return saved;
}

/** Stores a token that counts until it is ended. */
function storeToken(ctx: Ctx, tx: Tx, locationId: string, token: string): void {
  const createdAt = ctx.clock.now();
  insertLocationToken(tx, { hash: sha256(token), locationId, createdAt, endsAt: null });
}

/** Returns true if a token is that of a location from now on: one that counts without an end. */
export function hasToken(reader: Reader, locationId: string, token: string): boolean {
  const found = findLocationToken(reader, { hash: sha256(token) });
  return found?.locationId === locationId && found.endsAt === null;
}

/** Returns a location. Throws `not_found`. */
export function getLocation(reader: Reader, id: string): LocationRow {
  const row = findLocation(reader, { id });
  if (!row) throw notFound("location");
  return row;
}

/** A token of a location, without its value. */
export interface LocationToken {
  /** Start of its hash, which names it. */
  key: string;
  createdAt: number;
  /** End of its overlap in unix ms; null for the newest one. */
  endsAt: number | null;
}

/** Lists the tokens of a location that count at `now` (unix ms), oldest first. */
export function tokensOfLocation(reader: Reader, id: string, now: number): LocationToken[] {
  return listTokensOfLocation(reader, { locationId: id })
    .filter(({ endsAt }) => endsAt === null || endsAt > now)
    .map(({ hash, createdAt, endsAt }) => ({ key: tokenKey(hash), createdAt, endsAt }));
}

function findTokenByKey(reader: Reader, locationId: string, key: string) {
  return listTokensOfLocation(reader, { locationId }).find(({ hash }) => tokenKey(hash) === key);
}
