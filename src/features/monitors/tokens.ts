/*
 * Tokens of monitored jobs: generated ones, 32 random bytes in 43 base62 characters, and those of other products. The
 * database stores only their SHA-256. The gateway finds the monitor of a call by the directory at the end.
 */
import { encodeBase62, sha256, sha256Hex } from "../../base/hash";
import type { TokenKind } from "../../base/status";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import {
  deleteMonitorTokens,
  findMonitorToken,
  insertMonitorToken,
  listMonitorTokens,
  listTokensOf,
  type TokenKey,
} from "./job-store";

const TOKEN_BYTES = 32;
const TOKEN_LENGTH = 43;
const SHAPE = /^[0-9A-Za-z]{43}$/;

/**
 * Gives a push monitor a generated token, which replaces the earlier one. Returns the token: show it
 * once and never store it.
 */
export function giveToken(ctx: Ctx, tx: Tx, monitorId: string): string {
  const token = encodeBase62(ctx.random(TOKEN_BYTES), TOKEN_LENGTH);
  const kind = "native";
  deleteMonitorTokens(tx, { monitorId, kind });
  const createdAt = ctx.clock.now();
  insertMonitorToken(tx, { hash: sha256(token), monitorId, kind, createdAt });
  return token;
}

/** Token of another product with which a job calls already. */
export interface ImportedToken {
  kind: Exclude<TokenKind, "native">;
  /** Secret text whose SHA-256 finds the token. */
  value: string;
}

/** Length from which a token cannot be guessed by trying, in characters. Uptime Kuma takes shorter ones. */
const SECRET_LENGTH = 16;

/** Returns true if the secret part of a token is so short that it can be guessed. */
export function isShortToken({ kind, value }: ImportedToken): boolean {
  // The key of an endpoint is public, and so is a slug.
  const secret =
    kind === "gatus"
      ? value.slice(value.indexOf("\0") + 1)
      : kind === "healthchecks"
        ? value.replace(/^POST /, "").replace(/\/.*$/s, "")
        : value;
  return secret.length < SECRET_LENGTH;
}

/** Returns the token of a job whose calls count only by POST. */
export function ofPostOnly({ kind, value }: ImportedToken): ImportedToken {
  return { kind, value: `POST ${value}` };
}

/** Returns true if a stored token is that of a text. */
export function isSameToken({ kind, hash }: TokenKey, token: ImportedToken): boolean {
  return kind === token.kind && hash.equals(sha256(token.value));
}

/** Returns the monitor that has a token of another product; undefined if none has it. */
export function findTokenOwner(
  reader: Reader,
  { kind, value }: ImportedToken,
): { monitorId: string } | undefined {
  return findMonitorToken(reader, { kind, hash: sha256(value) });
}

/** Gives a push monitor the tokens that no monitor has yet. Returns their number. */
export function addImportedTokens(
  ctx: Ctx,
  tx: Tx,
  monitorId: string,
  tokens: readonly ImportedToken[],
): number {
  const createdAt = ctx.clock.now();
  let added = 0;
  for (const token of tokens) {
    if (findTokenOwner(tx, token)) continue;
    insertMonitorToken(tx, {
      hash: sha256(token.value),
      monitorId,
      kind: token.kind,
      createdAt,
      isShort: isShortToken(token) || null,
    });
    added += 1;
  }
  if (added > 0) ctx.signals.monitorsChanged.raise(tx);
  return added;
}

/** Number of hexadecimal digits of a token's hash that name it within its monitor. */
const KEY_LENGTH = 16;

/** A token of a push monitor, without its value. */
export interface MonitorToken {
  /** Start of its hash, which names it. */
  key: string;
  kind: TokenKind;
  createdAt: number;
  /** Unix ms, exact to a minute; null before the first use. */
  lastUsedAt: number | null;
  /** True for one of another product that can be guessed. */
  isShort: boolean;
}

/** Lists the tokens of a monitor, oldest first. */
export function tokensOf(reader: Reader, monitorId: string): MonitorToken[] {
  return listTokensOf(reader, { monitorId }).map(
    ({ hash, kind, createdAt, lastUsedAt, isShort }) => ({
      key: keyOf(hash),
      kind,
      createdAt,
      lastUsedAt,
      isShort: isShort === true,
    }),
  );
}

/** Returns the name of a token within its monitor. */
export function keyOf(hash: Buffer): string {
  return hash.toString("hex").slice(0, KEY_LENGTH);
}

/** Returns the hash that finds a token, in hexadecimal; undefined for a text of another shape. */
function hashHeartbeatToken(token: string): string | undefined {
  return SHAPE.test(token) ? sha256Hex(token) : undefined;
}

/**
 * The tokens of all push monitors by their hashes, in memory: the gateway reads this and
 * not the database, except for unknown tokens after another process has written. Unknown tokens are not cached.
 */
export interface HeartbeatDirectory {
  /** Returns the monitor of a generated token; undefined for an unknown token. */
  find(token: string): TokenOwner | undefined;
  /** Returns the monitor of a token of another product; undefined for an unknown token. */
  findImported(token: ImportedToken): TokenOwner | undefined;
}

/** Monitor of a heartbeat token. */
export interface TokenOwner {
  monitorId: string;
  token: TokenKey;
  /** Name of the token's bucket. All generated tokens of a monitor have the same one, so rotation gives no other. */
  bucket: string;
  /** True if its bodies are alerts. */
  takesAlerts: boolean;
}

/**
 * Creates the directory. It reads the tokens at the first look-up, and again at the first one after
 * monitors changed, here or in another process. An unknown token is looked up in the database if another process has
 * written since: it may be of a monitor that the process has just created. `find` throws while they cannot be read.
 */
export function createHeartbeatDirectory(ctx: Ctx): HeartbeatDirectory {
  const owners = new Map<TokenKind, OwnersOfKind>();
  const forget = () => owners.clear();
  ctx.signals.monitorsChanged.on(forget);

  function ownersOf(kind: TokenKind): OwnersOfKind {
    let read = owners.get(kind);
    if (!read) {
      const foreignVersion = ctx.db.foreignVersion();
      const byHash = new Map(
        listMonitorTokens(ctx.db, { kind }).map(({ hash, monitorId, type }) => {
          const name = hash.toString("hex");
          const bucket = kind === "native" ? monitorId : name;
          const takesAlerts = type === "alert";
          return [name, { monitorId, token: { kind, hash }, bucket, takesAlerts }];
        }),
      );
      read = { byHash, foreignVersion };
      owners.set(kind, read);
    }
    return read;
  }

  function findOwner(kind: TokenKind, hash: string): TokenOwner | undefined {
    const { byHash, foreignVersion } = ownersOf(kind);
    const owner = byHash.get(hash);
    if (owner || ctx.db.foreignVersion() === foreignVersion) return owner;
    // One row by its index, so that guessing never makes this process read all tokens.
    if (!findMonitorToken(ctx.db, { kind, hash: Buffer.from(hash, "hex") })) return undefined;
    owners.delete(kind);
    return ownersOf(kind).byHash.get(hash);
  }

  return {
    find(token) {
      const hash = hashHeartbeatToken(token);
      return hash === undefined ? undefined : findOwner("native", hash);
    },
    findImported: ({ kind, value }) => findOwner(kind, sha256Hex(value)),
  };
}

/** Monitors of the tokens of one kind by hash, and the version of other processes' commits when they were read. */
interface OwnersOfKind {
  byHash: ReadonlyMap<string, TokenOwner>;
  foreignVersion: number;
}
