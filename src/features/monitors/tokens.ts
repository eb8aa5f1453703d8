/*
 * Tokens of monitored jobs: generated ones, 32 random bytes in 43 base62 characters, and those of other products. The
 * database stores only their SHA-256. The gateway finds the monitor of a call by the directory at the end.
 */
import { sha256, sha256Hex } from "../../base/hash";
import { newToken, tokenKey } from "../../base/tokens";
import type { TokenKind } from "../../base/status";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { createTokenDirectory } from "../../db/token-directory";
import {
  deleteMonitorTokens,
  findMonitorToken,
  insertMonitorToken,
  listMonitorTokens,
  listTokensOf,
  type TokenKey,
} from "./job-store";

const SHAPE = /^[0-9A-Za-z]{43}$/;

/**
 * Gives a push monitor a generated token, which replaces the earlier one. Returns the token: show it
 * once and never store it.
 */
export function giveToken(ctx: Ctx, tx: Tx, monitorId: string): string {
  const token = newToken(ctx.random);
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
      key: tokenKey(hash),
      kind,
      createdAt,
      lastUsedAt,
      isShort: isShort === true,
    }),
  );
}

/** Returns the hash that finds a token, in hexadecimal; undefined for a text of another shape. */
function hashHeartbeatToken(token: string): string | undefined {
  return SHAPE.test(token) ? sha256Hex(token) : undefined;
}

/** Tokens of all push monitors in memory. */
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

/** Creates the directory. `find` and `findImported` throw while the tokens cannot be read. */
export function createHeartbeatDirectory(ctx: Ctx): HeartbeatDirectory {
  const byKind = new Map<TokenKind, (hash: string) => TokenOwner | undefined>();

  function findOwner(kind: TokenKind, hash: string): TokenOwner | undefined {
    let find = byKind.get(kind);
    if (!find) {
      find = createTokenDirectory(ctx.db, ctx.signals.monitorsChanged, {
        list: () => listMonitorTokens(ctx.db, { kind }),
        ownerOf({ hash: own, monitorId, type }) {
          const bucket = kind === "native" ? monitorId : own.toString("hex");
          return { monitorId, token: { kind, hash: own }, bucket, takesAlerts: type === "alert" };
        },
        isStored: (own) => findMonitorToken(ctx.db, { kind, hash: own }) !== undefined,
      });
      byKind.set(kind, find);
    }
    return find(hash);
  }

  return {
    find(token) {
      const hash = hashHeartbeatToken(token);
      return hash === undefined ? undefined : findOwner("native", hash);
    },
    findImported: ({ kind, value }) => findOwner(kind, sha256Hex(value)),
  };
}
