import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { findSetting, putSetting } from "../settings/store";

/** Name of the setting with the key. */
const KEY = "import_key";
const KEY_BYTES = 32;

/**
 * Returns a function that gives HMAC-SHA-256 of settings, by which an import sees what changed in a source. Settings
 * hold passwords, so the key is random. It is created with the first of them.
 */
export function createSettingsMac(ctx: Ctx, tx: Tx): (settings: unknown) => Buffer {
  let key: string | undefined;
  return (settings) => {
    key ??= readKey(ctx, tx);
    return new Bun.CryptoHasher("sha256", Buffer.from(key, "base64"))
      .update(JSON.stringify(settings))
      .digest();
  };
}

function readKey(ctx: Ctx, tx: Tx): string {
  const stored = findSetting(tx, { name: KEY })?.value;
  if (typeof stored === "string") return stored;
  const value = Buffer.from(ctx.random(KEY_BYTES)).toString("base64");
  putSetting(tx, { name: KEY, value, now: ctx.clock.now() });
  return value;
}
