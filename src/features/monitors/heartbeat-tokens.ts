import type { AppContext } from "../../context";
import { encodeBase62 } from "../../kernel/base62";
import { sha256, sha256Hex } from "../../kernel/hash";
import type { RandomBytes } from "../../kernel/random";
import { listMonitorTokens } from "./store";

/*
 * The secret with which a watched job calls: 32 random bytes in 43 base62 characters. The job has it;
 * the database keeps its SHA-256.
 */
const TOKEN_BYTES = 32;
const TOKEN_LENGTH = 43;
const SHAPE = /^[0-9A-Za-z]{43}$/;

/** A new token and what is kept of it. */
export function generateHeartbeatToken(random: RandomBytes): { token: string; hash: Buffer } {
  const token = encodeBase62(random(TOKEN_BYTES), TOKEN_LENGTH);
  return { token, hash: sha256(token) };
}

/** The hash that a token is found by, in hexadecimal; undefined for a text that can be none. */
function hashHeartbeatToken(token: string): string | undefined {
  return SHAPE.test(token) ? sha256Hex(token) : undefined;
}

/**
 * The tokens of all push monitors in memory, by their hashes: the front door looks here and never in
 * the database. There is no record of unknown tokens.
 */
export interface HeartbeatDirectory {
  /** The id of the monitor that a token belongs to; undefined where it belongs to none. */
  find(token: string): string | undefined;
}

/**
 * Reads the tokens at the first look-up, and again at the first one after a monitor has changed, here or
 * in another process. A change is never missed: while they cannot be read, looking one up throws.
 */
export function createHeartbeatDirectory(
  ctx: Pick<AppContext, "db" | "signals">,
): HeartbeatDirectory {
  let monitorIds: Map<string, string> | undefined;
  const forget = () => {
    monitorIds = undefined;
  };
  ctx.signals.monitorsChanged.on(forget);
  ctx.signals.databaseChangedElsewhere.on(forget);
  return {
    find(token) {
      const hash = hashHeartbeatToken(token);
      if (hash === undefined) return undefined;
      monitorIds ??= new Map(
        listMonitorTokens(ctx.db, {}).map((row) => [row.tokenHash?.toString("hex") ?? "", row.id]),
      );
      return monitorIds.get(hash);
    },
  };
}
